// Readers: the data sets, the order of their samples, and batches read ahead.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/python.h"
#include "readers/file.h"
#include "readers/prefetcher.h"

namespace avida::python {
namespace {

// What Python holds. A plain std::shared_ptr argument would count references of the Python object, and need the GIL
// when a reader's thread drops it.
struct SourceHandle {
  std::shared_ptr<const Source> source;
};

// File names are bytes to the system: names that are not UTF-8 go through Python as os.fsdecode makes them.
std::string path_of(nb::handle object) {
  nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(object.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  auto name = nb::borrow<nb::bytes>(bytes);
  std::string path(name.c_str(), name.size());
  if (path.find('\0') != std::string::npos) value_error("a file name cannot contain a null character");
  return path;
}

SourceHandle source_from_folders(nb::str root, const std::vector<std::string>& files,
                                 const std::vector<std::string>& folders, bool case_sensitive, bool read_ahead) {
  std::string path = path_of(root);
  WithoutGil released;
  return {file_source(FileList::from_folders(path, {files, folders, case_sensitive}), read_ahead)};
}

SourceHandle source_from_list(nb::str list, nb::str root, bool read_ahead) {
  std::string list_path = path_of(list), root_path = path_of(root);
  WithoutGil released;
  return {file_source(FileList::from_text(list_path, root_path), read_ahead)};
}

int32_t label_of(nb::handle object) {
  int overflow;
  long label = PyLong_AsLongAndOverflow(object.ptr(), &overflow);
  if (label == -1 && PyErr_Occurred()) throw nb::python_error();
  if (overflow || label != static_cast<int32_t>(label))
    fail(ErrorKind::overflow, "the label ", nb::str(object).c_str(), " does not fit into int32");
  return static_cast<int32_t>(label);
}

// Labels are None for the number of each file.
SourceHandle source_from_names(nb::list names, nb::object labels, nb::str root, bool read_ahead) {
  FileList files;
  int folder = files.add_folder(path_of(root));
  for (size_t i = 0; i < names.size(); i++)
    files.add(folder, path_of(names[i]), labels.is_none() ? static_cast<int32_t>(i) : label_of(nb::object(labels[i])));
  return {file_source(std::move(files), read_ahead)};
}

nb::object take(Prefetcher& prefetcher) {
  collect_garbage();
  std::vector<ValuePtr> values;
  {
    WithoutGil released;
    values = prefetcher.take(answer_signals());
  }
  nb::list out;
  for (auto& value : values) out.append(wrap(std::move(value)));
  return nb::tuple(out);
}

}  // namespace

void bind_readers(nb::module_& m) {
  m.attr("MAX_BATCH_SIZE") = kMaxSamples;

  nb::class_<SourceHandle>(m, "ReaderSource").def_prop_ro("size", [](SourceHandle& handle) {
    return handle.source->size();
  });
  m.def("source_from_folders", &source_from_folders, nb::arg("root"), nb::arg("files"), nb::arg("folders"),
        nb::arg("case_sensitive"), nb::arg("read_ahead"));
  m.def("source_from_list", &source_from_list, nb::arg("list"), nb::arg("root"), nb::arg("read_ahead"));
  m.def("source_from_names", &source_from_names, nb::arg("names"), nb::arg("labels").none(), nb::arg("root"),
        nb::arg("read_ahead"));

  nb::class_<Cursor>(m, "ReaderCursor")
      .def(nb::init<>())
      .def_ro("epoch", &Cursor::epoch)
      .def_ro("step", &Cursor::step)
      .def_ro("pass_", &Cursor::pass)
      .def_ro("position", &Cursor::position)
      .def(
          "__eq__", [](const Cursor& a, const Cursor& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"));

  nb::class_<Plan>(m, "ReaderPlan")
      .def(
          "__init__",
          [](Plan* plan, int64_t samples, int shards, int shard, bool stick, bool pad, int shuffle, uint64_t seed) {
            new (plan) Plan{samples, shards, shard, stick, pad, static_cast<Plan::Shuffle>(shuffle), seed};
          },
          nb::arg("samples"), nb::arg("shards"), nb::arg("shard"), nb::arg("stick"), nb::arg("pad"), nb::arg("shuffle"),
          nb::arg("seed"))
      .def_prop_ro("padded_samples", &Plan::padded_samples)
      .def("steps", &Plan::steps, nb::arg("epoch"), nb::arg("batch_size"))
      .def(
          "batch",
          [](const Plan& plan, const Cursor& at, int64_t batch_size) {
            std::vector<int64_t> indices;
            for (auto& id : plan.batch(at, batch_size)) indices.push_back(id.index);
            return indices;
          },
          nb::arg("at"), nb::arg("batch_size"), "The numbers of the samples of the batch at a cursor.")
      .def("next_epoch", &Plan::next_epoch, nb::arg("at"), nb::arg("batch_size"));

  nb::class_<Prefetcher>(m, "ReaderPrefetcher")
      .def(
          "__init__",
          [](Prefetcher* prefetcher, const SourceHandle& handle, const Plan& plan, const Cursor& start, int batch_size,
             bool batches,
             int depth) { new (prefetcher) Prefetcher(handle.source, plan, start, batch_size, batches, depth); },
          nb::arg("source"), nb::arg("plan"), nb::arg("start"), nb::arg("batch_size"), nb::arg("batches"),
          nb::arg("depth"))
      .def_prop_ro("cursor", &Prefetcher::cursor)
      .def("take", &take);
}

}  // namespace avida::python
