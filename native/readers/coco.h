// Annotations in the JSON format of COCO.
#pragma once
#include <string>

#include "readers/coco_dataset.h"

namespace avida {

// Categories that the file does not list have the label 0.
CocoDataset read_coco(const std::string& path, const CocoOptions& options);

}  // namespace avida
