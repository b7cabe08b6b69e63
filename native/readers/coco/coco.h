// Parses annotations in the JSON format of COCO.
#pragma once
#include <string>

#include "readers/coco/coco_dataset.h"
#include "runtime/executor.h"

namespace avida {

// Categories that the file does not list have the label 0. `interrupt` is called regularly, and may throw.
CocoDataset read_coco(const std::string& path, const CocoOptions& options, const Interrupt& interrupt = {});

}  // namespace avida
