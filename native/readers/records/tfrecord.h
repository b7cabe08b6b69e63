// The source of readers.TFRecord: tf.train.Example messages. Framing: length, its checksum, data, their checksum.
#pragma once
#include <string>

#include "core/shape.h"
#include "readers/records/records.h"

namespace avida {

// One output: a feature of the examples.
struct TFFeature {
  enum class Kind { int64 = 0, string = 1, float32 = 2 };  // the numbers of avida.tfrecord

  std::string name;
  Kind kind = Kind::int64;
  bool fixed = true;  // every sample has this shape; otherwise it is preceded by an axis of any length
  Shape shape;
  // The default for missing values of a feature of fixed shape.
  int64_t default_int = 0;
  float default_float = 0;
  std::string default_string;
};

void find_tfrecords(const std::string& path, const storage::Object& file, const FoundRecord& record);

}  // namespace avida
