#include "readers/annotated/annotated_source.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "codecs/image.h"
#include "core/error.h"
#include "readers/annotated/labelme.h"
#include "readers/annotated/voc.h"
#include "readers/annotated/yolo.h"
#include "storage/names.h"

namespace avida {
namespace {

enum class Output { file, boxes, rotated, labels, keypoints, polygons, masks, first, second, third, mask, image_id };

constexpr int64_t kMostMasks = int64_t{1} << 30;  // bytes of the masks of one image, and of its points

Meta meta_of(Output output) {
  Meta meta;
  const bool rows = output == Output::boxes || output == Output::rotated;
  const bool points = output == Output::keypoints || output == Output::polygons;
  const bool bytes = output == Output::file || output == Output::mask || output == Output::masks;
  meta.dtype = bytes ? DType::uint8 : rows || points ? DType::float32 : DType::int32;
  meta.ndim = output == Output::masks || points ? 3 : rows ? 2 : 1;
  return meta;
}

std::vector<uint8_t> all_of(const storage::ObjectPtr& object) {
  std::vector<uint8_t> bytes(static_cast<size_t>(object->size()));
  object->read_at(0, bytes.data(), object->size());
  return bytes;
}

// Adds the name of the file to what went wrong with it.
template <class Function>
auto of_file(const std::string& path, Function&& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw Error(error.kind, str(path, error.message.starts_with(':') ? "" : ": ", error.message));
  }
}

class AnnotatedSource : public Source {
 public:
  AnnotatedSource(AnnotatedFiles files, ClassNumbers numbers, Classes names, const AnnotatedArgs& args)
      : files_(std::move(files)), numbers_(std::move(numbers)), classes_(std::move(names)), args_(args) {
    is_local_ = files_.images.is_local() && files_.annotations.is_local();
    add(Output::file, "image");
    if (files_.has_objects) add_objects();
    if (args.mask) add(Output::mask, "mask");
    add(Output::image_id, "image_id");
    if (args.keypoint_shape)
      rows_.points = (*args.keypoint_shape)[0], rows_.numbers_per_point = (*args.keypoint_shape)[1];
    if (is_yolo(files_.format)) rows_.kind = static_cast<YoloRows::Kind>(files_.format);
    rows_.classes = args.classes || args.class_names ? std::ssize(classes_) : 0;
  }
  void add_objects() {
    if (files_.format == AnnotationFormat::yolo_rotated)
      add(Output::rotated, "rotated");
    else
      add(Output::boxes, "boxes");
    add(Output::labels, "labels");
    if (has_keypoints()) add(Output::keypoints, "keypoints");
    if (args_.masks) add(files_.format == AnnotationFormat::voc ? Output::masks : Output::polygons, "masks");
    if (files_.format == AnnotationFormat::voc) {
      add(Output::first, "difficult");
      add(Output::second, "truncated");
      add(Output::third, "pose");
    }
    if (files_.format == AnnotationFormat::labelme) {
      add(Output::first, "kind");
      add(Output::second, "group");
    }
  }

  const char* name() const override { return "readers.Annotated"; }
  int64_t size() const override { return files_.images.size(); }
  const std::vector<Meta>& outputs() const override { return metas_; }
  std::vector<Column> columns() const override { return columns_; }
  std::string describe(int64_t index) const override {
    return files_.has_image(index) ? files_.images.path(index) : files_.annotations.path(index);
  }
  std::optional<Classes> classes() const override {
    if (classes_.empty()) return {};
    return classes_;
  }
  bool is_local() const override { return is_local_; }
  bool takes_long() const override { return !files_.object_images.empty(); }
  void name_needs(int64_t index, storage::Needs& needs) const override {
    if (files_.has_image(index)) needs.whole(files_.images.path(index));
    if (files_.has_annotation(index)) needs.whole(files_.annotations.path(index));
    if (args_.mask) needs.whole(files_.class_images[index]);
    if (!files_.object_images.empty() && !files_.object_images[index].empty()) needs.whole(files_.object_images[index]);
  }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override;

 private:
  class AnnotatedSample;

  bool has_keypoints() const {
    return files_.format == AnnotationFormat::yolo_keypoints ||
           (files_.format == AnnotationFormat::labelme && args_.keypoints);
  }
  void add(Output output, const char* name) {
    kinds_.push_back(output);
    metas_.push_back(meta_of(output));
    columns_.emplace_back(name, "");
  }

