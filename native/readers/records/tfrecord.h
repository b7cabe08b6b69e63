// Files of tf.train.Example messages in TFRecord framing: length, checksum of the length, data, checksum of the data.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "readers/records.h"
#include "readers/source.h"

namespace avida {

// One output: a feature of the examples.
struct TFFeature {
  enum class Kind { int64 = 0, string = 1, float32 = 2 };  // the numbers of avida.tfrecord

  std::string name;
  Kind kind = Kind::int64;
  bool fixed = true;  // every sample has this shape; otherwise an axis of any length stands before it
  Shape shape;
  // What a feature of fixed shape has in place of values that are not there.
  int64_t default_int = 0;
  float default_float = 0;
  std::string default_string;
};

// Without index files, the files are searched for their records, see RecordFiles::search.
std::shared_ptr<Source> tfrecord_source(std::vector<std::string> paths, const std::vector<std::string>& index_paths,
                                        std::vector<TFFeature> features, bool keep_damaged);

void find_tfrecords(const std::string& path, const File& file, const FoundRecord& record);

}  // namespace avida
