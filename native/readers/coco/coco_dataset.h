// The annotations of a data set in compact memory: images with boxes, labels and masks of the objects in them.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/parts/label_mask.h"

namespace avida {

// Which outputs are read, and in which form.
struct CocoOptions {
  bool polygons = false;        // outlines of objects,
  bool in_coordinates = false;  // indexed in coordinates (legacy) instead of vertices
  bool pixelwise = false;       // masks of labels
  bool image_ids = false;
  bool instances = false;  // a mask of each object,
  bool as_scene = false;   // as a Scene has it: polygons, or run lengths where an object of the data set has them
  bool keypoints = false;
  bool crowd_marks = false;     // whether objects are crowds
  bool ratio = false;           // coordinates relative to the size of the image
  bool ltrb = false;            // boxes as left, top, right, bottom instead of width and height
  bool remap = true;            // number categories from 1 in the order of the file
  bool crowds = true;           // keep objects that are marked as crowds
  bool skip_empty = false;      // skip images without objects
  float size_threshold = 0.1f;  // skip objects that are smaller, in pixels
  bool confine = false;         // files must be within the root

  bool outlines() const { return polygons || painted(); }
  bool painted() const { return pixelwise || instances; }
};

struct CocoDataset {
  struct Image {
    int64_t id = 0;
    int64_t name = 0;  // its offset in `names`
    int32_t name_length = 0;
    int32_t width = 0, height = 0;  // 0 if unknown
    uint32_t first = 0, count = 0;  // the range of its objects in `order`
  };
  // The mask of one object as run lengths.
  struct Runs {
    int64_t first = 0;  // the offset of its lengths in `lengths`
    uint32_t count = 0;
    int32_t height = 0, width = 0;
  };

  std::string names;
  std::vector<Image> images;    // in the order in which they are read
  std::vector<uint32_t> order;  // objects by image; images with the same id share them
  std::vector<std::array<float, 4>> boxes;
  std::vector<int32_t> labels;
  // Outlines: those of object i are first_polygon[i] to first_polygon[i + 1], and so on. Empty if not requested.
  std::vector<int64_t> first_polygon, first_vertex;
  std::vector<Vertex> vertices;
  // Per object: its index in `runs`, or -1. Empty if not requested.
  std::vector<int32_t> runs_of;
  std::vector<Runs> runs;
  std::vector<uint32_t> lengths;
  // Per object: x, y and visibility of its keypoints, which begin at first_keypoint[i]; and whether it is a crowd.
  // Empty if not requested.
  std::vector<int64_t> first_keypoint;
  std::vector<std::array<float, 3>> keypoints;
  int64_t most_keypoints = 0;
  std::vector<uint8_t> crowds;
  std::optional<std::map<int32_t, std::string>> classes;  // names of categories by label; saved data has none

  std::string_view name(const Image& image) const {
    return std::string_view(names).substr(image.name, image.name_length);
  }
  std::span<const uint32_t> objects(const Image& image) const {
    return std::span(order).subspan(image.first, image.count);
  }
  std::span<const Vertex> polygon(int64_t i) const {
    return std::span(vertices).subspan(first_vertex[i], first_vertex[i + 1] - first_vertex[i]);
  }
  std::span<const std::array<float, 3>> keypoints_of(uint32_t object) const {
    return std::span(keypoints).subspan(first_keypoint[object], first_keypoint[object + 1] - first_keypoint[object]);
  }
  std::span<const uint32_t> lengths_of(const Runs& mask) const {
    return std::span(lengths).subspan(mask.first, mask.count);
  }

  // Sorts images by id and assigns their objects: object i belongs to the image with the id `image_ids[i]`.
  void assign(const std::vector<int64_t>& image_ids);
  void remove_empty_images();
  // Throws if there are no images, or if data that the options need is missing. `path` is for messages.
  void check(const std::string& path, const CocoOptions& options) const;
  // Keeps only the images with these names, in their order, with repetitions; unknown names are ignored.
  void select(const std::vector<std::string>& names);
};

// Reads a folder of preprocessed annotations. The options determine what it must contain; filters and coordinate
// formats are those with which it was saved.
void save_coco(const CocoDataset& data, const std::string& folder, const CocoOptions& options);
CocoDataset load_coco(const std::string& folder, const CocoOptions& options);

// A box, and outlines, in the requested form.
std::array<float, 4> coco_box(std::array<float, 4> box, const CocoDataset::Image& image, const CocoOptions& options);
Vertex coco_vertex(Vertex vertex, const CocoDataset::Image& image, const CocoOptions& options);

}  // namespace avida
