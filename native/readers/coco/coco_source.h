// Images of a data set with what is known of the objects in them.
#pragma once
#include <memory>
#include <string>

#include "readers/coco_dataset.h"
#include "readers/source.h"

namespace avida {

// Outputs: the bytes of the file, boxes, labels; then polygons and vertices, or a mask; then the image's id.
std::shared_ptr<Source> coco_source(CocoDataset data, const CocoOptions& options, const std::string& root,
                                    bool read_ahead);

}  // namespace avida
