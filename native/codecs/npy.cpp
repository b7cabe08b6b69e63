#include "codecs/npy.h"

#include <charconv>
#include <cstring>

#include "codecs/codec.h"
#include "core/error.h"

namespace avida::codecs {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kMostHeaderBytes = 1 << 20;

template <class... Parts>
[[noreturn]] void damaged(const Parts&... parts) {
  refuse("damaged .npy header: ", parts...);
}

// Version 1 has a length of two bytes, the others one of four.
int64_t text_begin(std::string_view prefix) { return prefix[kMagic.size()] == 1 ? 10 : 12; }

// The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  void parse(NpyHeader& header) {
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        parse_type(header);
        descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        order = true;
      } else if (key == "shape") {
        parse_shape(header.shape);
        shape = true;
      } else {
        damaged("unknown key '", key, "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !order || !shape) damaged("expected the keys 'descr', 'fortran_order' and 'shape'");
  }

 private:
  char next() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_])) at_++;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (next() != c || c == '\0') return false;
    at_++;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) damaged("expected '", c, "' at byte ", at_, " of the dictionary");
  }
  std::string_view quoted() {
    char quote = next();
    if (quote != '\'' && quote != '"') damaged("expected a text at byte ", at_, " of the dictionary");
    size_t begin = ++at_;
    at_ = text_.find(quote, begin);
    if (at_ == std::string_view::npos) damaged("it ends within a text");
    return text_.substr(begin, at_++ - begin);
  }
  bool boolean() {
    next();
    for (std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    damaged("expected True or False at byte ", at_, " of the dictionary");
  }

  void parse_type(NpyHeader& header) {
    if (next() == '[') refuse("arrays of structures cannot be read");
    std::string_view text = quoted(), code = text;
    char order = code.empty() ? '\0' : code.front();
    if (order != '\0' && std::strchr("<>|=", order)) code.remove_prefix(1);
    static constexpr std::pair<std::string_view, DType> kTypes[] = {
        {"b1", DType::boolean}, {"?", DType::boolean}, {"u1", DType::uint8},   {"u2", DType::uint16},
        {"u4", DType::uint32},  {"u8", DType::uint64}, {"i1", DType::int8},    {"i2", DType::int16},
        {"i4", DType::int32},   {"i8", DType::int64},  {"f2", DType::float16}, {"f4", DType::float32},
        {"f8", DType::float64},
    };
    for (auto& [name, dtype] : kTypes)
      if (code == name) header.dtype = dtype;
    if (header.dtype == DType::none)
      refuse("expected an array of booleans, integers or floats, got the type '", text, "'");
    header.big_endian = order == '>' && size_of(header.dtype) > 1;
  }

  void parse_shape(Shape& shape) {
    expect('(');
    while (!accept(')')) {
      next();
      int64_t extent = 0;
      const char* begin = text_.data() + at_;
      auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) damaged("an extent is negative, too large or no number");
      at_ += static_cast<size_t>(end - begin);
      accept('L');  // written by Python 2
      if (shape.size() == kMaxDim) refuse("the array has more than ", kMaxDim, " axes");
      shape.push_back(extent);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

int64_t npy_header_bytes(std::string_view prefix, int64_t file_bytes) {
  if (!prefix.starts_with(kMagic) || prefix.size() < 10)
    refuse("expected a .npy file, got a file without its magic number: ",
           describe_unknown({reinterpret_cast<const uint8_t*>(prefix.data()), prefix.size()}, file_bytes));
  int major = static_cast<unsigned char>(prefix[6]), minor = static_cast<unsigned char>(prefix[7]);
  if (major < 1 || major > 3 || minor != 0)
    refuse("expected a .npy file of version 1.0, 2.0 or 3.0, got ", major, ".", minor);
  int64_t begin = text_begin(prefix), length = 0;
  if (std::ssize(prefix) < begin) damaged("the file ends within it");
  for (int64_t i = begin - 1; i >= 8; i--) length = length << 8 | static_cast<unsigned char>(prefix[i]);
  if (begin + length > file_bytes) damaged("it has ", begin + length, " bytes, the file ", file_bytes);
  if (length > kMostHeaderBytes) damaged("it has ", length, " bytes, more than ", kMostHeaderBytes);
  return begin + length;
}

NpyHeader parse_npy_header(std::string_view bytes, int64_t file_bytes) {
  NpyHeader header;
  header.data = npy_header_bytes(bytes, file_bytes);
  int64_t begin = text_begin(bytes);
  HeaderParser(bytes.substr(begin, header.data - begin)).parse(header);
  int64_t size = size_of(header.dtype), left = file_bytes - header.data;
  bool empty = false, fits = true;
  int64_t elements = 1;
  for (int64_t extent : header.shape) {
    empty |= extent == 0;
    fits &= extent == 0 || !__builtin_mul_overflow(elements, extent, &elements);
  }
  if (!empty && (!fits || elements > left / size))
    refuse("the header declares the shape ", header.shape, " of ", header.dtype, ", but the file has only ", left,
           " bytes of data");
  // Also if an extent is 0: the product of the others would overflow.
  if (!fits) refuse("the header declares the shape ", header.shape, ", which is too large");
  return header;
}

}  // namespace avida::codecs
