#include "readers/coco/coco_source.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "readers/file/file.h"

namespace avida {
namespace {

enum class Output {
  file,
  boxes,
  labels,
  polygons,
  vertices,
  mask,
  image_id,
  instances,
  instance_polygons,
  instance_runs,
  keypoints,
  crowds
};

Meta meta_of(Output output) {
  Meta meta;
  bool rows = output == Output::boxes || output == Output::vertices;
  bool bytes = output == Output::file || output == Output::instances;
  bool places = output == Output::keypoints || output == Output::instance_polygons;
  bool whole = output == Output::mask || output == Output::instances || places;
  bool runs = output == Output::instance_runs;
  meta.dtype = bytes ? DType::uint8 : rows || places ? DType::float32 : runs ? DType::uint32 : DType::int32;
  meta.ndim = whole ? 3 : rows || runs || output == Output::polygons ? 2 : 1;
  if (output == Output::mask) meta.layout = Layout("HWC");
  return meta;
}

class CocoSource : public Source {
 public:
  CocoSource(CocoDataset data, const CocoOptions& options, const std::string& root, const std::string& origin,
             bool read_ahead)
      : data_(std::move(data)), options_(options) {
    kinds_ = {Output::file, Output::boxes, Output::labels};
    if (options.polygons) kinds_.insert(kinds_.end(), {Output::polygons, Output::vertices});
    if (options.pixelwise) kinds_.push_back(Output::mask);
    if (options.image_ids) kinds_.push_back(Output::image_id);
    if (options.instances) kinds_.push_back(form_of_instances());
    if (options.keypoints) kinds_.push_back(Output::keypoints);
    if (options.crowd_marks) kinds_.push_back(Output::crowds);
    for (Output kind : kinds_) outputs_.push_back(meta_of(kind));

    FileList files;
    int folder = files.add_folder(root);
    for (auto& image : data_.images) files.add(folder, data_.name(image), 0);
    data_.names = {};
    if (options.confine) files.confine(origin);
    files_ = file_source(std::make_shared<const FileList>(std::move(files)), read_ahead);
  }

  const char* name() const override { return "readers.COCO"; }
  int64_t size() const override { return static_cast<int64_t>(data_.images.size()); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override { return files_->describe(index); }
  std::optional<Classes> classes() const override { return data_.classes; }
  bool is_local() const override { return files_->is_local(); }
  void name_needs(int64_t index, storage::Needs& needs) const override { files_->name_needs(index, needs); }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override;

 private:
  friend class CocoSample;

  // One form for all, so that it does not depend on which images are in a batch.
  Output form_of_instances() const {
    if (!options_.as_scene) return Output::instances;
    for (auto& image : data_.images)
      for (uint32_t object : data_.objects(image))
        if (data_.runs_of[object] >= 0) return Output::instance_runs;
    return Output::instance_polygons;
  }

  CocoDataset data_;
  CocoOptions options_;
  std::vector<Output> kinds_;
  std::vector<Meta> outputs_;
  std::shared_ptr<Source> files_;
};

class CocoSample : public Source::Sample {
 public:
  CocoSample(const CocoSource& source, int64_t index, const storage::Fetched& fetched)
      : source_(source), data_(source.data_), image_(data_.images[index]), file_(source.files_->open(index, fetched)) {
    if (source.options_.polygons)
      for (uint32_t object : data_.objects(image_)) {
        int64_t first = data_.first_polygon[object], end = data_.first_polygon[object + 1];
        polygons_ += end - first;
        vertices_ += data_.first_vertex[end] - data_.first_vertex[first];
      }
    if (source.options_.painted()) check_masks();
    for (Output kind : source.kinds_) {
      if (kind == Output::instance_polygons) measure_polygons();
      if (kind == Output::instance_runs) make_runs();
    }
  }

  Shape shape(int output) const override {
    switch (source_.kinds_[output]) {
      case Output::file:
        return file_->shape(0);
      case Output::boxes:
        return {image_.count, 4};
      case Output::labels:
        return {image_.count};
      case Output::polygons:
        return {polygons_, 3};
      case Output::vertices:
        return {vertices_, 2};
      case Output::mask:
        return {image_.height, image_.width, 1};
      case Output::image_id:
        return {1};
      case Output::instances:
        return {image_.count, image_.height, image_.width};
      case Output::instance_polygons:
        return {image_.count, longest_, 2};
      case Output::instance_runs:
        return {image_.count, longest_};
      case Output::keypoints:
        return {image_.count, data_.most_keypoints, 3};
      case Output::crowds:
        return {image_.count};
    }
    return {};
  }

