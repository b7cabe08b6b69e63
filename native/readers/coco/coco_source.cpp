#include "readers/coco/coco_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "readers/file/file.h"

namespace avida {
namespace {

enum class Output { file, boxes, labels, polygons, vertices, mask, image_id, instances, keypoints, crowds };

Meta meta_of(Output output) {
  Meta meta;
  bool rows = output == Output::boxes || output == Output::vertices;
  bool bytes = output == Output::file || output == Output::instances;
  bool whole = output == Output::mask || output == Output::instances || output == Output::keypoints;
  meta.dtype = bytes ? DType::uint8 : rows || output == Output::keypoints ? DType::float32 : DType::int32;
  meta.ndim = whole ? 3 : rows || output == Output::polygons ? 2 : 1;
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
    if (options.instances) kinds_.push_back(Output::instances);
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
    if (source_.options_.instances && image_.count > kMost / pixels)
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
