#include "readers/coco/coco.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "core/error.h"
#include "readers/coco/coco_source.h"
#include "readers/coco/json_stream.h"
#include "readers/declare.h"

namespace avida {
namespace {

using namespace simdjson;
static_assert(JsonStream::kPadding >= SIMDJSON_PADDING);

// The problem with a value; becomes an Error once its position is known.
struct Unexpected {
  const char* field;
  const char* expected;
  ErrorKind kind = ErrorKind::runtime;
};

// The elements of images, annotations and categories, in file order. Categories are often the last.
class CocoParser {
 public:
  CocoParser(const std::string& path, const CocoOptions& options, const Interrupt& interrupt)
      : options_(options), stream_(path, interrupt) {}

  CocoDataset parse() {
    if (options_.outlines()) data_.first_polygon = data_.first_vertex = {0};
    data_.first_keypoint = {0};
    data_.classes.emplace();
    stream_.object([&](std::string_view key) {
      if (key == "images")
        elements("images", [&](ondemand::object image) { add_image(image); });
      else if (key == "annotations")
        elements("annotations", [&](ondemand::object object) { add_object(object); });
      else if (key == "categories")
        elements("categories", [&](ondemand::object category) { add_category(category); });
      else
        stream_.skip_value();
    });
    stream_.end();
    if (options_.remap)
      for (int32_t& label : data_.labels) {
        auto found = number_of_category_.find(label);
        label = found == number_of_category_.end() ? 0 : found->second;
      }
    data_.assign(image_ids_);
    if (options_.skip_empty) data_.remove_empty_images();
    return std::move(data_);
  }

 private:
  template <class Function>
  void elements(const char* array, Function&& function) {
    int64_t number = 0;
    stream_.array([&] {
      std::string_view text = stream_.value();
      ondemand::document document;
      bool started = false;
      auto where = [&] {
        const char* at = text.data();
        if (started && document.current_location().get(at) != SUCCESS) at = text.data();
        return stream_.value_offset() + std::clamp<int64_t>(at - text.data(), 0, text.size());
      };
      try {
        if (parser_.capacity() < text.size() && parser_.allocate(std::bit_ceil(text.size())) != SUCCESS)
          fail(ErrorKind::memory, "out of memory: cannot parse ", text.size(), " bytes of JSON");
        document = parser_.iterate(padded_string_view(text.data(), text.size(), text.size() + JsonStream::kPadding));
        started = true;
        ondemand::object object;
        if (document.get_object().get(object) != SUCCESS) throw Unexpected{"", "an object"};
        function(object);
      } catch (const Unexpected& problem) {
        std::string place = str(array, '[', number, ']', *problem.field ? "." : "", problem.field);
        stream_.fail_at(where(), str(place, ": expected ", problem.expected), problem.kind);
      } catch (const simdjson_error& problem) {
        stream_.fail_at(where(), str(array, '[', number, "]: broken JSON: ", problem.what()));
      }
      number++;
    });
  }

  void add_image(ondemand::object& element) {
    CocoDataset::Image image;
    bool has_id = false, has_name = false;
    for (auto field : element) {
      ondemand::raw_json_string key = field.key();
      ondemand::value value = field.value();
      if (key == "id") {
        image.id = integer(value, "id");
        has_id = true;
      } else if (key == "file_name") {
        std::string_view name;
        if (value.get_string().get(name) != SUCCESS) throw Unexpected{"file_name", "a text"};
        if (name.find('\0') != name.npos) throw Unexpected{"file_name", "a text without null characters"};
        image.name = static_cast<int64_t>(data_.names.size());
        image.name_length = static_cast<int32_t>(name.size());
        data_.names += name;
        has_name = true;
      } else if (key == "width") {
        image.width = size(value, "width");
      } else if (key == "height") {
        image.height = size(value, "height");
      }
    }
    if (!has_id) throw Unexpected{"id", "an integer, got none"};
    if (!has_name) throw Unexpected{"file_name", "a text, got none"};
    data_.images.push_back(image);
  }

