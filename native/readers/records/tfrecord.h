// The source of readers.TFRecord: tf.train.Example messages. Framing: length, its checksum, data, their checksum.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "readers/records/records.h"
#include "readers/source.h"

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

// Without index files, the files are scanned, see RecordFiles::search.
std::shared_ptr<Source> tfrecord_source(std::vector<std::string> paths, const std::vector<std::string>& index_paths,
                                        std::vector<TFFeature> features, bool keep_damaged);

void find_tfrecords(const std::string& path, const File& file, const FoundRecord& record);

}  // namespace avida
