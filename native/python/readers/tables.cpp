// Tables as a Source: rows of Parquet files, and of other tables that are read part by part.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "python/feed.h"
#include "python/readers/readers.h"
#include "python/readers/table_cache.h"
#include "runtime/lineage.h"
#include "runtime/thread_pool.h"

namespace avida::python {
namespace {

// Where a part of the tables lies.
struct PartPlace {
  std::string name;   // of the file
  int64_t first = 0;  // its first row there
  int64_t rows = 0;
};

struct TablesLayout {
  std::vector<PartPlace> places;
  std::vector<TableCache::Part> parts;       // of which those that are not read have no rows
  std::vector<int64_t> firsts;               // the first row of each part, among those of all
  int64_t rows = 0;                          // of all parts
  std::optional<std::vector<int64_t>> kept;  // the row of each sample, if they are not simply all

  int64_t part_of(int64_t row) const { return std::ranges::upper_bound(firsts, row) - firsts.begin() - 1; }
};

// Rows of the parts that a Python object loads: load(part) gives a table. Rows have no Python object.
class TableSource : public Source {
 public:
  // `forget`: each row is read once in a while. `in_order`: parts are read one after another.
  TableSource(nb::object tables, std::string name, TablesLayout layout, int64_t limit, bool forget, bool in_order,
              int threads)
      : name_(std::move(name)),
        layout_(std::move(layout)),
        in_order_(in_order),
        threads_(threads),
        types_(arrow::types_of(tables.attr("schema"))),
        cache_(layout_.parts, limit, forget),
        tables_(hold(std::move(tables))) {
    for (const arrow::ColumnType& type : types_) outputs_.push_back(type.meta());
  }

  PyObject* object() const { return static_cast<PyObject*>(tables_.get()); }
  const char* name() const override { return name_.c_str(); }
  int64_t size() const override { return layout_.kept ? std::ssize(*layout_.kept) : layout_.rows; }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  int most_threads() const override { return threads_; }
  int64_t loads() const { return cache_.loads(); }
  const std::vector<arrow::ColumnType>& types() const { return types_; }

  std::string describe(int64_t index) const override {
    const int64_t row = row_of(index), part = part_of(row);
    const PartPlace& place = layout_.places[static_cast<size_t>(part)];
    std::string name = place.name;  // quickly, since each row has one
    name += '[';
    name += std::to_string(place.first + row - layout_.firsts[static_cast<size_t>(part)]);
    name += ']';
    return name;
  }

  std::unique_ptr<Sample> open(int64_t, const storage::Fetched&) const override {
    refuse(name(), ": rows are read in batches");
  }

  void start_thread(std::function<void()> work) const override {
    WithGil acquired;
    start_python_thread([work = std::move(work)] {
      WithoutGil released;
      work();
    });
  }

  std::vector<int64_t> blocks() const override {
    if (!layout_.kept) return layout_.firsts;
    std::vector<int64_t> firsts;
    int64_t last = -1;
    for (int64_t i = 0; i < size(); i++)
      if (const int64_t part = part_of(row_of(i)); part != last) {
        firsts.push_back(i);
        last = part;
      }
    return firsts;
  }

  bool makes_batches() const override { return true; }
  std::optional<std::vector<ValuePtr>> read_batch(const Request& request) const override {
    std::vector<SampleId> ids(request.ids.begin(), request.ids.end());
    TableCache::Found found;
    find_parts(ids, request, found);
    std::map<int64_t, int64_t> taken;
    for (const SampleId& id : ids) taken[part_of(row_of(id.index))]++;
    std::vector<Data> columns = columns_of(ids, found, request);
    for (auto [part, rows] : taken) cache_.took(part, rows);
    std::vector<ValuePtr> values;
    if (ids.empty()) return values;
    for (Data& data : columns) values.push_back(std::make_shared<Value>(std::move(data), request.batches));
    begin_lineage(values);
    return values;
  }

 private:
  int64_t row_of(int64_t index) const { return layout_.kept ? (*layout_.kept)[static_cast<size_t>(index)] : index; }
  int64_t part_of(int64_t row) const { return layout_.part_of(row); }