  AnnotatedFiles files_;
  ClassNumbers numbers_;
  Classes classes_;
  AnnotatedArgs args_;
  YoloRows rows_;
  bool is_local_;
  std::vector<Output> kinds_;
  std::vector<Meta> metas_;
  std::vector<Column> columns_;
};

class AnnotatedSource::AnnotatedSample : public Source::Sample {
 public:
  AnnotatedSample(const AnnotatedSource& source, int64_t index, const storage::Fetched& fetched)
      : source_(source), index_(index) {
    const AnnotatedFiles& files = source.files_;
    const std::string annotation = files.has_annotation(index) ? files.annotations.path(index) : "";
    const std::string text =
        annotation.empty() ? "" : of_file(annotation, [&] { return fetched.read_text(annotation); });
    if (files.format == AnnotationFormat::labelme) {
      of_file(annotation, [&] { read_labelme(annotation, text, fetched); });
    } else if (!files.has_image(index)) {
      refuse(annotation, ": expected an image of the same name in ", source.args_.root(), ", found none");
    } else {
      read_image(files.images.path(index), fetched);
    }
    if (is_yolo(files.format) || !files.object_images.empty()) measure();
    if (is_yolo(files.format)) of_file(annotation, [&] { found_ = parse_yolo(text, source.rows_, height_, width_); });
    if (files.format == AnnotationFormat::voc && files.has_objects)
      of_file(annotation, [&] { found_ = parse_voc(text, source.numbers_); });
    for (const auto& points : found_.keypoints) most_points_ = std::max(most_points_, std::ssize(points));
    if (files.format == AnnotationFormat::yolo_keypoints) most_points_ = source.rows_.points;
    for (const auto& outline : found_.outlines) most_corners_ = std::max(most_corners_, std::ssize(outline));
    check_points();
    if (!files.object_images.empty()) prepare_masks(fetched);
    if (source.args_.mask) label_map_ = all_of(fetched.open(files.class_images[index]));
  }

  Shape shape(int output) const override {
    const int64_t count = std::ssize(found_.labels);
    switch (source_.kinds_[output]) {
      case Output::file:
        return {std::ssize(image_)};
      case Output::boxes:
        return {count, 4};
      case Output::rotated:
        return {count, 5};
      case Output::keypoints:
        return {count, most_points_, 3};
      case Output::polygons:
        return {count, most_corners_, 2};
      case Output::masks:
        return {count, height_, width_};
      case Output::mask:
        return {std::ssize(label_map_)};
      case Output::image_id:
        return {1};
      case Output::labels:
      case Output::first:
      case Output::second:
      case Output::third:
        break;
    }
    return {count};
  }

  void read(int output, void* to) override {
    switch (const Output kind = source_.kinds_[output]) {
      case Output::file:
        copy(std::exchange(image_, {}), to);
        return;
      case Output::boxes:
        return copy(found_.boxes, to);
      case Output::rotated:
        return copy(found_.rotated, to);
      case Output::labels:
        return copy(found_.labels, to);
      case Output::keypoints:
        return read_keypoints(static_cast<float*>(to));
      case Output::polygons:
        return read_polygons(static_cast<float*>(to));
      case Output::masks:
        return read_masks(static_cast<uint8_t*>(to));
      case Output::first:
      case Output::second:
      case Output::third:
        return copy(found_.numbers[static_cast<int>(kind) - static_cast<int>(Output::first)], to);
      case Output::mask:
        return copy(label_map_, to);
      case Output::image_id: {
        const auto id = static_cast<int32_t>(index_);
        std::memcpy(to, &id, sizeof(id));
      }
    }
  }

 private:
  template <class Element>
  static void copy(const std::vector<Element>& from, void* to) {
    if (!from.empty()) std::memcpy(to, from.data(), from.size() * sizeof(Element));
  }

  void read_image(const std::string& path, const storage::Fetched& fetched) {
    image_name_ = path;
    of_file(path, [&] { image_ = all_of(fetched.open(path)); });
  }