  void add_category(ondemand::object& element) {
    std::optional<int32_t> id;
    std::optional<std::string> name;  // others than texts are no names
    categories_++;
    for (auto field : element) {
      ondemand::raw_json_string key = field.key();
      ondemand::value value = field.value();
      if (key == "id")
        id = small_integer(value, "id");
      else if (key == "name" && value.type() == ondemand::json_type::string)
        name = std::string_view(value.get_string());
    }
    if (!id) throw Unexpected{"id", "an integer, got none"};
    const bool is_new = number_of_category_.emplace(*id, categories_).second;
    if (name && is_new) data_.classes->emplace(options_.remap ? categories_ : *id, std::move(*name));
  }

  void add_object(ondemand::object& element) {
    int64_t image_id = 0;
    int32_t category = 0;
    std::array<float, 4> box{};
    bool has_image = false, is_crowd = false, has_runs = false;
    // A mask is stored before it is known whether its object is kept.
    size_t polygons = data_.first_vertex.size(), vertices = data_.vertices.size(), lengths = data_.lengths.size();
    CocoDataset::Runs runs;
    std::vector<std::array<float, 3>> keypoints;
    for (auto field : element) {
      ondemand::raw_json_string key = field.key();
      ondemand::value value = field.value();
      if (key == "image_id") {
        image_id = integer(value, "image_id");
        has_image = true;
      } else if (key == "category_id") {
        category = small_integer(value, "category_id");
      } else if (key == "bbox") {
        box = four_numbers(value);
      } else if (key == "iscrowd") {
        is_crowd = truth(value);
      } else if (key == "segmentation" && options_.outlines()) {
        data_.first_vertex.resize(polygons);
        data_.vertices.resize(vertices);
        data_.lengths.resize(lengths);
        has_runs = add_mask(value, runs);
      } else if (key == "keypoints" && options_.keypoints) {
        keypoints = points(value);
      }
    }
    if (!has_image) throw Unexpected{"image_id", "an integer, got none"};
    bool small = box[2] < options_.size_threshold || box[3] < options_.size_threshold;
    if (small || (is_crowd && !options_.crowds)) {
      data_.first_vertex.resize(polygons);
      data_.vertices.resize(vertices);
      data_.lengths.resize(lengths);
      return;
    }
    if (data_.labels.size() == UINT32_MAX) refuse(stream_.path(), ": more than 2**32 objects");
    image_ids_.push_back(image_id);
    data_.labels.push_back(category);
    data_.boxes.push_back(box);
    if (options_.outlines()) data_.first_polygon.push_back(static_cast<int64_t>(data_.first_vertex.size()) - 1);
    if (options_.crowd_marks) data_.crowds.push_back(is_crowd);
    if (options_.keypoints) {
      data_.keypoints.insert(data_.keypoints.end(), keypoints.begin(), keypoints.end());
      data_.first_keypoint.push_back(std::ssize(data_.keypoints));
      data_.most_keypoints = std::max(data_.most_keypoints, std::ssize(keypoints));
    }
    if (options_.painted()) {
      data_.runs_of.push_back(has_runs ? static_cast<int32_t>(data_.runs.size()) : -1);
      if (has_runs) data_.runs.push_back(runs);
    }
  }

  // Returns true if the mask consists of run lengths, which are stored.
  bool add_mask(ondemand::value& value, CocoDataset::Runs& runs) {
    constexpr Unexpected kMask{"segmentation", "a list of polygons, or an object with \"counts\" and \"size\""};
    ondemand::json_type type = value.type();
    if (type == ondemand::json_type::null) return false;
    if (type == ondemand::json_type::array) {
      if (!options_.outlines()) return false;
      for (auto element : value.get_array()) {
        ondemand::array coordinates;
        if (element.get_array().get(coordinates) != SUCCESS) throw kMask;
        add_polygon(coordinates);
      }
      return false;
    }
    if (type != ondemand::json_type::object) throw kMask;
    if (!options_.painted()) return false;
    runs = {static_cast<int64_t>(data_.lengths.size())};
    for (auto field : value.get_object()) {
      ondemand::raw_json_string key = field.key();
      ondemand::value part = field.value();
      if (key == "size") {
        int i = 0;
        for (auto element : part.get_array()) {
          int32_t number = size(element.value(), "segmentation.size");
          if (i < 2) (i == 0 ? runs.height : runs.width) = number;
          i++;
        }
        if (i != 2) throw Unexpected{"segmentation.size", "height and width"};
      } else if (key == "counts") {
        add_lengths(part);
      }
    }
    size_t count = data_.lengths.size() - runs.first;
    if (count == 0 || count > UINT32_MAX) throw Unexpected{"segmentation.counts", "some run lengths"};
    if (runs.height <= 0 || runs.width <= 0) throw Unexpected{"segmentation.size", "height and width above 0"};
    runs.count = static_cast<uint32_t>(count);
    return true;
  }