  void read(int output, void* to) override {
    switch (source_.kinds_[output]) {
      case Output::file:
        return file_->read(0, to);
      case Output::boxes:
        return read_boxes(static_cast<float*>(to));
      case Output::labels:
        for (uint32_t object : data_.objects(image_)) {
          std::memcpy(to, &data_.labels[object], sizeof(int32_t));
          to = static_cast<int32_t*>(to) + 1;
        }
        return;
      case Output::polygons:
        return read_polygons(static_cast<int32_t*>(to));
      case Output::vertices:
        return read_vertices(static_cast<float*>(to));
      case Output::mask:
        return read_mask(static_cast<int32_t*>(to));
      case Output::image_id:
        *static_cast<int32_t*>(to) = static_cast<int32_t>(image_.id);
        return;
      case Output::instances:
        return read_instances(static_cast<uint8_t*>(to));
      case Output::instance_polygons:
        return read_instance_polygons(static_cast<float*>(to));
      case Output::instance_runs:
        return read_instance_runs(static_cast<uint32_t*>(to));
      case Output::keypoints:
        return read_keypoints(static_cast<float*>(to));
      case Output::crowds:
        for (uint32_t object : data_.objects(image_)) {
          const int32_t crowd = data_.crowds[object];
          std::memcpy(to, &crowd, sizeof(crowd));
          to = static_cast<int32_t*>(to) + 1;
        }
        return;
    }
  }

 private:
  void read_boxes(float* to) const {
    for (uint32_t object : data_.objects(image_)) {
      auto box = coco_box(data_.boxes[object], image_, source_.options_);
      to = std::copy(box.begin(), box.end(), to);
    }
  }

  void read_polygons(int32_t* to) const {
    int32_t scale = source_.options_.in_coordinates ? 2 : 1, mask = 0, at = 0;
    for (uint32_t object : data_.objects(image_)) {
      for (int64_t i = data_.first_polygon[object]; i < data_.first_polygon[object + 1]; i++) {
        *to++ = mask;
        *to++ = at * scale;
        at += static_cast<int32_t>(data_.polygon(i).size());
        *to++ = at * scale;
      }
      mask++;
    }
  }

  void read_vertices(float* to) const {
    for (uint32_t object : data_.objects(image_))
      for (int64_t i = data_.first_polygon[object]; i < data_.first_polygon[object + 1]; i++)
        for (auto& corner : data_.polygon(i)) {
          auto vertex = coco_vertex(corner, image_, source_.options_);
          to = std::copy(vertex.begin(), vertex.end(), to);
        }
  }

  void check_masks() const {
    int64_t pixels = int64_t{image_.height} * image_.width;
    constexpr int64_t kMost = int64_t{1} << 30;  // a corrupt size must not exhaust memory
    if (pixels > kMost) refuse("expected at most ", kMost, " pixels for a mask, got ", pixels);
    if (source_.options_.instances && !source_.options_.as_scene && image_.count > kMost / pixels)
      refuse("expected at most ", kMost, " bytes for the masks of an image, got ", image_.count, " masks of ",
             image_.height, " x ", image_.width);
    for (uint32_t object : data_.objects(image_)) {
      int32_t number = data_.runs_of[object];
      if (number < 0) continue;
      auto& runs = data_.runs[number];
      if (runs.height != image_.height || runs.width != image_.width)
        refuse("expected a mask of the image's size, ", image_.height, " x ", image_.width, ", got ", runs.height,
               " x ", runs.width);
      int64_t sum = 0;
      for (uint32_t length : data_.lengths_of(runs)) sum += length;
      if (sum > pixels) refuse("expected runs of ", pixels, " pixels for a mask, got ", sum);
    }
  }

