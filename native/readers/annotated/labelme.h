// LabelMe's JSON: shapes that were drawn by hand, with the name of the image or the image itself.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/annotated/annotations.h"

namespace avida {

struct LabelMeFile {
  // `numbers` of objects: their kind (0 polygon, 1 rectangle, 2 circle, 3 point, 4 line, 5 line strip), and their group
  // (-1: none).
  Annotations objects;
  std::string image_name;                     // relative to the folder of the file; perhaps none
  std::optional<std::vector<uint8_t>> image;  // in the file itself
};

// Throws Error, beginning with ":".
LabelMeFile parse_labelme(std::string_view text, const ClassNumbers& classes);
// Adds the names of classes.
void name_labelme_classes(std::string_view text, ClassNumbers& classes);

}  // namespace avida
