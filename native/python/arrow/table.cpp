#include "python/arrow/table.h"

#include <algorithm>
#include <utility>

namespace avida::python::arrow {
namespace {

// What was taken from its producer.
struct Taken {
  ArrowSchema schema{};
  std::deque<ArrowArray> arrays;

  Taken() = default;
  Taken(const Taken&) = delete;
  ~Taken() {
    for (ArrowArray& array : arrays)
      if (array.release) array.release(&array);
    if (schema.release) schema.release(&schema);
  }
};

template <class T>
void take(nb::handle capsule, const char* name, T& to) {
  auto* from = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!from) throw nb::python_error();
  if (!from->release)
    value_error("expected a capsule \"", name, "\" with its content, got one whose content was taken");
  to = std::exchange(*from, T{});
}

void check(ArrowArrayStream& stream, int error) {
  if (error == 0) return;
  const char* text = stream.get_last_error ? stream.get_last_error(&stream) : nullptr;
  refuse("reading from the stream of Arrow failed: ", text ? text : "its producer does not say why");
}

// The producer may need the GIL in other threads.
void take_stream(nb::handle capsule, Taken& taken) {
  ArrowArrayStream stream{};
  take(capsule, "arrow_array_stream", stream);
  struct Release {
    ArrowArrayStream& stream;
    ~Release() { stream.release(&stream); }
  } release{stream};
  WithoutGil released;
  check(stream, stream.get_schema(&stream, &taken.schema));
  while (true) {
    ArrowArray& array = taken.arrays.emplace_back();
    check(stream, stream.get_next(&stream, &array));
    if (array.release) continue;
    taken.arrays.pop_back();
    return;
  }
}

void take_all(nb::handle object, Taken& taken) {
  if (nb::hasattr(object, "__arrow_c_stream__")) {
    take_stream(object.attr("__arrow_c_stream__")(), taken);
  } else if (nb::hasattr(object, "__arrow_c_array__")) {
    const nb::object pair = object.attr("__arrow_c_array__")();
    if (!nb::isinstance<nb::tuple>(pair) || nb::len(pair) != 2)
      type_error("expected a schema and an array from __arrow_c_array__");
    take(pair[0], "arrow_schema", taken.schema);
    take(pair[1], "arrow_array", taken.arrays.emplace_back());
  } else {
    type_error("expected a table or a column of Arrow, with __arrow_c_stream__ or __arrow_c_array__, got ",
               nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__")));
  }
}

bool are_even(std::span<void* const> samples, int64_t step) {
  for (size_t i = 1; i < samples.size(); i++)
    if (static_cast<char*>(samples[i]) != static_cast<char*>(samples[i - 1]) + step) return false;
  return true;
}

alignas(64) char nothing[64];  // where samples without elements lie

}  // namespace

std::shared_ptr<const Table> Table::of(nb::handle object, int64_t first) {
  auto owned = std::make_unique<Taken>();
  take_all(object, *owned);
  Taken& taken = *owned;
  auto table = std::make_shared<Table>();
  table->memory_ = hold(nb::capsule(owned.release(), [](void* p) noexcept { delete static_cast<Taken*>(p); }));
  table->types_ = columns_of(taken.schema);
  table->is_column_ = !is_table(taken.schema);
  table->columns_.resize(table->types_.size());
  for (const ArrowArray& array : taken.arrays) {
    for (size_t k = 0; k < table->types_.size(); k++)
      table->columns_[k].emplace_back(table->types_[k], array, first + table->size_);
    if (__builtin_add_overflow(table->size_, array.length, &table->size_)) value_error("the table is too long");
  }
  return table;
}

Data Table::batch(size_t k) const {
  if (size_ > kMaxSamples)
    value_error("a batch can have at most ", kMaxSamples, " samples, the table has ", size_,
                " rows; take slices of it");
  Data data = place(k);
  const ColumnType& type = types_[k];
  if (!type.is_file) return data;
  auto origins = std::make_shared<std::vector<Origin>>();
  for (const Column& column : columns_[k])
    for (int64_t i = 0; i < column.size(); i++)
      origins->push_back({column.file_name(i), static_cast<int64_t>(origins->size()), -1, {}});
  data.origins = std::move(origins);
  return data;
}

Data Table::place(size_t k) const {
  const ColumnType& type = types_[k];
  const std::vector<Column>& parts = columns_[k];
  const int n = static_cast<int>(size_);
  Data data;
  data.dtype = type.rows.dtype;
  data.layout = type.layout;
  data.read_only = true;
  bool in_place = true;
  for (const Column& column : parts) in_place &= column.in_place();
  if (in_place && n > 0 && parts.size() == 1 && parts[0].is_even()) {
    parts[0].row(n - 1);  // checks the end
    const Column::Row first = parts[0].row(0);
    data.shapes = ShapeList(n, first.shape);
    data.place(memory(), const_cast<char*>(first.at ? first.at : nothing), volume(first.shape) * size_of(data.dtype));
    return data;
  }
  std::vector<RowAt> rows;
  for (const Column& column : parts)
    for (int64_t i = 0; i < column.size(); i++) rows.push_back({&column, i});
  const std::vector<Block> blocks{memory()};
  return pick(type, rows, blocks);
}

RowAt Table::at(size_t k, int64_t row) const {
  const std::vector<Column>& parts = columns_[k];
  size_t part = 0;
  while (part + 1 < parts.size() && row >= parts[part].size()) row -= parts[part++].size();
  return {&parts[part], row};
}

Block Table::memory() const {
  return Block(memory_.get(),
               BlockDeleter([kept = memory_](void*) {}, Borrowed::to_read));  // blocks are told apart by address
}

std::vector<ColumnType> types_of(nb::handle object) {
  Taken taken;
  take(object.attr("__arrow_c_schema__")(), "arrow_schema", taken.schema);
  return columns_of(taken.schema);
}

Data pick(const ColumnType& type, std::span<const RowAt> rows, std::span<const Block> memory) {
  const int n = static_cast<int>(rows.size());
  Data data;
  data.dtype = type.rows.dtype;
  data.layout = type.layout;
  data.read_only = true;
  data.shapes = ShapeList(n, type.ndim());
  if (!std::ranges::all_of(rows, [](const RowAt& row) { return row.column->in_place(); })) return gather(type, rows);
  std::vector<void*> samples;
  for (int i = 0; i < n; i++) {
    const Column::Row row = rows[static_cast<size_t>(i)].column->row(rows[static_cast<size_t>(i)].row);
    data.shapes.set(i, row.shape);
    samples.push_back(const_cast<char*>(row.at ? row.at : nothing));
  }
  const bool one = memory.size() == 1 || std::ranges::count(memory, memory[0]) == std::ssize(memory);
  if (n > 0 && data.shapes.uniform()) {  // samples of one shape are one array, which PyTorch takes as it is
    const int64_t step = data.bytes(0);
    if (!one || !are_even(samples, step)) return gather(type, rows);
    data.place(memory[0], samples[0], step);
  } else if (one) {
    data.place(memory[0], std::move(samples));
  } else {
    data.place(std::vector(memory.begin(), memory.end()), std::move(samples));
  }
  return data;
}

}  // namespace avida::python::arrow
