// Preprocessed annotations: a folder of flat files, each with the number of elements (int32) and the elements.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "core/error.h"
#include "readers/coco/coco_dataset.h"
#include "storage/storage.h"

namespace avida {
namespace {

using Polygon =
    std::array<int32_t, 3>;  // index of the object in its image; first and last + 1 index of its vertices in the image

class FolderWriter {
 public:
  explicit FolderWriter(const std::string& folder) : folder_(folder) {}

  template <class T>
  void write(const char* name, const std::vector<T>& elements, int64_t count_per_element = 1) {
    write_bytes(name, elements.size() * count_per_element, elements.data(), elements.size() * sizeof(T));
  }
  void write_bytes(const char* name, std::optional<int64_t> count, const void* bytes, size_t size) {
    std::string path = folder_ + '/' + name;
    std::ofstream file(path, std::ios::binary);
    if (count) {
      if (*count > INT32_MAX) refuse(path, ": more than 2**31 - 1 elements cannot be saved");
      auto number = static_cast<int32_t>(*count);
      file.write(reinterpret_cast<const char*>(&number), sizeof(number));
    }
    file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    file.close();
    if (!file) refuse(path, ": cannot be written: ", std::strerror(errno));
  }

 private:
  std::string folder_;
};

class FolderReader {
 public:
  explicit FolderReader(const std::string& folder) : folder_(folder) {}

  std::string text(const char* name, const char* saved_with = nullptr) const {
    std::string path = folder_ + '/' + name;
    try {
      return storage::read_text(path);
    } catch (const Error& error) {
      fail(error.kind, path, ": ", error.message,
           saved_with ? str("; was the folder saved with ", saved_with, "?") : std::string());
    }
  }
  template <class T>
  std::vector<T> read(const char* name, const char* saved_with = nullptr, int64_t count_per_element = 1) const {
    std::string bytes = text(name, saved_with);
    int32_t count = -1;
    if (bytes.size() >= sizeof(count)) std::memcpy(&count, bytes.data(), sizeof(count));
    size_t size = count < 0 ? 0 : count / count_per_element * sizeof(T);
    if (count < 0 || count % count_per_element || bytes.size() != sizeof(count) + size)
      damaged(name, str(bytes.size(), " bytes do not agree with the count ", count, " at their beginning"));
    std::vector<T> elements(size / sizeof(T));
    if (size) std::memcpy(elements.data(), bytes.data() + sizeof(count), size);
    return elements;
  }
  // As read(), with one element for each image.
  template <class T>
  std::vector<T> per_image(const char* name, size_t images, const char* saved_with = nullptr) const {
    auto elements = read<T>(name, saved_with);
    if (elements.size() != images) damaged(name, str("expected ", images, " elements, got ", elements.size()));
    return elements;
  }
  [[noreturn]] void damaged(const char* name, const std::string& what) const { refuse(folder_, '/', name, ": ", what); }

