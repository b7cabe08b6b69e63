// Images with boxes, labels and masks of the objects in them, in little memory.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/coco_mask.h"

namespace avida {

// What is read, in which form.
struct CocoOptions {
  bool polygons = false;        // outlines of objects,
  bool in_coordinates = false;  // counted in coordinates as of old, and not in vertices
  bool pixelwise = false;       // masks of labels
  bool image_ids = false;
  bool ratio = false;           // coordinates relative to the size of the image
  bool ltrb = false;            // boxes have a right and bottom edge in place of width and height
  bool remap = true;            // number categories from 1 in the order of the file
  bool crowds = true;           // keep objects that are marked so
  bool skip_empty = false;      // leave out images without objects
  float size_threshold = 0.1f;  // leave out objects that are smaller, in pixels

  bool outlines() const { return polygons || pixelwise; }
};

struct CocoDataset {
  struct Image {
    int64_t id = 0;
    int64_t name = 0;  // where it starts in `names`
    int32_t name_length = 0;
    int32_t width = 0, height = 0;  // 0: not known
    uint32_t first = 0, count = 0;  // of its objects in `order`
  };
  // A mask as run lengths, of one object.
  struct Runs {
    int64_t first = 0;  // of its lengths in `lengths`
    uint32_t count = 0;
    int32_t height = 0, width = 0;
  };

  std::string names;
  std::vector<Image> images;    // in the order in which they are read
  std::vector<uint32_t> order;  // objects by image; images with the same id share them
  std::vector<std::array<float, 4>> boxes;
  std::vector<int32_t> labels;
  // Outlines: those of object i are first_polygon[i] to first_polygon[i + 1], and so on. Empty when not asked for.
  std::vector<int64_t> first_polygon, first_vertex;
  std::vector<Vertex> vertices;
  // Per object: its place in `runs`, or -1. Empty when not asked for.
  std::vector<int32_t> runs_of;
  std::vector<Runs> runs;
  std::vector<uint32_t> lengths;

  std::string_view name(const Image& image) const {
    return std::string_view(names).substr(image.name, image.name_length);
  }
  std::span<const uint32_t> objects(const Image& image) const {
    return std::span(order).subspan(image.first, image.count);
  }
  std::span<const Vertex> polygon(int64_t i) const {
    return std::span(vertices).subspan(first_vertex[i], first_vertex[i + 1] - first_vertex[i]);
  }
  std::span<const uint32_t> lengths_of(const Runs& mask) const {
    return std::span(lengths).subspan(mask.first, mask.count);
  }

  // Sorts images by id and gives them their objects, of which object i is in the image with the id `image_ids[i]`.
  void assign(const std::vector<int64_t>& image_ids);
  void remove_empty_images();
  // Fails when there is nothing to read, or something is missing that the options need. `path` is for messages.
  void check(const std::string& path, const CocoOptions& options) const;
  // Leaves only the images of these names, in their order, as often as they are named; names that no image has are left
  // out.
  void select(const std::vector<std::string>& names);
};

// A folder with what was made of the annotations before. The options say what it must hold; filters and forms of
// coordinates are those it was saved with.
void save_coco(const CocoDataset& data, const std::string& folder, const CocoOptions& options);
CocoDataset load_coco(const std::string& folder, const CocoOptions& options);

// A box, and outlines, in the form that is asked for.
std::array<float, 4> coco_box(std::array<float, 4> box, const CocoDataset::Image& image, const CocoOptions& options);
Vertex coco_vertex(Vertex vertex, const CocoDataset::Image& image, const CocoOptions& options);

}  // namespace avida
