#include "readers/fits/fits_header.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/error.h"

namespace avida {
namespace {

constexpr int64_t kBlock = 2880, kCard = 80, kKey = 8;
constexpr int64_t kMostHeader = 8 << 20;  // bytes; a text file is not read to its end

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

template <class T>
bool parse(std::string_view text, T& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// The header at an offset; empty if the file has none.
std::string read_cards(FitsBytes& file, int64_t at, std::string_view first_key) {
  std::string cards;
  while (file.has(at + std::ssize(cards) + kBlock)) {
    size_t block = cards.size();
    cards.resize(block + kBlock);
    file.read_at(at + block, cards.data() + block, kBlock);
    if (!cards.starts_with(first_key)) return {};
    for (size_t i = block; i < cards.size(); i += kCard) {
      if (trimmed({cards.data() + i, kKey}) != "END") continue;
      cards.resize(i);
      return cards;
    }
    if (std::ssize(cards) >= kMostHeader) break;
  }
  if (!cards.empty()) refuse("the header at byte ", at, " has no end");
  return {};
}

int64_t whole_blocks(int64_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

// The bytes of data that follow a header.
int64_t data_bytes(const FitsHeader& header) {
  int64_t axes = header.integer("NAXIS"), elements = axes > 0, bytes = 0;
  bool fits = axes >= 0 && axes <= 999;
  for (int64_t d = 1; fits && d <= axes; d++) {
    int64_t extent = header.integer(str("NAXIS", d));
    if (d == 1 && extent == 0 && header.is_true("GROUPS"))
      continue;  // random groups, an old form, in which NAXIS1 has no meaning
    fits = extent >= 0 && !__builtin_mul_overflow(elements, extent, &elements);
  }
  int64_t extra = header.integer("PCOUNT", 0), groups = header.integer("GCOUNT", 1);
  fits = fits && extra >= 0 && groups >= 0 && !__builtin_add_overflow(elements, extra, &elements) &&
         !__builtin_mul_overflow(elements, groups, &elements) &&
         !__builtin_mul_overflow(elements, size_of(header.element_type("BITPIX")), &bytes);
  if (!fits || bytes > INT64_MAX - kBlock) refuse("the header declares more data than any file can have");
  return bytes;
}

}  // namespace

std::string_view FitsHeader::card(std::string_view key) const {
  for (size_t i = 0; i < cards_.size(); i += kCard) {
    std::string_view card(cards_.data() + i, kCard);
    if (card.starts_with(key) && card[kKey] == '=' && trimmed(card.substr(key.size(), kKey - key.size())).empty())
      return card;
  }
  return {};
}

std::string_view FitsHeader::value(std::string_view key) const {
  std::string_view card = this->card(key);
  if (card.empty()) return {};
  std::string_view value = trimmed(card.substr(kKey + 1));
  if (!value.starts_with('\'')) return trimmed(value.substr(0, value.find('/')));
  size_t quote = value.find('\'', 1);  // no text that matters here contains quotes
  return value.substr(0, quote == std::string_view::npos ? quote : quote + 1);
}

std::string FitsHeader::text(std::string_view key) const {
  std::string_view text = value(key);
  if (text.starts_with('\'')) text.remove_prefix(1);
  if (text.ends_with('\'')) text.remove_suffix(1);
  return std::string(trimmed(text));
}

int64_t FitsHeader::integer(std::string_view key, std::optional<int64_t> otherwise) const {
  if (otherwise && !has(key)) return *otherwise;
  int64_t number = 0;
  if (parse(value(key), number)) return number;
  if (!has(key)) refuse("expected ", key, " in the header, it is missing");
  refuse("expected an integer in the header: ", trimmed(card(key)));
}

int64_t FitsHeader::positive(std::string_view key, std::optional<int64_t> otherwise) const {
  if (otherwise && !has(key)) return *otherwise;
  int64_t number = 0;
  if (has(key) && (!parse(value(key), number) || number < 1 || number > INT32_MAX))
    refuse("expected a number of 1 or more in the header: ", trimmed(card(key)));
  return integer(key);
}

double FitsHeader::number(std::string_view key, double otherwise) const {
  if (!has(key)) return otherwise;
  std::string text(value(key));
  std::replace(text.begin(), text.end(), 'D', 'E');  // Fortran's exponent letter for double precision
  double number = 0;
  if (!parse(text, number) || !std::isfinite(number)) refuse("expected a number in the header: ", trimmed(card(key)));
  return number;
}

DType FitsHeader::element_type(std::string_view key) const {
  switch (integer(key)) {
    case 8:
      return DType::uint8;
    case 16:
      return DType::int16;
    case 32:
      return DType::int32;
    case 64:
      return DType::int64;
    case -32:
      return DType::float32;
    case -64:
      return DType::float64;
  }
  refuse("expected 8, 16, 32, 64, -32 or -64 in the header: ", trimmed(card(key)));
}

std::vector<FitsUnit> find_fits_units(FitsBytes& file, const std::vector<int>& hdus) {
  int last = *std::max_element(hdus.begin(), hdus.end());
  std::vector<std::optional<FitsUnit>> found(hdus.size());
  int64_t at = 0;
  for (int hdu = 1; hdu <= last; hdu++) {
    std::string cards = read_cards(file, at, hdu == 1 ? "SIMPLE  =" : "XTENSION=");
    if (cards.empty() && hdu == 1) refuse("expected a FITS file, got a file that does not begin with SIMPLE");
    if (cards.empty()) refuse("there is no HDU ", last, ", the file has ", hdu - 1);
    int64_t data = at + whole_blocks(std::ssize(cards) + kCard);
    FitsUnit unit{.header = FitsHeader(std::move(cards)), .data = data};
    unit.bytes = data_bytes(unit.header);
    if (unit.bytes > file.most() - unit.data)
      refuse("HDU ", hdu, " declares ", unit.bytes, " bytes of data, the file can hold ",
             std::max<int64_t>(file.most() - unit.data, 0));
    at = unit.data + whole_blocks(unit.bytes);
    for (size_t k = 0; k < hdus.size(); k++)
      if (hdus[k] == hdu) found[k] = unit;
  }
  std::vector<FitsUnit> units;
  for (size_t k = 0; k < hdus.size(); k++) {
    if (!found[k]) refuse("there is no HDU ", hdus[k], ", the first is 1");
    units.push_back(std::move(*found[k]));
  }
  return units;
}

}  // namespace avida
