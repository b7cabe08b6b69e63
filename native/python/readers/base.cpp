// Readers: the order of samples, and prefetched batches. Formats bind themselves.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "python/feed.h"
#include "python/readers/readers.h"
#include "readers/blocks/block_order.h"
#include "readers/prefetcher.h"
#include "readers/reading.h"

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

nb::object text_of(const std::string& name) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
}

// (source, index, epoch, error, part)
nb::tuple described(const Skipped& sample) {
  const auto& [origin, error] = sample;
  nb::object message = nb::steal(PyUnicode_DecodeUTF8(error.data(), static_cast<Py_ssize_t>(error.size()), "replace"));
  nb::object part = origin.part ? nb::object(nb::cast(origin.part->name)) : nb::none();
  return nb::make_tuple(text_of(origin.source), origin.index, origin.epoch, message, part);
}

constexpr Py_ssize_t kMostErrors = 1000;

// The items of one epoch, which begins with the first: the batch, empty if all its samples were skipped; the skipped
// samples, as (source, index, epoch, error, part); and the cursor of the batch. Beginning, noting that an item was
// given out and ending change the position of the reader in one C function each.
class EpochItems : public Feed {
 public:
  EpochItems(std::shared_ptr<Position> position, nb::list errors, std::optional<int> batch_size)
      : position_(std::move(position)), errors_(std::move(errors)), batch_size_(batch_size) {}

  std::optional<int> batch_size() const { return batch_size_; }
  bool is_begun() const { return reading_ != nullptr; }
  bool has_ended() const { return ended(); }
  bool has_given() const { return has_given_; }  // not just left out
  int64_t given() const { return reading_ ? reading_->given() : 0; }
  int64_t size() const { return reading_ ? reading_->items() : 0; }

  // Gives it the next epoch, unless another one has got that since `reading` was made.
  void begin(const Reading& prepared, const SourceHandle& source, int depth, bool one_epoch, bool skip_errors,
             const std::shared_ptr<UserLoop>& loop, int ahead, bool grows) {
    if (reading_ || position_->next() != prepared.from()) return;
    auto reading = std::make_shared<Reading>(prepared);
    options_ = {static_cast<int>(reading->batch_size()),
                batch_size_.has_value(),
                depth,
                one_epoch,
                skip_errors,
                reading->turns().items,
                grows};
    prefetcher_ = position_->begin(reading, options_);
    if (!prefetcher_ && reading->items() > 0)
      prefetcher_ = std::make_shared<Prefetcher>(source.source, reading->schedule(), reading->first(), options_);
    epoch_ = reading->epoch();
    moves_ = position_->moves();
    reading_ = std::move(reading);
    run_ahead(loop->is_open() ? std::make_shared<UserLoop>() : loop, ahead, grows);
  }

  // Whether it has more items of this size. If there are more, but not of this size, they become the next epoch.
  bool goes_on(std::optional<int> batch_size) {
    if (ended()) return false;
    if (batch_size == batch_size_) return !reading_ || moves_ == position_->moves();
    if (reading_ && reading_ == position_->newest()) position_->move_to(position_->state());
    return false;
  }

 protected:
  nb::object next() override {
    collect_garbage();
    std::optional<Prefetcher::Item> item;
    if (std::shared_ptr<Prefetcher> kept = prefetcher_) {  // another thread may reach the end meanwhile, and drop it
      WithoutGil released;
      item = kept->take(epoch_, answer_signals());
    }
    if (!item) return {};
    nb::list skipped;
    for (const Skipped& sample : item->skipped) skipped.append(described(sample));
    return nb::make_tuple(wrap_all(item->values), skipped, item->cursor);
  }

  void commit(nb::handle, nb::handle item, nb::handle made) override {
    note_skipped(item[1]);
    reading_->note_given(nb::cast<Cursor>(item[2]));
    has_given_ |= !made.is_none();
  }

  bool end(nb::handle) override {
    if (moves_ == position_->moves()) position_->end(reading_, prefetcher_, options_);
    prefetcher_ = nullptr;
    return false;
  }

  profile::Event taking_item() const override {
    return prefetcher_ ? prefetcher_->taking_item() : profile::Event{.kind = profile::Kind::item};
  }

  UserLoop::Peek peek() override { return prefetcher_ ? UserLoop::Peek(prefetcher_->peek(epoch_)) : nullptr; }
  void when_read(std::function<void()> function) override { prefetcher_->when_read(std::move(function)); }