  void add_polygon(ondemand::array& coordinates) {
    Vertex vertex;
    int axis = 0;
    for (auto element : coordinates) {
      vertex[axis] = number(element.value(), "segmentation");
      if (axis == 1) data_.vertices.push_back(vertex);
      axis = 1 - axis;  // an odd coordinate at the end is dropped
    }
    data_.first_vertex.push_back(static_cast<int64_t>(data_.vertices.size()));
  }

  void add_lengths(ondemand::value& value) {
    ondemand::json_type type = value.type();
    if (type == ondemand::json_type::string) {
      if (!decode_runs(value.get_string(), data_.lengths))
        throw Unexpected{"segmentation.counts", "compressed run lengths"};
    } else if (type == ondemand::json_type::array) {
      for (auto element : value.get_array()) {
        int64_t length = integer(element.value(), "segmentation.counts");
        if (length < 0 || length > UINT32_MAX) throw Unexpected{"segmentation.counts", "lengths from 0 to 2**32 - 1"};
        data_.lengths.push_back(static_cast<uint32_t>(length));
      }
    } else {
      throw Unexpected{"segmentation.counts", "a list of run lengths, or a text"};
    }
  }

  // 3.0 counts as an integer: many tools write integers that way.
  static int64_t integer(ondemand::value value, const char* field) {
    int64_t number;
    if (value.get_int64().get(number) == SUCCESS) return number;
    double real;
    if (value.get_double().get(real) != SUCCESS || std::abs(real) > 1e15 || real != std::floor(real))
      throw Unexpected{field, "an integer"};
    return static_cast<int64_t>(real);
  }
  static int32_t small_integer(ondemand::value value, const char* field) {
    int64_t number = integer(value, field);
    if (number != static_cast<int32_t>(number)) throw Unexpected{field, "an integer that fits into int32"};
    return static_cast<int32_t>(number);
  }
  static int32_t size(ondemand::value value, const char* field) {
    int32_t number = small_integer(value, field);
    if (number < 0) throw Unexpected{field, "a size that is not negative"};
    return number;
  }
  static float number(ondemand::value value, const char* field) {
    double real;
    if (value.get_double().get(real) != SUCCESS) throw Unexpected{field, "numbers"};
    return static_cast<float>(real);
  }
  static bool truth(ondemand::value& value) {
    ondemand::json_type type = value.type();
    if (type == ondemand::json_type::null) return false;
    if (type == ondemand::json_type::boolean) return value.get_bool();
    return integer(value, "iscrowd") != 0;
  }
  // x, y and visibility, one after the other.
  static std::vector<std::array<float, 3>> points(ondemand::value& value) {
    std::vector<std::array<float, 3>> points;
    ondemand::array numbers;
    if (value.get_array().get(numbers) != SUCCESS) throw Unexpected{"keypoints", "a list of numbers"};
    int i = 0;
    for (auto element : numbers) {
      if (i % 3 == 0) points.emplace_back();
      points.back()[i++ % 3] = number(element.value(), "keypoints");
    }
    if (i % 3) throw Unexpected{"keypoints", "x, y and visibility of each point"};
    return points;
  }
  static std::array<float, 4> four_numbers(ondemand::value& value) {
    constexpr Unexpected kBox{"bbox", "exactly 4 numbers", ErrorKind::value};
    std::array<float, 4> box;
    int i = 0;
    ondemand::array numbers;
    if (value.get_array().get(numbers) != SUCCESS) throw kBox;
    for (auto element : numbers) {
      if (i == 4) throw kBox;
      double real;
      if (element.get_double().get(real) != SUCCESS) throw kBox;
      box[i++] = static_cast<float>(real);
    }
    if (i != 4) throw kBox;
    return box;
  }