  // Loads the parts in which the samples lie. Samples of those that cannot be loaded may be left out.
  void find_parts(std::vector<SampleId>& ids, const Request& request, TableCache::Found& found) const {
    std::vector<int64_t> needed;
    for (const SampleId& id : ids)
      if (const int64_t part = part_of(row_of(id.index)); std::ranges::find(needed, part) == needed.end())
        needed.push_back(part);
    std::vector<int64_t> soon;
    for (int64_t part = needed.empty() ? 0 : needed.back() + 1;
         in_order_ && std::ssize(soon) < threads_ && part < std::ssize(layout_.parts); part++)
      if (layout_.parts[static_cast<size_t>(part)].rows > 0) soon.push_back(part);
    const auto interrupt = [&] {
      if (request.stop && *request.stop) throw Stopped();
      answer_signals()();
    };
    const auto load = [&](int64_t part) { return this->load(part, request); };
    if (!request.skipped) {
      found = cache_.get(needed, soon, load, interrupt);
      return;
    }
    for (int64_t part : needed) {
      try {
        found.merge(cache_.get({&part, 1}, soon, load, interrupt));
      } catch (const FailureError& error) {
        std::erase_if(ids, [&](const SampleId& id) {
          if (part_of(row_of(id.index)) != part) return false;
          request.skipped->push_back({origin(id), error.failure->message});
          return true;
        });
      }
    }
  }

  TablePartPtr load(int64_t part, const Request& request) const {
    if (request.stop && *request.stop) throw Stopped();
    WithGil acquired;
    const PartPlace& place = layout_.places[static_cast<size_t>(part)];
    try {
      const nb::object made = call_python(nb::handle(object()).attr("load"), {nb::int_(part).ptr()});
      auto table = arrow::Table::of(made, place.first);
      if (table->size() != place.rows) refuse("expected ", place.rows, " rows, got ", table->size());
      check_types(*table);
      Block memory = table->memory();
      const auto bytes = nb::cast<int64_t>(made.attr("nbytes"));
      return std::make_shared<const TablePart>(std::move(table), std::move(memory), bytes);
    } catch (nb::python_error& error) {
      if (!request.prefetching && !is_fault_of_item(error)) throw;
      const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
      throw FailureError(std::make_shared<const Failure>(
          Failure{ErrorKind::runtime, str(name(), ": ", place.name, ": ", type, ": ", nb::str(error.value()).c_str()),
                  nullptr}));
    } catch (const Error& error) {
      throw FailureError(std::make_shared<const Failure>(
          Failure{error.kind, str(name(), ": ", place.name, ": ", error.message), nullptr}));
    }
  }

  void check_types(const arrow::Table& table) const {
    const bool same = std::ranges::equal(table.types(), types_, [](const auto& found, const auto& expected) {
      return found.path == expected.path && found.rows.dtype == expected.rows.dtype &&
             found.ndim() == expected.ndim() && found.is_file == expected.is_file;
    });
    if (!same) refuse("expected columns of the types that all have, got others");
  }

  struct Place {
    const TablePart* part;
    int64_t row;  // in it
  };

  // The samples of each column; those with nulls may be left out.
  std::vector<Data> columns_of(std::vector<SampleId>& ids, const TableCache::Found& found,
                               const Request& request) const {
    std::vector<Place> places;
    places.reserve(ids.size());
    for (const SampleId& id : ids) {
      const int64_t row = row_of(id.index), part = part_of(row);
      places.push_back({found.at(part).get(), row - layout_.firsts[static_cast<size_t>(part)]});
    }
    try {
      return pick_columns(ids, places);
    } catch (const Error&) {
      leave_out_bad(ids, places, request);
    }
    return pick_columns(ids, places);
  }

  // Reports samples with nulls, or leaves them out.
  void leave_out_bad(std::vector<SampleId>& ids, std::vector<Place>& places, const Request& request) const {
    size_t kept = 0;
    for (size_t i = 0; i < ids.size(); i++) {
      try {
        for (size_t k = 0; k < types_.size(); k++) {
          const arrow::RowAt at = places[i].part->table->at(k, places[i].row);
          at.column->row(at.row);
        }
      } catch (const Error& error) {
        note_error(ids[i], error, request);
        continue;
      }
      ids[kept] = ids[i];
      places[kept++] = places[i];
    }
    ids.resize(kept);
    places.resize(kept);
  }

  std::vector<Data> pick_columns(const std::vector<SampleId>& ids, const std::vector<Place>& places) const {
    std::vector<Data> columns;
    if (ids.empty()) return columns;
    std::vector<Block> memory;
    memory.reserve(places.size());
    for (const Place& place : places) memory.push_back(place.part->memory);
    const Origins origins = origins_of(ids);
    std::vector<arrow::RowAt> rows(places.size());
    for (size_t k = 0; k < types_.size(); k++) {
      for (size_t i = 0; i < rows.size(); i++) rows[i] = places[i].part->table->at(k, places[i].row);
      columns.push_back(arrow::pick(types_[k], rows, memory));
      columns.back().origins = types_[k].is_file ? named(*origins, rows) : origins;
    }
    return columns;
  }

