// Pascal VOC's XML: boxes with names, and how each object is seen.
#pragma once
#include <string_view>

#include "readers/annotated/annotations.h"

namespace avida {

// `numbers` of objects: difficult, truncated, and pose (0 unspecified, 1 frontal, 2 left, 3 rear, 4 right, -1 another).
// Throws Error, which names the line, beginning with ":".
Annotations parse_voc(std::string_view text, const ClassNumbers& classes);
// Adds the names of classes.
void name_voc_classes(std::string_view text, ClassNumbers& classes);

}  // namespace avida
