#include "readers/mds/mds_columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace avida {
namespace {

using Kind = MdsColumn::Kind;

struct TypeCode {
  std::string_view name;
  uint8_t code;  // in front of arrays
  DType dtype;
};
constexpr TypeCode kTypes[] = {
    {"uint8", 8, DType::uint8},      {"int8", 9, DType::int8},       {"uint16", 16, DType::uint16},
    {"int16", 17, DType::int16},     {"uint32", 32, DType::uint32},  {"int32", 33, DType::int32},
    {"uint64", 64, DType::uint64},   {"int64", 65, DType::int64},    {"float16", 18, DType::float16},
    {"float32", 34, DType::float32}, {"float64", 66, DType::float64}};

// Modes of Pillow with a byte for each channel. That of a palette is stored without the palette.
constexpr std::pair<std::string_view, int> kModes[] = {{"L", 1},   {"LA", 2},  {"RGB", 3},  {"YCbCr", 3},
                                                       {"HSV", 3}, {"LAB", 3}, {"RGBA", 4}, {"CMYK", 4}};

DType type_named(std::string_view name, std::string_view encoding) {
  for (const TypeCode& type : kTypes)
    if (type.name == name) return type.dtype;
  refuse("expected an element type such as int32 in the encoding \"", encoding, "\", found \"", name, '"');
}

// "2,3"
Shape shape_of(std::string_view text, std::string_view encoding) {
  Shape shape;
  while (true) {
    const std::string_view extent = text.substr(0, text.find(','));
    int64_t number = 0;
    auto [end, error] = std::from_chars(extent.data(), extent.data() + extent.size(), number);
    if (error != std::errc() || end != extent.data() + extent.size() || number < 1 || shape.size() == kMaxDim)
      refuse("expected at most ", kMaxDim, " positive extents in the encoding \"", encoding, '"');
    shape.push_back(number);
    if (extent.size() == text.size()) return shape;
    text.remove_prefix(extent.size() + 1);
  }
}

// Takes the parts of a header one after another.
class Header {
 public:
  Header(std::string_view text, int64_t bytes) : text_(text), bytes_(bytes) {}

  uint64_t number(int bytes) {
    uint64_t value = 0;
    std::memcpy(&value, take(bytes).data(), static_cast<size_t>(bytes));
    return value;
  }
  std::string_view take(uint64_t bytes) {
    if (bytes > text_.size() - at_) refuse("the value of ", bytes_, " bytes ends within its shape");
    at_ += static_cast<size_t>(bytes);
    return text_.substr(at_ - static_cast<size_t>(bytes), static_cast<size_t>(bytes));
  }
  int64_t taken() const { return static_cast<int64_t>(at_); }

 private:
  const std::string_view text_;
  const int64_t bytes_;
  size_t at_ = 0;
};

}  // namespace

MdsColumn::MdsColumn(std::string_view column, std::string_view coding) : name(column), encoding(coding) {
  constexpr std::string_view kBytes[] = {"bytes",      "str",       "json", "jpeg",
                                         "jpeg_array", "jpegarray", "png",  "str_decimal"};
  constexpr std::string_view kOther[] = {"pkl", "list[jpeg]", "list[pil]", "list[png]"};
  if (std::ranges::find(kBytes, coding) != std::end(kBytes)) {
    kind = Kind::bytes;
  } else if (coding == "str_int" || coding == "str_float") {
    kind = coding == "str_int" ? Kind::integer_text : Kind::real_text;
    dtype = coding == "str_int" ? DType::int64 : DType::float64;
  } else if (coding == "pil") {
    kind = Kind::pixels;
  } else if (coding == "ndarray") {
    kind = Kind::typed_array;
  } else if (coding.starts_with("ndarray:")) {
    coding.remove_prefix(coding.find(':') + 1);
    const size_t end = coding.find(':');
    dtype = type_named(coding.substr(0, end), encoding);
    kind = Kind::shaped_array;
    if (end != coding.npos) {
      kind = Kind::array;
      shape = shape_of(coding.substr(end + 1), encoding);
      bytes = checked_volume(shape) * size_of(dtype);
    }
  } else if (std::ranges::find(kOther, coding) == std::end(kOther)) {
    kind = Kind::number;
    dtype = coding == "int" ? DType::int64 : type_named(coding, encoding);
    bytes = size_of(dtype);
  }
}

void MdsColumn::check_is_readable() const {
  if (kind != Kind::other) return;
  if (encoding == "pkl")
    refuse("column \"", name,
           "\" holds pickles, and reading a pickle runs what its writer wants; name the other columns "
           "in columns=");
  refuse("column \"", name, "\" is encoded as ", encoding,
         ", and a sample here has one value; name the other columns in "
         "columns=");
}

MdsArray::MdsArray(const MdsColumn& column, std::string_view beginning, int64_t bytes) : dtype(column.dtype) {
  Header from(beginning, bytes);
  if (column.kind == Kind::pixels) {
    const auto width = static_cast<int64_t>(from.number(4)), height = static_cast<int64_t>(from.number(4));
    const std::string_view mode = from.take(from.number(4));
    const auto* known = std::ranges::find(kModes, mode, &std::pair<std::string_view, int>::first);
    if (known == std::end(kModes))
      refuse("expected an image of Pillow with a byte for each channel, such as RGB, found the mode \"", mode, '"');
    shape = {height, width, known->second};
    layout = "HWC";
  } else {
    if (column.kind == Kind::typed_array) {
      const uint64_t code = from.number(1);
      const auto* type = std::ranges::find(kTypes, code, &TypeCode::code);
      if (type == std::end(kTypes)) refuse("expected the number of an element type, found ", code);
      dtype = type->dtype;
    }
    const uint64_t rank = from.number(1);
    if (rank >> 2 > kMaxDim) refuse("expected at most ", kMaxDim, " axes, found ", rank >> 2);
    for (uint64_t axis = 0; axis < rank >> 2; axis++) {
      const uint64_t extent = from.number(1 << (rank & 3));
      if (extent > INT64_MAX) refuse("an array of the extent ", extent, " exceeds any memory");
      shape.push_back(static_cast<int64_t>(extent));
    }
  }
  header = from.taken();
  if (checked_volume(shape) * size_of(dtype) != bytes - header)
    refuse("expected the elements of ", dtype, " of the shape ", shape, ", found ", bytes - header, " bytes");
}

}  // namespace avida