  // If objects overlap, the largest label wins.
  void read_mask(int32_t* to) const {
    std::fill_n(to, int64_t{image_.height} * image_.width, 0);
    auto span = data_.objects(image_);
    std::vector<uint32_t> objects(span.begin(), span.end());
    std::stable_sort(objects.begin(), objects.end(),
                     [&](uint32_t a, uint32_t b) { return data_.labels[a] < data_.labels[b]; });
    LabelMask mask(to, image_.height, image_.width);
    for (uint32_t object : objects) paint(mask, object, data_.labels[object]);
  }
  void read_instances(uint8_t* to) const {
    const int64_t pixels = int64_t{image_.height} * image_.width;
    std::vector<int32_t> painted(static_cast<size_t>(pixels));
    for (uint32_t object : data_.objects(image_)) {
      std::ranges::fill(painted, 0);
      LabelMask mask(painted.data(), image_.height, image_.width);
      paint(mask, object, 1);
      to = std::ranges::copy(painted, to).out;
    }
  }
  // Corners of all polygons of an object, with NaN between them; NaN fills the row.
  void measure_polygons() {
    for (uint32_t object : data_.objects(image_)) {
      const int64_t first = data_.first_polygon[object], end = data_.first_polygon[object + 1];
      for (int64_t i = data_.first_vertex[first]; i < data_.first_vertex[end]; i++)
        if (!std::isfinite(data_.vertices[i][0]) || !std::isfinite(data_.vertices[i][1]))
          refuse("expected finite corners of polygons");
      longest_ = std::max(longest_, data_.first_vertex[end] - data_.first_vertex[first] + end - first - 1);
    }
    check_longest(2 * sizeof(float));
  }
  void read_instance_polygons(float* to) const {
    std::fill_n(to, image_.count * longest_ * 2, NAN);
    for (uint32_t object : data_.objects(image_)) {
      float* at = to;
      for (int64_t i = data_.first_polygon[object]; i < data_.first_polygon[object + 1]; i++) {
        for (const Vertex& corner : data_.polygon(i)) at = std::ranges::copy(corner, at).out;
        at += 2;
      }
      to += longest_ * 2;
    }
  }
  // Height, width, and run lengths of each object; zeros fill the row.
  void make_runs() {
    LabelMask mask(nullptr, image_.height, image_.width);
    for (uint32_t object : data_.objects(image_)) {
      const std::vector<uint32_t>& runs = runs_.emplace_back(runs_of(mask, object));
      longest_ = std::max(longest_, std::ssize(runs));
    }
    check_longest(sizeof(uint32_t));
  }
  std::vector<uint32_t> runs_of(LabelMask& mask, uint32_t object) const {
    const int64_t pixels = int64_t{image_.height} * image_.width;
    std::vector<std::array<int64_t, 2>> inside;  // of polygons, which may overlap
    for (int64_t i = data_.first_polygon[object]; i < data_.first_polygon[object + 1]; i++) {
      const auto ends = mask.ends_of_polygon(data_.polygon(i));
      for (size_t k = 0; k < ends.size(); k += 2) inside.push_back({ends[k], ends[k + 1]});
    }
    if (const int32_t number = data_.runs_of[object]; number >= 0) {
      int64_t at = 0, i = 0;
      for (uint32_t length : data_.lengths_of(data_.runs[number])) {
        if (i++ % 2) inside.push_back({at, at + length});
        at += length;
      }
    }
    std::ranges::sort(inside);
    std::vector<uint32_t> runs{static_cast<uint32_t>(image_.height), static_cast<uint32_t>(image_.width)};
    int64_t at = 0;
    for (size_t i = 0; i < inside.size();) {
      const int64_t begin = inside[i][0];
      int64_t end = begin;
      for (; i < inside.size() && inside[i][0] <= end; i++) end = std::max(end, inside[i][1]);
      if (begin == end) continue;
      runs.push_back(static_cast<uint32_t>(begin - at));
      runs.push_back(static_cast<uint32_t>(end - begin));
      at = end;
    }
    if (at < pixels) runs.push_back(static_cast<uint32_t>(pixels - at));
    return runs;
  }
  void read_instance_runs(uint32_t* to) const {
    std::fill_n(to, image_.count * longest_, 0);
    for (auto& runs : runs_) std::ranges::copy(runs, to), to += longest_;
  }
  // One long row makes all of them long.
  void check_longest(int64_t bytes) {
    longest_ = std::max<int64_t>(longest_, 2);
    constexpr int64_t kMost = int64_t{1} << 30;
    if (image_.count > kMost / bytes / longest_)
      refuse("expected at most ", kMost, " bytes for the masks of an image, got ", image_.count, " rows of ", longest_);
  }
  void paint(LabelMask& mask, uint32_t object, int32_t label) const {
    for (int64_t i = data_.first_polygon[object]; i < data_.first_polygon[object + 1]; i++)
      mask.paint_polygon(data_.polygon(i), label);
    if (int32_t runs = data_.runs_of[object]; runs >= 0) mask.paint_runs(data_.lengths_of(data_.runs[runs]), label);
  }
  void read_keypoints(float* to) const {
    for (uint32_t object : data_.objects(image_)) {
      const auto points = data_.keypoints_of(object);
      std::fill_n(to, 3 * data_.most_keypoints, 0.0f);
      std::memcpy(to, points.data(), points.size_bytes());
      to += 3 * data_.most_keypoints;
    }
  }

  const CocoSource& source_;
  const CocoDataset& data_;
  const CocoDataset::Image& image_;
  std::unique_ptr<Source::Sample> file_;
  int64_t polygons_ = 0, vertices_ = 0;
  int64_t longest_ = 0;  // of the rows of masks
  std::vector<std::vector<uint32_t>> runs_;
};

std::unique_ptr<Source::Sample> CocoSource::open(int64_t index, const storage::Fetched& fetched) const {
  return std::make_unique<CocoSample>(*this, index, fetched);
}

}  // namespace

std::shared_ptr<Source> coco_source(CocoDataset data, const CocoOptions& options, const std::string& root,
                                    const std::string& origin, bool read_ahead) {
  return std::make_shared<CocoSource>(std::move(data), options, root, origin, read_ahead);
}

}  // namespace avida
