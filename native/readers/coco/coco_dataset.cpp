#include "readers/coco/coco_dataset.h"

#include <algorithm>
#include <unordered_map>

#include "core/error.h"

namespace avida {

void CocoDataset::assign(const std::vector<int64_t>& image_ids) {
  std::stable_sort(images.begin(), images.end(), [](auto& a, auto& b) { return a.id < b.id; });
  auto first_with = [&](int64_t id) {
    return std::lower_bound(images.begin(), images.end(), id, [](auto& image, int64_t id) { return image.id < id; });
  };
  // Objects are counted at the first image of each id, then stored in order (a counting sort).
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> image_of(image_ids.size(), kNone);
  for (size_t i = 0; i < image_ids.size(); i++) {
    if (i > 0 && image_ids[i] == image_ids[i - 1]) {
      image_of[i] = image_of[i - 1];
    } else {
      auto found = first_with(image_ids[i]);
      if (found != images.end() && found->id == image_ids[i])
        image_of[i] = static_cast<uint32_t>(found - images.begin());
    }
    if (image_of[i] != kNone) images[image_of[i]].count++;
  }
  uint32_t total = 0;
  for (size_t i = 0; i < images.size(); i++) {
    Image& image = images[i];
    if (i > 0 && image.id == images[i - 1].id) {
      image.first = images[i - 1].first;
      image.count = images[i - 1].count;
    } else {
      image.first = total;
      total += image.count;
    }
  }
  order.resize(total);
  std::vector<uint32_t> next(images.size());
  for (size_t i = 0; i < images.size(); i++) next[i] = images[i].first;
  for (size_t i = 0; i < image_of.size(); i++)
    if (image_of[i] != kNone) order[next[image_of[i]]++] = static_cast<uint32_t>(i);
}

void CocoDataset::remove_empty_images() {
  std::erase_if(images, [](auto& image) { return image.count == 0; });
}

void CocoDataset::select(const std::vector<std::string>& wanted) {
  std::unordered_map<std::string_view, size_t> by_name;
  for (size_t i = 0; i < images.size(); i++) by_name[name(images[i])] = i;
  std::vector<Image> selected;
  for (auto& name : wanted)
    if (auto found = by_name.find(name); found != by_name.end()) selected.push_back(images[found->second]);
  images = std::move(selected);
}

void CocoDataset::check(const std::string& path, const CocoOptions& options) const {
  if (images.empty()) refuse(path, ": expected at least one image to read, found none");
  for (auto& image : images) {
    if (options.image_ids && image.id != static_cast<int32_t>(image.id))
      refuse(path, ": image_ids are int32, but an image has the id ", image.id, ": ", name(image));
    if ((options.ratio || options.painted()) && (image.width <= 0 || image.height <= 0))
      refuse(path, ": ", options.ratio ? "ratio" : "pixelwise_masks",
             " needs a width and a height above 0 for every image, got ", image.width, " x ", image.height, " for ",
             name(image));
  }
}

std::array<float, 4> coco_box(std::array<float, 4> box, const CocoDataset::Image& image, const CocoOptions& options) {
  if (options.ltrb) {
    box[2] += box[0];
    box[3] += box[1];
  }
  if (options.ratio) {
    auto width = static_cast<float>(image.width), height = static_cast<float>(image.height);
    box = {box[0] / width, box[1] / height, box[2] / width, box[3] / height};
  }
  return box;
}

Vertex coco_vertex(Vertex vertex, const CocoDataset::Image& image, const CocoOptions& options) {
  if (!options.ratio) return vertex;
  return {vertex[0] / static_cast<float>(image.width), vertex[1] / static_cast<float>(image.height)};
}

}  // namespace avida