  void read_labelme(const std::string& annotation, const std::string& text, const storage::Fetched& fetched) {
    LabelMeFile file = parse_labelme(text, source_.numbers_);
    found_ = std::move(file.objects);
    image_name_ = annotation;
    if (file.image) {
      image_ = std::move(*file.image);
      return;
    }
    if (file.image_name.empty())
      refuse(": expected an image in \"imageData\" or its name in \"imagePath\", found none");
    FileList list;
    list.add(list.add_folder(storage::folder_of(annotation)), file.image_name, 0);
    if (source_.args_.confine) confine(list, annotation);
    image_name_ = list.path(0);
    image_ = all_of(fetched.open(image_name_));
  }
  // Within the folder of the data set, where the names of others may lead elsewhere.
  void confine(const FileList& list, const std::string& annotation) const {
    storage::Resolver resolver;
    const std::string root = resolver.resolve_folder(source_.args_.root()), to = resolver.resolve(list.path(0));
    if (!to.starts_with(root))
      refuse(": expected the name of an image within ", root, ", got ", to, " in ", annotation);
  }

  void measure() {
    of_file(image_name_, [&] {
      const codecs::Extents extents = codecs::EncodedImage(image_, {}).extents();
      height_ = extents.height;
      width_ = extents.width;
    });
  }

  // Rows are as long as the longest: a small file must not exhaust memory by one long outline among many short ones.
  void check_points() const {
    const int64_t most = std::max({most_points_, most_corners_, int64_t{1}}), bytes = 3 * sizeof(float);
    if (std::ssize(found_.labels) > kMostMasks / bytes / most)
      refuse("expected at most ", kMostMasks, " bytes for the points of an image, got ", found_.labels.size(),
             " objects with up to ", most, " points");
  }

  void prepare_masks(const storage::Fetched& fetched) {
    if (std::ssize(found_.labels) > kMostMasks / (height_ * width_))
      refuse("expected at most ", kMostMasks, " bytes for the masks of an image, got ", found_.labels.size(),
             " masks of ", height_, " x ", width_);
    const std::string& path = source_.files_.object_images[index_];
    if (path.empty()) refuse("expected masks of objects in SegmentationObject for ", image_name_, ", found none");
    of_file(path, [&] { read_object_image(all_of(fetched.open(path))); });
  }
  // Pixels are the number of their object, from 1 on, in the order of the annotations.
  void read_object_image(const std::vector<uint8_t>& bytes) {
    const codecs::EncodedImage file(bytes, {.type = codecs::ImageType::indices});
    const codecs::Extents extents = file.extents();
    if (extents.height != height_ || extents.width != width_)
      refuse("expected the image's size, ", height_, " x ", width_, ", got ", extents.height, " x ", extents.width);
    const codecs::Roi all{0, 0, extents.height, extents.width};
    file.check_memory(all);
    objects_.resize(static_cast<size_t>(height_ * width_ * extents.channels));
    file.decode(all, objects_.data());
  }

  void read_masks(uint8_t* to) const {
    for (size_t object = 1; object <= found_.labels.size(); object++)
      to = std::ranges::transform(objects_, to, [&](uint8_t pixel) -> uint8_t { return pixel == object; }).out;
  }

  // Corners of NaN fill the rows.
  void read_polygons(float* to) const {
    std::fill_n(to, std::ssize(found_.outlines) * most_corners_ * 2, NAN);
    for (const auto& outline : found_.outlines) {
      copy(outline, to);
      to += 2 * most_corners_;
    }
  }

  void read_keypoints(float* to) const {
    for (const auto& points : found_.keypoints) {
      std::fill_n(to, 3 * most_points_, 0.0f);
      copy(points, to);
      to += 3 * most_points_;
    }
  }

  const AnnotatedSource& source_;
  const int64_t index_;
  std::string image_name_;
  std::vector<uint8_t> image_, label_map_, objects_;
  int64_t height_ = 0, width_ = 0, most_points_ = 0, most_corners_ = 1;
  Annotations found_;
};

std::unique_ptr<Source::Sample> AnnotatedSource::open(int64_t index, const storage::Fetched& fetched) const {
  return std::make_unique<AnnotatedSample>(*this, index, fetched);
}

}  // namespace

std::shared_ptr<Source> annotated_source(AnnotatedFiles files, ClassNumbers numbers, Source::Classes names,
                                         const AnnotatedArgs& args) {
  return std::make_shared<AnnotatedSource>(std::move(files), std::move(numbers), std::move(names), args);
}

}  // namespace avida
