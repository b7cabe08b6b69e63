// The source of readers.COCO: images, and boxes, labels and masks of the objects in them.
#pragma once
#include <memory>
#include <string>

#include "readers/coco/coco_dataset.h"
#include "readers/source.h"

namespace avida {

// Outputs: the bytes of the file, boxes, labels; then polygons and vertices, or a mask; then the image's id.
// `origin` is the source of the file names, for messages.
std::shared_ptr<Source> coco_source(CocoDataset data, const CocoOptions& options, const std::string& root,
                                    const std::string& origin, bool read_ahead);

}  // namespace avida