 private:
  // Changes nothing before all that can fail is done.
  void note_skipped(const nb::object& samples) {
    if (nb::len(samples) == 0) return;
    const nb::object error = nb::module_::import_("avida.readers._epoch").attr("ReadError");
    nb::list made;
    for (nb::handle sample : samples) made.append(error(*nb::borrow<nb::tuple>(sample)));
    errors_.attr("total") = nb::int_(nb::cast<int64_t>(errors_.attr("total")) + static_cast<int64_t>(nb::len(made)));
    errors_.extend(made);
    const Py_ssize_t more = PyList_GET_SIZE(errors_.ptr()) - kMostErrors;
    if (more > 0 && PyList_SetSlice(errors_.ptr(), 0, more, nullptr)) throw nb::python_error();
  }

  const std::shared_ptr<Position> position_;
  nb::list errors_;
  const std::optional<int> batch_size_;     // none: single samples
  std::shared_ptr<Reading> reading_;        // null until it begins
  std::shared_ptr<Prefetcher> prefetcher_;  // null if it has no items, and at its end: the next epoch continues with it
  Prefetcher::Options options_;
  int64_t epoch_ = 0;
  uint64_t moves_ = 0;  // of the position, when it began
  bool has_given_ = false;
};

template <HasChoices E>
E member_of(const std::string& name) {
  return static_cast<E>(choices_of(E()).number_of(name));
}

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

// How many outputs a sample has; None where that is known with the first one.
nb::object outputs_of(const SourceHandle& handle) {
  const std::vector<Meta>& outputs = handle.source->outputs();
  if (!std::ranges::all_of(outputs, &Meta::known)) return nb::none();
  return nb::int_(outputs.size());
}

