// readers.COCO: images with boxes, labels and masks.
#include "readers/coco/coco.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/readers/readers.h"
#include "readers/coco/coco_source.h"

namespace avida::python {
namespace {

// `images` are the names of those to read, or None for all. `save_to` is a folder for preprocessed annotations, or
// empty.
SourceHandle coco_from_json(nb::str file, nb::str root, nb::object images, const CocoOptions& options, nb::str save_to,
                            bool read_ahead) {
  std::string path = path_of(file), root_path = path_of(root), save_path = path_of(save_to);
  bool select = !images.is_none();
  auto names = select ? paths_of(images) : std::vector<std::string>();
  auto interrupt = answer_signals();
  WithoutGil released;
  CocoDataset data = read_coco(path, options, interrupt);
  if (select) data.select(names);
  data.check(path, options);
  if (!save_path.empty()) save_coco(data, save_path, options);
  return {coco_source(std::move(data), options, root_path, path, read_ahead)};
}

SourceHandle coco_from_folder(nb::str folder, nb::str root, const CocoOptions& options, bool read_ahead) {
  std::string path = path_of(folder), root_path = path_of(root);
  WithoutGil released;
  CocoDataset data = load_coco(path, options);
  data.check(path, options);
  return {coco_source(std::move(data), options, root_path, path, read_ahead)};
}

const BindFormat coco([](nb::module_& m) {
  nb::class_<CocoOptions>(m, "CocoOptions")
      .def(nb::init<>())
      .def_rw("polygons", &CocoOptions::polygons)
      .def_rw("in_coordinates", &CocoOptions::in_coordinates)
      .def_rw("pixelwise", &CocoOptions::pixelwise)
      .def_rw("image_ids", &CocoOptions::image_ids)
      .def_rw("ratio", &CocoOptions::ratio)
      .def_rw("ltrb", &CocoOptions::ltrb)
      .def_rw("remap", &CocoOptions::remap)
      .def_rw("crowds", &CocoOptions::crowds)
      .def_rw("skip_empty", &CocoOptions::skip_empty)
      .def_rw("confine", &CocoOptions::confine)
      .def_rw("size_threshold", &CocoOptions::size_threshold);
  m.def("coco_from_json", &coco_from_json, nb::arg("file"), nb::arg("root"), nb::arg("images").none(),
        nb::arg("options"), nb::arg("save_to"), nb::arg("read_ahead"));
  m.def("coco_from_folder", &coco_from_folder, nb::arg("folder"), nb::arg("root"), nb::arg("options"),
        nb::arg("read_ahead"));
});

}  // namespace
}  // namespace avida::python
