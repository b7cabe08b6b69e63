// Columns of MosaicML Streaming's format: how their values are encoded, and what they become.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/data.h"

namespace avida {

struct MdsColumn {
  enum class Kind {
    bytes,         // as they are: text, JSON and encoded images, too
    number,        // one, in binary
    integer_text,  // one, as text
    real_text,     // the same
    pixels,        // of Pillow: width, height, mode, elements
    array,         // of a shape that all samples share
    shaped_array,  // the shape is in front of the elements
    typed_array,   // element type and shape are
    other,         // nothing that a Batch can hold
  };

  std::string name, encoding;
  Kind kind = Kind::other;
  DType dtype = DType::uint8;
  Shape shape{};       // of an array of one shape
  int64_t bytes = -1;  // of each value; -1: they differ

  // Throws for an encoding that is not known, which may be one of the user's own.
  MdsColumn(std::string_view name, std::string_view encoding);
  // Throws where values of the encoding are nothing that a Batch can hold, and says why.
  void check_is_readable() const;
};

// What stands in front of the elements of a value.
struct MdsArray {
  static constexpr int64_t kLongest = 160;  // bytes in front, at most

  DType dtype;
  Shape shape;
  int64_t header = 0;  // bytes
  Layout layout;

  // From the beginning of a value of so many bytes, of pixels or an array. Throws unless they agree.
  MdsArray(const MdsColumn& column, std::string_view beginning, int64_t bytes);
};

}  // namespace avida
