// Readers: the order of samples, and prefetched batches. Formats bind themselves.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "python/feed.h"
#include "python/readers/readers.h"
#include "readers/prefetcher.h"

namespace avida::python {
namespace {

std::vector<BindFormat::Function>& formats() {
  static std::vector<BindFormat::Function> list;
  return list;
}

nb::tuple wrap_all(std::vector<ValuePtr>& values) {
  nb::list out;
  for (auto& value : values) out.append(wrap(std::move(value)));
  return nb::tuple(out);
}

// The items of one epoch: the batch, empty if all its samples were skipped; the skipped samples, as (source, index,
// epoch, error); and the cursor of the batch.
class EpochItems : public Feed {
 public:
  EpochItems(nb::object prefetcher, int64_t epoch) : prefetcher_(std::move(prefetcher)), epoch_(epoch) {}

 protected:
  nb::object next() override {
    collect_garbage();
    std::optional<Prefetcher::Item> item;
    if (nb::object kept = prefetcher_; !kept.is_none()) {  // another thread may reach the end meanwhile, and drop it
      Prefetcher& prefetcher = nb::cast<Prefetcher&>(kept);
      WithoutGil released;
      item = prefetcher.take(epoch_, answer_signals());
    }
    if (!item) {
      prefetcher_ = nb::none();  // the next epoch continues with it
      return {};
    }
    nb::list skipped;
    for (auto& sample : item->skipped)
      skipped.append(nb::make_tuple(
          nb::steal(
              PyUnicode_DecodeFSDefaultAndSize(sample.source.data(), static_cast<Py_ssize_t>(sample.source.size()))),
          sample.id.index, sample.id.pass,
          nb::steal(
              PyUnicode_DecodeUTF8(sample.error.data(), static_cast<Py_ssize_t>(sample.error.size()), "replace"))));
    return nb::make_tuple(wrap_all(item->values), skipped, item->cursor);
  }

  profile::Event taking_item() const override {
    if (prefetcher_.is_none()) return {.kind = profile::Kind::item};
    return nb::cast<Prefetcher&>(prefetcher_).taking_item();
  }

  Loop::Peek peek() override {
    return prefetcher_.is_none() ? nullptr : Loop::Peek(nb::cast<Prefetcher&>(prefetcher_).peek(epoch_));
  }
  void when_read(std::function<void()> function) override {
    nb::cast<Prefetcher&>(prefetcher_).when_read(std::move(function));
  }

 private:
  nb::object prefetcher_;
  const int64_t epoch_;
};

nb::tuple read_numbers(const SourceHandle& handle, const std::vector<int64_t>& indices, int64_t epoch, bool batches) {
  std::vector<SampleId> ids;
  for (int64_t index : indices) ids.push_back({index, epoch});
  std::vector<ValuePtr> values;
  {
    WithoutGil released;
    values = read_batch(*handle.source, ids, batches, answer_signals());
  }
  return wrap_all(values);
}

// Six integers, and three for each stretch.
Phase phase_of(const std::vector<int64_t>& numbers) {
  if (numbers.size() < 6 || numbers.size() % 3 != 0 || numbers[0] < 1 || numbers[0] > INT32_MAX)
    value_error("expected the phase of a run");
  Phase phase{static_cast<int>(numbers[0]), numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], {}};
  for (size_t i = 6; i < numbers.size(); i += 3)
    phase.stretches.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  return phase;
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

  m.def("read_samples", &read_numbers, nb::arg("source"), nb::arg("indices"), nb::arg("epoch"), nb::arg("batches"));

  nb::class_<Cursor>(m, "ReaderCursor")
      .def(nb::init<>())
      .def_ro("epoch", &Cursor::epoch)
      .def_ro("done", &Cursor::done)
      .def_ro("pass_", &Cursor::pass)
      .def_ro("position", &Cursor::position)
      .def(
          "__eq__", [](const Cursor& a, const Cursor& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"));

  using History = std::vector<std::vector<int64_t>>;
  nb::class_<Plan>(m, "ReaderPlan")
      .def(
          "__init__",
          [](Plan* self, int64_t samples, int shards, int shard, bool stick, int last, int shuffle, uint64_t seed,
             std::optional<std::vector<int64_t>> order, const History& history) {
            Plan plan;
            plan.samples = samples;
            plan.shards = shards;
            plan.shard = shard;
            plan.stick = stick;
            plan.last = static_cast<Plan::Last>(last);
            plan.shuffle = static_cast<Plan::Shuffle>(shuffle);
            plan.seed = seed;
            if (order) plan.order = std::make_shared<const std::vector<int64_t>>(std::move(*order));
            std::vector<Phase> phases;
            for (auto& numbers : history) phases.push_back(phase_of(numbers));
            plan.resume(phases);
            new (self) Plan(std::move(plan));
          },
          nb::arg("samples"), nb::arg("shards"), nb::arg("shard"), nb::arg("stick"), nb::arg("last"),
          nb::arg("shuffle"), nb::arg("seed"), nb::arg("order").none() = nb::none(), nb::arg("history") = History(),
          "Each phase of a history: shards, base, taken, epoch, done, batch size, then its stretches.")
      .def_prop_ro("padded_samples", &Plan::padded_samples)
      .def(
          "cursor", [](const Plan& plan, const std::vector<int64_t>& phase) { return plan.cursor(phase_of(phase)); },
          nb::arg("phase"), "Where this shard stands at the end of a phase.")
      .def(
          "taken", [](const Plan& plan, const std::vector<int64_t>& phase) { return plan.taken(phase_of(phase)); },
          nb::arg("phase"), "How many samples this shard has taken in a phase.")
      .def("steps", &Plan::steps, nb::arg("at"), nb::arg("batch_size"))
      .def(
          "batch",
          [](const Plan& plan, const Cursor& at, int64_t batch_size) {
            std::vector<std::pair<int64_t, int64_t>> ids;
            for (auto& id : plan.batch(at, batch_size)) ids.emplace_back(id.index, id.pass);
            return ids;
          },
          nb::arg("at"), nb::arg("batch_size"), "Number and pass of the samples of the batch at a cursor.")
      .def("after", &Plan::after, nb::arg("at"), nb::arg("batch_size"))
      .def("behind", &Plan::behind, nb::arg("at"), nb::arg("batch_size"))
      .def("next_epoch", &Plan::next_epoch, nb::arg("at"), nb::arg("batch_size"));

  nb::class_<Prefetcher>(m, "ReaderPrefetcher")
      .def(
          "__init__",
          [](Prefetcher* prefetcher, const SourceHandle& handle, const Plan& plan, const Cursor& start, int batch_size,
             bool batches, int depth, bool one_epoch, bool skip_errors, int stride) {
            new (prefetcher)
                Prefetcher(handle.source, plan, start, {batch_size, batches, depth, one_epoch, skip_errors, stride});
          },
          nb::arg("source"), nb::arg("plan"), nb::arg("start"), nb::arg("batch_size"), nb::arg("batches"),
          nb::arg("depth"), nb::arg("one_epoch"), nb::arg("skip_errors"), nb::arg("stride") = 1)
      .def_prop_ro("cursor", &Prefetcher::cursor)
      .def_prop_ro("one_epoch", &Prefetcher::one_epoch);

  nb::class_<EpochItems, Feed>(m, "ReaderItems")
      .def(nb::init<nb::object, int64_t>(), nb::arg("prefetcher").none(), nb::arg("epoch"));
}

}  // namespace avida::python
