// The sources of readers.Caffe and readers.Caffe2: images and labels in LMDBs.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "readers/source.h"

namespace avida {

// Outputs: the image (the bytes of a file, or pixels), and its label; each if available.
std::shared_ptr<Source> caffe_source(const std::vector<std::string>& paths, bool images, bool labels);

struct Caffe2Options {
  bool images = true;
  enum Labels { single, sparse, dense, weighted_sparse, none } labels = single;
  int64_t classes = 1;  // the length of a vector from sparse labels
  int additional = 0;   // the number of additional tensors
  bool boxes = false;
};

// Outputs: the image, the labels, the additional tensors and the box, each if requested.
std::shared_ptr<Source> caffe2_source(const std::vector<std::string>& paths, const Caffe2Options& options);

}  // namespace avida
