// Readers: the order of samples, and batches read ahead. Formats bind themselves.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/readers/readers.h"
#include "readers/prefetcher.h"

namespace avida::python {
namespace {

std::vector<BindFormat::Function>& formats() {
  static std::vector<BindFormat::Function> list;
  return list;
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

BindFormat::BindFormat(Function function) { formats().push_back(function); }

std::string path_of(nb::handle text) {
  nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(text.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  auto name = nb::borrow<nb::bytes>(bytes);
  std::string path(name.c_str(), name.size());
  if (path.find('\0') != std::string::npos) value_error("a file name cannot contain a null character");
  return path;
}

std::vector<std::string> paths_of(nb::handle texts) {
  std::vector<std::string> paths;
  for (nb::handle text : texts) paths.push_back(path_of(text));
  return paths;
}

void bind_readers(nb::module_& m) {
  m.attr("MAX_BATCH_SIZE") = kMaxSamples;

  nb::class_<SourceHandle>(m, "ReaderSource").def_prop_ro("size", [](SourceHandle& handle) {
    return handle.source->size();
  });
  for (auto bind : formats()) bind(m);

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
