#include "readers/fits_header.h"

#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace avida {
namespace {

constexpr int64_t kBlock = 2880, kCard = 80;

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// "NAXIS1  =                   64 / comment" is 64.
std::optional<int64_t> integer(std::string_view card) {
  std::string_view value =
      trimmed(card.substr(9, card.find('/') == std::string_view::npos ? kCard : card.find('/') - 9));
  int64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return number;
}

// The extents of the image and its tiles; for the Rice algorithm also the pixels of a block and the bytes of a pixel.
void check_tiles(std::string_view card, std::string_view key, bool rice) {
  if (!key.starts_with("ZTILE") && !key.starts_with("ZNAXIS") && !(rice && (key == "ZVAL1" || key == "ZVAL2"))) return;
  auto number = integer(card);
  if (!number || *number < 1 || *number > INT32_MAX)
    fail(ErrorKind::runtime, "expected a number of 1 or more in the header: ", trimmed(card));
}

// The bytes of data that follow a header.
int64_t data_bytes(const std::map<std::string, int64_t, std::less<>>& numbers) {
  auto number = [&](const std::string& key, int64_t otherwise) {
    auto found = numbers.find(key);
    return found == numbers.end() ? otherwise : found->second;
  };
  int64_t axes = number("NAXIS", 0), elements = axes > 0 ? 1 : 0, bytes = 0;
  bool fits = axes <= 999;
  for (int64_t d = 1; fits && d <= axes; d++)
    fits = !__builtin_mul_overflow(elements, number(str("NAXIS", d), 0), &elements);
  fits = fits && !__builtin_add_overflow(elements, number("PCOUNT", 0), &elements) &&
         !__builtin_mul_overflow(elements, number("GCOUNT", 1), &elements) &&
         !__builtin_mul_overflow(elements, std::abs(number("BITPIX", 8)) / 8, &bytes) && bytes >= 0;
  if (!fits) fail(ErrorKind::runtime, "the header speaks of more data than any file can hold");
  return bytes;
}

}  // namespace

void check_fits_headers(const File& file, int hdus) {
  std::string block(kBlock, ' ');
  int64_t at = 0;
  for (int hdu = 1; hdu <= hdus; hdu++) {
    std::map<std::string, int64_t, std::less<>> numbers;
    bool rice = false;
    for (bool end = false; !end; at += kBlock) {
      if (at > file.size() - kBlock) return;  // cfitsio says what is missing
      file.read_at(at, block.data(), kBlock);
      for (int64_t i = 0; i < kBlock && !end; i += kCard) {
        std::string_view card(block.data() + i, kCard), key = trimmed(card.substr(0, 8));
        end = key == "END";
        if (card[8] != '=') continue;
        rice |= key == "ZCMPTYPE" && card.find("RICE") != std::string_view::npos;
        check_tiles(card, key, rice);
        if (auto number = integer(card)) numbers.emplace(key, *number);
      }
    }
    int64_t bytes = data_bytes(numbers);
    if (bytes > file.size()) return;
    at += (bytes + kBlock - 1) / kBlock * kBlock;
  }
}

}  // namespace avida