nb::object classes_of(const SourceHandle& handle) {
  const auto classes = handle.source->classes();
  if (!classes) return nb::none();
  nb::dict names;
  for (auto& [label, name] : *classes) names[nb::int_(label)] = text_of(name);
  return names;
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

namespace {

void bind_orders(nb::module_& m) {
  nb::class_<Cursor>(m, "ReaderCursor")
      .def(nb::init<>())
      .def_ro("epoch", &Cursor::epoch)
      .def_ro("done", &Cursor::done)
      .def_ro("pass_", &Cursor::pass)
      .def_ro("position", &Cursor::position)
      .def(
          "__eq__", [](const Cursor& a, const Cursor& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"));

  nb::class_<BlockOrder>(m, "ReaderBlocks")
      .def(nb::new_([](const std::vector<int64_t>& firsts, int64_t samples, int64_t window) {
             return std::make_shared<BlockOrder>(firsts, samples, window);
           }),
           nb::arg("firsts"), nb::arg("samples"), nb::arg("window"),
           "The order of samples in blocks with these first samples.");

  nb::class_<Schedule>(m, "ReaderSchedule")
      .def(
          "__init__",
          [](Schedule* self, const ReaderState& from, int64_t samples, int shard, bool stick, const std::string& last,
             const std::string& shuffle, std::shared_ptr<BlockOrder> blocks,
             std::optional<std::vector<int64_t>> order) {
            Schedule schedule;
            schedule.samples = samples;
            schedule.shards = from.shards;
            schedule.shard = shard;
            schedule.stick = stick;
            schedule.last = member_of<LastBatch>(last);
            schedule.shuffle = member_of<Shuffle>(shuffle);
            schedule.seed = from.seed;
            schedule.blocks = std::move(blocks);
            if (order) {
              schedule.order = std::make_shared<const std::vector<int64_t>>(std::move(*order));
              schedule.samples = std::ssize(*schedule.order);
              schedule.shuffle = Shuffle::none;
              if (schedule.last == LastBatch::wrap) schedule.last = LastBatch::partial;
            }
            schedule.resume(from);
            new (self) Schedule(std::move(schedule));
          },
          nb::arg("from_"), nb::arg("samples"), nb::kw_only(), nb::arg("shard") = 0, nb::arg("stick") = false,
          nb::arg("last") = "wrap", nb::arg("shuffle") = "no shuffling", nb::arg("blocks").none() = nb::none(),
          nb::arg("order").none() = nb::none(),
          "The order of samples from a state on. An order of the user's own replaces that of its epoch.")
      .def_prop_ro("padded_samples", &Schedule::padded_samples)
      .def("cursor", &Schedule::cursor, nb::arg("phase"), "Where this shard stands at the end of a phase.")
      .def("steps", &Schedule::steps, nb::arg("at"), nb::arg("batch_size"))
      .def(
          "batch",
          [](const Schedule& schedule, const Cursor& at, int64_t batch_size) {
            std::vector<std::pair<int64_t, int64_t>> ids;
            for (auto& id : schedule.batch(at, batch_size)) ids.emplace_back(id.index, id.pass);
            return ids;
          },
          nb::arg("at"), nb::arg("batch_size"), "Number and pass of the samples of the batch at a cursor.")
      .def("after", &Schedule::after, nb::arg("at"), nb::arg("batch_size"))
      .def("next_epoch", &Schedule::next_epoch, nb::arg("at"), nb::arg("batch_size"));
}

void bind_epochs(nb::module_& m) {
  nb::class_<Reading>(m, "Reading", "An epoch of a reader, or one of several workers' part of it.")
      .def(
          "__init__",
          [](Reading* self, const Schedule& schedule, const ReaderState& from, int64_t batch_size, int first, int turns,
             uint64_t own_order) { new (self) Reading(schedule, from, batch_size, own_order, {first, turns}); },
          nb::arg("schedule"), nb::arg("from_"), nb::arg("batch_size"), nb::arg("first"), nb::arg("turns"),
          nb::arg("own_order") = 0)
      .def_prop_ro("batches", &Reading::batches)
      .def_prop_ro("items", &Reading::items);

  nb::class_<Position>(m, "ReaderPosition", "Where a reader stands.")
      .def(nb::new_([](const ReaderState& state) { return std::make_shared<Position>(state); }), nb::arg("state"))
      .def_prop_ro(
          "next", [](const Position& position) { return position.next(); }, "The state at which the next epoch begins.")
      .def_prop_ro("state", &Position::state, "The state behind the last item that the newest epoch has given out.")
      .def_prop_ro(
          "own_order", [](const Position& position) { return position.newest() ? position.newest()->own_order() : 0; },
          "A checksum of the user's own order of the epoch that is being read; 0 without one.")
      .def("move_to", &Position::move_to, nb::arg("state"));

  nb::class_<EpochItems, Feed>(m, "ReaderItems")
      .def(nb::init<std::shared_ptr<Position>, nb::list, std::optional<int>>(), nb::arg("position"), nb::arg("errors"),
           nb::arg("batch_size").none())
      .def_prop_ro("batch_size", &EpochItems::batch_size)
      .def_prop_ro("is_begun", &EpochItems::is_begun)
      .def_prop_ro("has_ended", &EpochItems::has_ended)
      .def_prop_ro("has_given", &EpochItems::has_given)
      .def_prop_ro("given", &EpochItems::given)
      .def("__len__", &EpochItems::size)
      .def("begin", &EpochItems::begin, nb::arg("reading"), nb::arg("source"), nb::arg("depth"), nb::arg("one_epoch"),
           nb::arg("skip_errors"), nb::arg("loop"), nb::arg("ahead"), nb::arg("grows"),
           "Gives it the next epoch, unless another one has got that since `reading` was made.")
      .def("goes_on", &EpochItems::goes_on, nb::arg("batch_size").none(),
           "Whether it has more items of this size. If they are of another size, the next epoch is the rest.");
}

}  // namespace

void bind_readers(nb::module_& m) {
  m.attr("MAX_BATCH_SIZE") = kMaxSamples;
  nb::list last_batches;
  for (const Choice& choice : kChoicesOfLastBatch.list())
    last_batches.append(nb::str(choice.name.data(), choice.name.size()));
  m.attr("LAST_BATCHES") = nb::tuple(last_batches);

  nb::class_<SourceHandle>(m, "ReaderSource")
      .def_prop_ro("size", [](SourceHandle& handle) { return handle.source->size(); })
      .def_prop_ro("blocks", [](SourceHandle& handle) { return handle.source->blocks(); })
      .def_prop_ro("outputs", &outputs_of, nb::sig("def outputs(self) -> int | None"))
      .def_prop_ro("columns", [](SourceHandle& handle) { return handle.source->columns(); })
      .def_prop_ro("classes", &classes_of, nb::sig("def classes(self) -> dict[int, str] | None"));
  bind_reader_states(m);
  for (auto bind : formats()) bind(m);

  m.def("read_samples", &read_numbers, nb::arg("source"), nb::arg("indices"), nb::arg("epoch"), nb::arg("batches"));
  bind_orders(m);
  bind_epochs(m);
}

}  // namespace avida::python
