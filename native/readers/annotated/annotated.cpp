// readers.Annotated: images with annotations in the formats of YOLO, Pascal VOC and LabelMe.
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "readers/annotated/annotated_files.h"
#include "readers/annotated/annotated_source.h"
#include "readers/annotated/labelme.h"
#include "readers/annotated/voc.h"
#include "storage/fetched.h"

namespace avida {
namespace {

void check_args(AnnotatedArgs& args) {
  if (!args.file_root) refuse("expected file_root, the folder of the data set");
  if (args.classes && args.classes->empty())
    refuse("classes must not be an empty list; leave it out to find the names");
  if (const auto& shape = args.keypoint_shape;
      shape && (shape->size() != 2 || (*shape)[0] < 1 || (*shape)[0] > 10'000 || (*shape)[1] < 2 || (*shape)[1] > 3))
    refuse("expected the number of points and 2 or 3 numbers of each as keypoint_shape, such as (17, 3)");
}

void check_format(const AnnotatedArgs& args, const AnnotatedFiles& files) {
  const AnnotationFormat format = files.format;
  using enum AnnotationFormat;
  const auto named = [&](const char* what) {
    refuse(what, " are not in this format, ", choices_of(format).name_of(static_cast<int>(format)));
  };
  if (args.masks && (format == yolo || format == yolo_rotated || format == yolo_keypoints)) named("masks");
  if (args.masks && !files.has_objects) refuse("expected annotations (.xml) for masks of objects, found none");
  if (args.mask && format != voc) named("label maps (mask=True)");
  if (args.keypoints && format != labelme && format != yolo_keypoints) named("keypoints");
  if (format == yolo_keypoints && !args.keypoint_shape)
    refuse("expected keypoint_shape, or kpt_shape in the YAML file: the number of points and the numbers of each");
}

// Reads all annotations for their names: a file that is broken is reported where its sample is read.
ClassNumbers classes_in(const AnnotatedFiles& files, const Opening& opening) {
  constexpr int64_t kAtOnce = 256;
  ClassNumbers classes;
  const int64_t count = files.annotations.size();
  for (int64_t first = 0; first < count; first += kAtOnce) {
    if (opening.interrupt) opening.interrupt();
    const int64_t end = std::min(first + kAtOnce, count);
    storage::Needs needs;
    for (int64_t i = first; i < end; i++) needs.whole(files.annotations.path(i));
    const storage::Fetched fetched(needs);
    for (int64_t i = first; i < end; i++) try {
        const std::string text = fetched.read_text(files.annotations.path(i));
        files.format == AnnotationFormat::voc ? name_voc_classes(text, classes) : name_labelme_classes(text, classes);
      } catch (const Error&) {
      }
  }
  int32_t number = 0;
  for (auto& [name, label] : classes) label = number++;
  return classes;
}

std::shared_ptr<Source> source_of_args(const AnnotatedArgs& args, const Opening& opening) {
  AnnotatedFiles files = find_annotated(args, opening);
  check_format(args, files);
  ClassNumbers numbers;
  Source::Classes names;
  if (args.classes || args.class_names) {
    for (const std::string& name : args.classes ? *args.classes : *args.class_names) {
      const auto label = static_cast<int32_t>(names.size());
      names.emplace(label, name);
      if (!numbers.emplace(name, label).second && args.classes)
        refuse("expected each name once in classes, got \"", name, "\" twice");
    }
  } else if (!is_yolo(files.format) && files.has_objects) {
    numbers = classes_in(files, opening);
    for (const auto& [name, label] : numbers) names.emplace(label, name);
  }
  return annotated_source(std::move(files), std::move(numbers), std::move(names), args);
}

}  // namespace

AVIDA_READER(Annotated, AnnotatedArgs) {
  reader
      .doc(R"(Reads folders of YOLO, Pascal VOC and LabelMe: images as Scenes.

Items are ``avida.Scene``: decoded images with ``labels``, ``image_id`` (the number of the image, sorted by name) and

* ``"yolo"``: ``boxes``. Rows of a text are a class, centre, width and height; texts lie in ``labels`` beside ``images``,
  or beside the images. An image without a text has no objects;
* ``"yolo-segments"``: ``boxes`` around polygons, and with ``masks`` a mask for each;
* ``"yolo-rotated"``: ``rotated``, from four corners;
* ``"yolo-keypoints"``: ``boxes``, ``keypoints`` with visibility;
* ``"voc"``: ``boxes``, ``difficult``, ``truncated`` and ``pose`` (0 unspecified, 1 frontal, 2 left, 3 rear, 4 right, -1
  another); with ``mask`` the label map in ``SegmentationClass``, where 255 does not count, also without any other annotations;
  with ``masks`` those in ``SegmentationObject``. Pixels of VOC count from 1, those of a Scene from the corner of the first;
* ``"labelme"``: ``boxes`` around shapes, their ``kind`` (0 polygon, 1 rectangle, 2 circle, 3 point, 4 line, 5 line
  strip) and ``group`` (-1 for none); with ``masks`` a mask of each, which is empty for points and lines; with
  ``keypoints`` the points of these.

Labels count from 0. They are YOLO's, numbers of names in ``classes``, or else numbers of the names that are there, sorted.
``reader.classes[label]`` is the name. Of YOLO's file of settings (``data.yaml``) names, folders of splits, and the keypoints'
shape and sides are used: ``avida.flip(scene, swap=reader.swap)``.

A text or file that is broken makes its sample fail, with a message that names file and line; see ``on_error``.)")
      .arg("class_names", &AnnotatedArgs::class_names, "", ReaderArg::internal)
      .arg("classes", &AnnotatedArgs::classes,
           "The names of classes in the order of their labels. Default: those that the data set has. Without it, all "
           "files of Pascal VOC and LabelMe are read for their names when the reader is made.")
      .arg("confine", &AnnotatedArgs::confine,
           "Refuse names of images in files that lead outside of ``file_root``, or of the folder of a list.")
      .path("file_root", &AnnotatedArgs::file_root, "The folder of the data set, or YOLO's file of settings (YAML).")
      .arg("format", &AnnotatedArgs::format,
           "What the annotations are. Default: as the files are. Rows of 8 numbers behind the class alone are rotated "
           "boxes, those of other even numbers are polygons.")
      .arg("image_folders", &AnnotatedArgs::image_folders, "", ReaderArg::internal)
      .arg("keypoint_shape", &AnnotatedArgs::keypoint_shape,
           "How many keypoints YOLO's rows have, and the numbers of each: 2, or 3 with visibility. Default: "
           "``kpt_shape`` of the settings.")
      .arg("keypoints", &AnnotatedArgs::keypoints, "Points and lines of LabelMe as ``keypoints`` of Scenes.")
      .arg("mask", &AnnotatedArgs::mask, "Label maps of Pascal VOC, of the images that have one.")
      .arg("masks", &AnnotatedArgs::masks,
           "A mask for each object: polygons; pixels of VOC, at most 1 GiB for an image.")
      .arg("split", &AnnotatedArgs::split,
           "Which part to read, such as \"train\": a name in YOLO's settings or in VOC's ``ImageSets``, or a folder. "
           "Default: all that is there.")
      .example(R"(>>> import pathlib, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> root = pathlib.Path(folder.name)
>>> for name in ["images", "labels"]:
...     (root / name).mkdir()
>>> _ = (root / "images/cat.ppm").write_bytes(b"P6 4 2 255 " + bytes(24))
>>> _ = (root / "labels/cat.txt").write_text("1 0.5 0.5 0.5 1.0")
>>> _ = (root / "data.yaml").write_text("names: [bird, cat]")
>>> reader = avida.readers.Annotated(file_root=root)
>>> for scene in reader.next_epoch(batch_size=1):
...     print(scene.boxes.torch().tolist(), reader.classes[scene.labels.tensors[0].item()])
[[[1.0, 0.0, 3.0, 2.0]]] cat)")
      .needs("simdjson")
      .check(check_args)
      .source(source_of_args);
}

}  // namespace avida