  void note_error(const SampleId& id, const Error& error, const Request& request) const {
    if (!request.skipped)
      throw FailureError(std::make_shared<const Failure>(Failure{
          error.kind,
          str(name(), ": ", describe(id.index), ": ", error.message, "; on_error=\"skip\" leaves such rows out"),
          nullptr}));
    request.skipped->push_back({origin(id), error.message});
  }

  Origins origins_of(const std::vector<SampleId>& ids) const {
    std::vector<Origin> origins;
    origins.reserve(ids.size());
    for (const SampleId& id : ids) origins.push_back({describe(id.index), id.index, id.pass, {}});
    return std::make_shared<const std::vector<Origin>>(std::move(origins));
  }

  // Files have names of their own.
  static Origins named(std::vector<Origin> origins, const std::vector<arrow::RowAt>& rows) {
    for (size_t i = 0; i < rows.size(); i++)
      if (std::string name = rows[i].column->file_name(rows[i].row); !name.empty()) origins[i].source = std::move(name);
    return std::make_shared<const std::vector<Origin>>(std::move(origins));
  }

  const std::string name_;
  const TablesLayout layout_;
  const bool in_order_;
  const int threads_;
  const std::vector<arrow::ColumnType> types_;
  mutable TableCache cache_;
  const std::shared_ptr<void> tables_;
  std::vector<Meta> outputs_;
};

struct TableSourceHandle : SourceHandle {
  const TableSource& tables() const { return static_cast<const TableSource&>(*source); }

  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<TableSourceHandle>(self)->tables().object());
    return 0;
  }
};

PyType_Slot collected_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(TableSourceHandle::traverse)},
    {0, nullptr},
};

// Parts are (name of the file, first row there, rows, bytes).
TablesLayout layout_of(nb::list parts, std::optional<nb::bytes> kept) {
  TablesLayout layout;
  for (nb::handle part : parts) {
    layout.places.push_back({path_of(part[0]), nb::cast<int64_t>(part[1]), nb::cast<int64_t>(part[2])});
    layout.parts.push_back({layout.places.back().rows, nb::cast<int64_t>(part[3])});
    layout.firsts.push_back(layout.rows);
    if (__builtin_add_overflow(layout.rows, layout.places.back().rows, &layout.rows))
      value_error("the tables have too many rows");
  }
  if (!kept) return layout;
  auto& rows = layout.kept.emplace(kept->size() / sizeof(int64_t));
  std::memcpy(rows.data(), kept->data(), rows.size() * sizeof(int64_t));
  if (std::ranges::any_of(rows, [&](int64_t row) { return row < 0 || row >= layout.rows; }))
    value_error("expected rows from 0 to ", layout.rows - 1);
  for (TableCache::Part& part : layout.parts) part.rows = 0;
  for (int64_t row : rows) layout.parts[static_cast<size_t>(layout.part_of(row))].rows++;
  return layout;
}

const BindFormat tables([](nb::module_& m) {
  nb::class_<TableSourceHandle, SourceHandle>(m, "TableSource", nb::type_slots(collected_slots))
      .def(
          "__init__",
          [](TableSourceHandle* self, nb::object tables, std::string name, nb::list parts,
             std::optional<nb::bytes> kept, int64_t limit, bool forget, bool in_order, int threads) {
            auto source =
                std::make_shared<TableSource>(std::move(tables), std::move(name), layout_of(parts, std::move(kept)),
                                              limit, forget, in_order, threads);
            new (self) TableSourceHandle{{std::move(source)}};
          },
          nb::arg("tables"), nb::arg("name"), nb::arg("parts"), nb::arg("kept").none(), nb::arg("limit"),
          nb::arg("forget"), nb::arg("in_order"), nb::arg("threads"),
          "The rows of parts of tables, which are (name of the file, first row there, rows, bytes), or those of them "
          "whose numbers, of 64 bits, are kept. tables.load(part) gives a table, of tables.schema.")
      .def_prop_ro("loads", [](TableSourceHandle& handle) { return handle.tables().loads(); })
      .def_prop_ro("paths", [](TableSourceHandle& handle) {
        std::vector<std::vector<std::string>> paths;
        for (const arrow::ColumnType& type : handle.tables().types()) paths.push_back(type.path);
        return paths;
      });
});

}  // namespace
}  // namespace avida::python
