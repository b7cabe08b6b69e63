// Which images a folder has, and which files say what is in them: YOLO, Pascal VOC or LabelMe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "arguments/choices.h"
#include "readers/declare.h"
#include "readers/file/file_list.h"

namespace avida {

enum class AnnotationFormat { yolo, yolo_segments, yolo_rotated, yolo_keypoints, voc, labelme };
AVIDA_CHOICES(AnnotationFormat, "yolo", "yolo-segments", "yolo-rotated", "yolo-keypoints", "voc", "labelme")

struct AnnotatedArgs : ReaderArgs {
  std::optional<std::string> file_root, split;
  std::optional<AnnotationFormat> format;
  std::optional<std::vector<std::string>> classes;
  std::optional<std::vector<int64_t>> keypoint_shape;
  bool confine = false, keypoints = false, mask = false, masks = false;
  // What YOLO's file of settings says, as Python has read it: where images are, folders or lists of files, and how
  // classes are called.
  std::optional<std::vector<std::string>> image_folders, class_names;

  std::string root() const { return file_root.value_or(""); }
};

struct AnnotatedFiles {
  AnnotationFormat format = AnnotationFormat::yolo;
  bool has_objects = true;  // else there are label maps alone
  // One of each for every sample, in their order. A label of -1 says that there is none: images without objects, and
  // images that LabelMe's files name or have in them.
  FileList images, annotations;
  std::vector<std::string> class_images, object_images;  // of Pascal VOC, for label maps and masks of objects

  bool has_annotation(int64_t i) const { return annotations.label(i) >= 0; }
  bool has_image(int64_t i) const { return images.label(i) >= 0; }
};

AnnotatedFiles find_annotated(const AnnotatedArgs& args, const Opening& opening);

constexpr bool is_yolo(AnnotationFormat format) { return format < AnnotationFormat::voc; }

}  // namespace avida