 private:
  std::string folder_;
};

// Whether [first, first + count) lies within `size` elements.
bool is_part(int64_t first, int64_t count, size_t size) {
  auto most = static_cast<int64_t>(size);
  return first >= 0 && count >= 0 && first <= most && count <= most - first;
}

void save_polygons(const CocoDataset& data, FolderWriter& folder, const CocoOptions& options) {
  std::vector<Polygon> polygons;
  std::vector<Vertex> vertices;
  std::vector<int64_t> first_polygon, polygon_count, first_vertex, vertex_count;
  for (auto& image : data.images) {
    first_polygon.push_back(static_cast<int64_t>(polygons.size()));
    first_vertex.push_back(static_cast<int64_t>(vertices.size()));
    int32_t mask = 0;
    for (uint32_t object : data.objects(image)) {
      for (int64_t i = data.first_polygon[object]; i < data.first_polygon[object + 1]; i++) {
        int64_t begin = static_cast<int64_t>(vertices.size()) - first_vertex.back();
        for (auto& vertex : data.polygon(i)) vertices.push_back(coco_vertex(vertex, image, options));
        int64_t end = static_cast<int64_t>(vertices.size()) - first_vertex.back();
        polygons.push_back({mask, static_cast<int32_t>(begin), static_cast<int32_t>(end)});
      }
      mask++;
    }
    polygon_count.push_back(static_cast<int64_t>(polygons.size()) - first_polygon.back());
    vertex_count.push_back(static_cast<int64_t>(vertices.size()) - first_vertex.back());
  }
  folder.write("polygon_data.dat", polygons);
  folder.write("polygon_offset.dat", first_polygon);
  folder.write("polygons_count.dat", polygon_count);
  folder.write("vertices.dat", vertices);
  folder.write("vertices_offset.dat", first_vertex);
  folder.write("vertices_count.dat", vertex_count);
}

void save_runs(const CocoDataset& data, FolderWriter& folder) {
  std::string masks;
  std::vector<int64_t> first, count;
  std::vector<int32_t> owner, widths, heights;
  auto append = [&](auto number) { masks.append(reinterpret_cast<const char*>(&number), sizeof(number)); };
  for (auto& image : data.images) {
    widths.push_back(image.width);
    heights.push_back(image.height);
    first.push_back(static_cast<int64_t>(owner.size()));
    int32_t mask = 0;
    for (uint32_t object : data.objects(image)) {
      if (int32_t runs = data.runs_of[object]; runs >= 0) {
        owner.push_back(mask);
        append(int64_t{data.runs[runs].height});
        append(int64_t{data.runs[runs].width});
        append(int64_t{data.runs[runs].count});
        for (uint32_t length : data.lengths_of(data.runs[runs])) append(length);
      }
      mask++;
    }
    count.push_back(static_cast<int64_t>(owner.size()) - first.back());
  }
  folder.write("widths.dat", widths);
  folder.write("heights.dat", heights);
  folder.write("masks_offset.dat", first);
  folder.write("mask_count.dat", count);
  folder.write("masks_rles_idx.dat", owner);
  folder.write_bytes("masks_rles.dat", static_cast<int64_t>(owner.size()), masks.data(), masks.size());
}

void load_polygons(CocoDataset& data, const FolderReader& folder, const char* option) {
  auto polygons = folder.read<Polygon>("polygon_data.dat", option);
  auto vertices = folder.read<Vertex>("vertices.dat", option);
  size_t images = data.images.size();
  auto first_polygon = folder.per_image<int64_t>("polygon_offset.dat", images, option);
  auto polygon_count = folder.per_image<int64_t>("polygons_count.dat", images, option);
  auto first_vertex = folder.per_image<int64_t>("vertices_offset.dat", images, option);
  auto vertex_count = folder.per_image<int64_t>("vertices_count.dat", images, option);
  data.first_vertex = {0};
  data.first_polygon = {0};
  // Overlapping ranges would expand a small file to any size.
  int64_t last_polygon = 0, last_vertex = 0;
  for (size_t i = 0; i < images; i++) {
    auto& image = data.images[i];
    if (first_polygon[i] < last_polygon || !is_part(first_polygon[i], polygon_count[i], polygons.size()))
      folder.damaged("polygon_offset.dat", str("the polygons of image ", i,
                                               " do not follow those of the previous images in polygon_data.dat"));
    if (first_vertex[i] < last_vertex || !is_part(first_vertex[i], vertex_count[i], vertices.size()))
      folder.damaged("vertices_offset.dat",
                     str("the vertices of image ", i, " do not follow those of the previous images in vertices.dat"));
    int64_t at = first_polygon[i], end = at + polygon_count[i];
    last_polygon = end;
    last_vertex = first_vertex[i] + vertex_count[i];
    int32_t last_stop = 0;
    for (uint32_t mask = 0; mask < image.count; mask++) {
      for (; at < end && polygons[at][0] == static_cast<int32_t>(mask); at++) {
        auto [_, begin, stop] = polygons[at];
        if (begin < last_stop || stop < begin || stop > vertex_count[i])
          folder.damaged("polygon_data.dat",
                         str("polygon ", at, " has vertices that its image does not have, or others have too"));
        last_stop = stop;
        auto from = vertices.begin() + first_vertex[i];
        data.vertices.insert(data.vertices.end(), from + begin, from + stop);
        data.first_vertex.push_back(static_cast<int64_t>(data.vertices.size()));
      }
      data.first_polygon.push_back(static_cast<int64_t>(data.first_vertex.size()) - 1);
    }
    if (at != end) folder.damaged("polygon_data.dat", str("polygon ", at, " belongs to no object of its image"));
  }
}

void load_runs(CocoDataset& data, const FolderReader& folder, const char* option) {
  size_t images = data.images.size();
  auto widths = folder.per_image<int32_t>("widths.dat", images, option);
  auto heights = folder.per_image<int32_t>("heights.dat", images, option);
  auto first = folder.per_image<int64_t>("masks_offset.dat", images, option);
  auto count = folder.per_image<int64_t>("mask_count.dat", images, option);
  auto owner = folder.read<int32_t>("masks_rles_idx.dat", option);
  std::string masks = folder.text("masks_rles.dat", option);
  size_t at = sizeof(int32_t);
  for (size_t i = 0; i < owner.size(); i++) {
    int64_t head[3];  // height, width, number of lengths
    if (masks.size() < at || masks.size() - at < sizeof(head)) folder.damaged("masks_rles.dat", "is cut off");
    std::memcpy(head, masks.data() + at, sizeof(head));
    at += sizeof(head);
    if (head[2] < 0 || head[2] > static_cast<int64_t>((masks.size() - at) / sizeof(uint32_t)) || head[0] < 0 ||
        head[0] > INT32_MAX || head[1] < 0 || head[1] > INT32_MAX)
      folder.damaged("masks_rles.dat", str("mask ", i, " has an impossible size"));
    auto begin = static_cast<int64_t>(data.lengths.size());
    data.lengths.resize(begin + head[2]);
    if (head[2]) std::memcpy(data.lengths.data() + begin, masks.data() + at, head[2] * sizeof(uint32_t));
    at += head[2] * sizeof(uint32_t);
    data.runs.push_back(
        {begin, static_cast<uint32_t>(head[2]), static_cast<int32_t>(head[0]), static_cast<int32_t>(head[1])});
  }
  data.runs_of.assign(data.order.size(), -1);
  for (size_t i = 0; i < images; i++) {
    auto& image = data.images[i];
    image.width = widths[i];
    image.height = heights[i];
    if (!is_part(first[i], count[i], owner.size()))
      folder.damaged("masks_offset.dat", str("the masks of image ", i, " are not in masks_rles.dat"));
    for (int64_t k = first[i]; k < first[i] + count[i]; k++) {
      if (owner[k] < 0 || owner[k] >= static_cast<int64_t>(image.count))
        folder.damaged("masks_rles_idx.dat", str("mask ", k, " belongs to no object of its image"));
      data.runs_of[image.first + owner[k]] = static_cast<int32_t>(k);
    }
  }
}

}  // namespace

void save_coco(const CocoDataset& data, const std::string& path, const CocoOptions& options) {
  FolderWriter folder(path);
  std::vector<int32_t> offsets, counts, labels, ids;
  std::vector<std::array<float, 4>> boxes;
  std::string names;
  for (auto& image : data.images) {
    offsets.push_back(static_cast<int32_t>(labels.size()));
    counts.push_back(static_cast<int32_t>(image.count));
    ids.push_back(static_cast<int32_t>(image.id));
    for (uint32_t object : data.objects(image)) {
      boxes.push_back(coco_box(data.boxes[object], image, options));
      labels.push_back(data.labels[object]);
    }
    if (data.name(image).find('\n') != std::string_view::npos)
      refuse("a file name with a line break cannot be saved: ", data.name(image));
    names.append(data.name(image)).append("\n");
  }
  folder.write("offsets.dat", offsets);
  folder.write("boxes.dat", boxes, 4);
  folder.write("labels.dat", labels);
  folder.write("counts.dat", counts);
  folder.write_bytes("filenames.dat", std::nullopt, names.data(), names.size());
  if (options.image_ids) folder.write("original_ids.dat", ids);
  if (options.outlines()) save_polygons(data, folder, options);
  if (options.pixelwise) save_runs(data, folder);
}

CocoDataset load_coco(const std::string& path, const CocoOptions& options) {
  FolderReader folder(path);
  CocoDataset data;
  data.names = folder.text("filenames.dat");
  if (data.names.find('\0') != std::string::npos) folder.damaged("filenames.dat", "a name has a null character");
  data.labels = folder.read<int32_t>("labels.dat");
  data.boxes = folder.read<std::array<float, 4>>("boxes.dat", nullptr, 4);
  if (data.boxes.size() != data.labels.size())
    folder.damaged("boxes.dat",
                   str("expected as many boxes as labels, ", data.labels.size(), ", got ", data.boxes.size()));
  auto images = static_cast<size_t>(std::count(data.names.begin(), data.names.end(), '\n'));
  auto offsets = folder.per_image<int32_t>("offsets.dat", images);
  auto counts = folder.per_image<int32_t>("counts.dat", images);
  int64_t name = 0;
  for (size_t i = 0; i < images; i++) {
    auto end = static_cast<int64_t>(data.names.find('\n', name));
    // Objects are stored in the order of images, so that their masks can be found by counting.
    if (offsets[i] != static_cast<int64_t>(data.order.size()) || !is_part(offsets[i], counts[i], data.labels.size()))
      folder.damaged("offsets.dat", str("the objects of image ", i, " are not in labels.dat"));
    CocoDataset::Image image;
    image.name = name;
    image.name_length = static_cast<int32_t>(end - name);
    image.first = static_cast<uint32_t>(offsets[i]);
    image.count = static_cast<uint32_t>(counts[i]);
    data.images.push_back(image);
    for (int32_t k = 0; k < counts[i]; k++) data.order.push_back(static_cast<uint32_t>(data.order.size()));
    name = end + 1;
  }
  if (options.image_ids) {
    auto ids = folder.per_image<int32_t>("original_ids.dat", images, "image_ids=True");
    for (size_t i = 0; i < images; i++) data.images[i].id = ids[i];
  }
  const char* option = options.pixelwise ? "pixelwise_masks=True" : "polygon_masks=True";
  if (options.outlines()) load_polygons(data, folder, option);
  if (options.pixelwise) load_runs(data, folder, option);
  return data;
}

}  // namespace avida