  const CocoOptions& options_;
  JsonStream stream_;
  ondemand::parser parser_;
  CocoDataset data_;
  std::vector<int64_t> image_ids_;  // one for each object
  std::unordered_map<int32_t, int32_t> number_of_category_;
  int32_t categories_ = 0;
};

}  // namespace

CocoDataset read_coco(const std::string& path, const CocoOptions& options, const Interrupt& interrupt) {
  return CocoParser(path, options, interrupt).parse();
}

namespace {

struct CocoArgs : ReaderArgs, CocoOptions {
  std::optional<std::string> file_root, annotations_file, preprocessed_annotations, save_preprocessed_annotations_dir;
  std::optional<std::vector<std::string>> images;
  std::optional<bool> avoid_class_remapping, masks;
  bool save_preprocessed_annotations = false;
};

bool is_given(const std::optional<std::string>& path) { return path && !path->empty(); }

void check_args(CocoArgs& args) {
  if (!args.file_root) refuse("expected file_root, the folder of the images");
  if (!is_given(args.annotations_file) && !is_given(args.preprocessed_annotations))
    refuse("expected annotations_file or preprocessed_annotations");
  if (args.save_preprocessed_annotations != is_given(args.save_preprocessed_annotations_dir))
    refuse("save_preprocessed_annotations and save_preprocessed_annotations_dir go together");
  args.remap = !args.avoid_class_remapping.value_or(false);
  args.in_coordinates = args.masks.value_or(false);
  args.polygons |= args.in_coordinates;
  if (args.pixelwise && args.polygons) refuse("expected polygon_masks or pixelwise_masks, got both");
  const bool is_saved = is_given(args.preprocessed_annotations) || args.save_preprocessed_annotations;
  if (is_saved && (args.instances || args.keypoints || args.crowd_marks))
    refuse("expected annotations_file for instance_masks, keypoints and iscrowd: saved annotations do not have them");
}

std::shared_ptr<Source> source_of_args(const CocoArgs& args, const Opening& opening) {
  const bool is_saved = is_given(args.preprocessed_annotations);
  const std::string& path = is_saved ? *args.preprocessed_annotations : *args.annotations_file;
  CocoDataset data = is_saved ? load_coco(path, args) : read_coco(path, args, opening.interrupt);
  if (!is_saved && args.images && !args.images->empty()) data.select(*args.images);
  data.check(path, args);
  if (!is_saved && is_given(args.save_preprocessed_annotations_dir))
    save_coco(data, *args.save_preprocessed_annotations_dir, args);
  return coco_source(std::move(data), args, *args.file_root, path, args.read_ahead);
}

}  // namespace

AVIDA_READER(COCO, CocoArgs) {
  reader
      .doc(R"(Reads images and what their annotations say of the objects in them.

The outputs of each sample:

* the bytes of the file (uint8),
* boxes (float32, N x 4): x, y, width, height,
* labels (int32, N),
* with ``polygon_masks``: polygons (int32, P x 3) and vertices (float32, V x 2). A polygon is the number of its
  object, and the first and the end of its vertices. Objects whose mask is not given by polygons have none;
* with ``pixelwise_masks``: an image (int32, H x W x 1) of the labels, 0 where there is no object. Where objects
  overlap, the larger label is seen;
* with ``image_ids``: the image's id (int32, one element);
* with ``instance_masks``: a mask for each object (uint8, N x H x W), of 0 and 1. In Scenes these are polygons, or run
  lengths of all objects if any object of the file has them, as crowds do: ``include_iscrowd=False`` leaves those out;
* with ``keypoints``: points of each object (float32, N x K x 3): x, y in pixels, and visibility. K is that of the object with
  most of them, the others have zeros;
* with ``iscrowd``: whether each object is a crowd (int32, N).

With ``scene`` there is one output, an ``avida.Scene`` of decoded images, with boxes, labels, ``iscrowd``, ``image_id`` and those that
are asked for.

Images come in the order of their ids. Annotations of images that are not listed are ignored.)")
      .path("annotations_file", &CocoArgs::annotations_file, "The JSON file.")
      .arg("avoid_class_remapping", &CocoArgs::avoid_class_remapping,
           "Labels are the ids of categories as they are in the file. Default: ``False``, they are numbered from 1 in "
           "the order of the file; categories that it does not list are 0. ``reader.classes[label]`` is the name.")
      .arg("confine", &CocoOptions::confine,
           "Refuse the name of an image that leads outside of ``file_root``: by being absolute, by ``..`` or by a "
           "symbolic link. Checked when the reader is made.")
      .renamed("dump_meta_files", "save_preprocessed_annotations")
      .renamed("dump_meta_files_path", "save_preprocessed_annotations_dir")
      .path("file_root", &CocoArgs::file_root, "The folder that file names are relative to.")
      .arg("image_ids", &CocoOptions::image_ids, "Add an output with the ids of images.")
      .arg("images", &CocoArgs::images,
           "The file names of the images to read, as in the annotations, in this order; a name may be there more than "
           "once. Default: all images.")
      .arg("include_iscrowd", &CocoOptions::crowds, "Keep objects that are marked as crowds.")
      .arg("instance_masks", &CocoOptions::instances,
           "Add an output with a mask for each object, from polygons and run lengths.")
      .arg("iscrowd", &CocoOptions::crowd_marks, "Add an output that tells which objects are marked as crowds.")
      .arg("keypoints", &CocoOptions::keypoints, "Add an output with the keypoints of objects.")
      .arg("ltrb", &CocoOptions::ltrb, "Boxes are left, top, right, bottom.")
      .arg("masks", &CocoArgs::masks, "Old form of ``polygon_masks``: polygons count coordinates, two for each vertex.")
      .renamed("meta_files_path", "preprocessed_annotations")
      .arg("pixelwise_masks", &CocoOptions::pixelwise,
           "Add an output with images of labels, from polygons and run lengths.")
      .arg("polygon_masks", &CocoOptions::polygons, "Add outputs with polygons and their vertices.")
      .path("preprocessed_annotations", &CocoArgs::preprocessed_annotations,
            "A folder that ``save_preprocessed_annotations`` has written, in place of ``annotations_file``. It must "
            "have been saved with the outputs that are asked for now; boxes and polygons are as they were then.")
      .arg("ratio", &CocoOptions::ratio, "Boxes and vertices are relative to width and height of the image.")
      .renamed("save_img_ids", "image_ids")
      .arg("save_preprocessed_annotations", &CocoArgs::save_preprocessed_annotations,
           "Save what was made of the annotations for a faster start.")
      .arg("save_preprocessed_annotations_dir", &CocoArgs::save_preprocessed_annotations_dir,
           "The folder for that; it must exist. Its files are replaced when all new ones are complete.")
      .typed("Path | None")
      .arg("scene", &CocoOptions::as_scene, "Give Scenes of decoded images instead of tuples.")
      .arg("size_threshold", &CocoOptions::size_threshold,
           "Objects whose box is less wide or high than this, in pixels, are left out.")
      .arg("skip_empty", &CocoOptions::skip_empty, "Leave out images without objects.")
      .example(R"(>>> import json, pathlib, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> root = pathlib.Path(folder.name)
>>> _ = (root / "cat.jpg").write_bytes(b"some bytes")
>>> annotations = {
...     "images": [{"id": 7, "file_name": "cat.jpg", "width": 20, "height": 10}],
...     "annotations": [{"image_id": 7, "category_id": 17, "bbox": [1, 2, 3, 4]}],
...     "categories": [{"id": 16, "name": "bird"}, {"id": 17, "name": "cat"}],
... }
>>> _ = (root / "annotations.json").write_text(json.dumps(annotations))
>>> reader = avida.readers.COCO(file_root=root, annotations_file=root / "annotations.json", ltrb=True)
>>> for jpegs, boxes, labels in reader.next_epoch(batch_size=1):
...     print(boxes.torch().tolist(), labels.torch().tolist())
[[[1.0, 2.0, 4.0, 6.0]]] [[2]])")
      .needs("simdjson")
      .check(check_args)
      .source(source_of_args);
}

}  // namespace avida
