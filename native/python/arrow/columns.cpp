#include "python/arrow/columns.h"

#include <algorithm>
#include <cstring>

#include "runtime/memory.h"

namespace avida::python::arrow {
namespace {

constexpr int kInline = 12;  // bytes of a view that lie in it

struct View {
  int32_t size;
  union {
    char here[kInline];
    struct {
      char prefix[4];
      int32_t buffer, offset;
    } there;
  };
};

template <class Offset>
bool equal_lists(const Offset* offsets, int64_t lists, int64_t& begin, int64_t& end, int64_t& extent) {
  begin = offsets[0];
  end = offsets[lists];
  extent = static_cast<int64_t>(offsets[1]) - offsets[0];
  for (int64_t i = 1; i < lists; i++)
    if (static_cast<int64_t>(offsets[i + 1]) - offsets[i] != extent) return false;
  return true;
}

}  // namespace

Column::Column(const ColumnType& type, const ArrowArray& table, int64_t first)
    : type_(&type), size_(table.length), first_(first) {
  const ArrowArray* at = &table;
  const ArrowArray* parent = &table;
  for (int64_t field : type.fields) {
    structs_.push_back(part_of(*at, 1, -1));
    parent = at;
    at = &child_of(*at, field);
  }
  if (type.index != DType::none) {
    indices_ = part_of(*at, 2, 1);
    if (!at->dictionary) refuse_array();
    at = at->dictionary;
  }
  rows_ = rows_of(type.rows, *at);
  if (type.is_file) paths_ = rows_of(type.paths, child_of(*parent, type.path_field));
  if (type.shape_field >= 0) shapes_ = rows_of(type.shapes, child_of(*parent, type.shape_field));
  const auto address = reinterpret_cast<uintptr_t>(rows_.elements.data);
  in_place_ = type.rows.dtype != DType::boolean && address % static_cast<uintptr_t>(size_of(type.rows.dtype)) == 0;
  if (size_ == 0 || !is_even()) return;
  row(size_ - 1);  // checks the end
  const Row row = this->row(0);
  even_ = Even{row.at, volume(row.shape) * size_of(type.rows.dtype), row.shape};
}

Column::Part Column::part_of(const ArrowArray& array, int buffers, int data) const {
  if (array.n_buffers < buffers || array.length < 0 || array.offset < 0 || !array.buffers) refuse_array();
  Part part;
  part.array = &array;
  part.offset = array.offset;
  part.length = array.length;
  if (array.null_count != 0) part.validity = static_cast<const uint8_t*>(array.buffers[0]);
  if (data >= 0) part.data = array.buffers[data];
  return part;
}

const ArrowArray& Column::child_of(const ArrowArray& array, int64_t i) const {
  if (i >= array.n_children || !array.children || !array.children[i]) refuse_array();
  return *array.children[i];
}

Column::Rows Column::rows_of(const RowType& type, const ArrowArray& array) const {
  Rows rows;
  rows.type = &type;
  const ArrowArray* at = &array;
  for (const RowType::Level& level : type.levels) {
    const bool last = &level == &type.levels.back();
    const bool fixed = level.kind == RowType::Level::fixed;
    if (type.bytes && last) {
      rows.levels.push_back(part_of(*at, fixed ? 2 : level.kind == RowType::Level::views ? 2 : 3, fixed ? -1 : 1));
      rows.elements.data = fixed ? at->buffers[1] : level.kind == RowType::Level::views ? nullptr : at->buffers[2];
      rows.elements.length = INT64_MAX;
      return rows;
    }
    rows.levels.push_back(part_of(*at, fixed ? 1 : 2, fixed ? -1 : 1));
    at = &child_of(*at, 0);
  }
  rows.elements = part_of(*at, 2, 1);
  return rows;
}

Column::Row Column::row(int64_t i) const {
  const int64_t number = first_ + i;
  for (const Part& part : structs_) {
    i += part.offset;
    check_nulls(part, i, i + 1, number);
  }
  if (type_->index != DType::none) i = number_in_dictionary(i, number);
  Row found = find(rows_, i, number);
  if (!type_->has_shapes) return found;
  const Shape shape = shape_at(i, number);
  if (checked_volume(shape) != volume(found.shape))
    value_error("row ", number, " of ", type_->name(), " has ", volume(found.shape), " elements, which its shape ",
                shape, " does not fit");
  found.shape = shape;
  return found;
}

Shape Column::shape_at(int64_t i, int64_t number) const {
  if (type_->shape_field < 0) return type_->extents;
  const Row extents = find(shapes_, i, number);
  Shape shape;
  for (int64_t k = 0; k < volume(extents.shape); k++)
    shape.push_back(type_->shapes.dtype == DType::int32 ? reinterpret_cast<const int32_t*>(extents.at)[k]
                                                        : reinterpret_cast<const int64_t*>(extents.at)[k]);
  if (shape.size() != type_->ndim())
    value_error("row ", number, " of ", type_->name(), " has ", shape.size(), " axes, expected ", type_->ndim());
  return shape;
}

std::string Column::file_name(int64_t i) const {
  if (!type_->is_file) return {};
  const int64_t number = first_ + i;
  for (const Part& part : structs_) i += part.offset;
  const Part& paths = paths_.levels[0];
  if (paths.is_null(i + paths.offset)) return {};
  const Row row = find(paths_, i, number);
  return std::string(row.at, static_cast<size_t>(volume(row.shape)));
}

int64_t Column::number_in_dictionary(int64_t i, int64_t number) const {
  i += indices_.offset;
  check_nulls(indices_, i, i + 1, number);
  if (!indices_.data) refuse_array();
  const auto entries = static_cast<uint64_t>(rows_.levels.empty() ? rows_.elements.length : rows_.levels[0].length);
  const uint64_t entry = with_dtype(type_->index, [&](auto tag) {
    return static_cast<uint64_t>(static_cast<const typename decltype(tag)::type*>(indices_.data)[i]);
  });
  if (entry >= entries)
    value_error(type_->name(), ": row ", number, " refers to a value that its dictionary of ", entries, " lacks");
  return static_cast<int64_t>(entry);
}

Column::Row Column::find(const Rows& rows, int64_t i, int64_t number) const {
  Row found;
  int64_t begin = i, end = i + 1;
  for (size_t k = 0; k < rows.levels.size(); k++) {
    const RowType::Level& level = rows.type->levels[k];
    const Part& part = rows.levels[k];
    if (begin < 0 || end > part.length) refuse_array();
    const int64_t first = begin + part.offset, lists = end - begin;
    check_nulls(part, first, first + lists, number);
    if (level.kind == RowType::Level::fixed) {
      const int64_t width = volume(level.extents);
      for (int64_t extent : level.extents) found.shape.push_back(extent);
      if (__builtin_mul_overflow(first, width, &begin) || __builtin_mul_overflow(first + lists, width, &end))
        refuse_array();
      continue;
    }
    if (lists > 0 && !part.data) refuse_array();
    if (level.kind == RowType::Level::views) {
      if (lists != 1) type_error(type_->name(), ": row ", number, " has lists of texts; cast them to binary");
      Row text = view(part, first, number);
      found.shape.push_back(text.shape[0]);
      found.at = text.at;
      return found;
    }
    int64_t extent = 0;
    bool equal = true;
    if (lists == 0)
      begin = end = 0;
    else if (level.kind == RowType::Level::list32)
      equal = equal_lists(static_cast<const int32_t*>(part.data) + first, lists, begin, end, extent);
    else
      equal = equal_lists(static_cast<const int64_t*>(part.data) + first, lists, begin, end, extent);
    if (!equal)
      value_error(type_->name(), ": row ", number,
                  " has lists of different lengths inside, which are no array; flatten it, or pad them to one length");
    if (begin < 0 || extent < 0 || end < begin) refuse_array();
    found.shape.push_back(extent);
  }
  const Part& elements = rows.elements;
  if (begin < 0 || end > elements.length) refuse_array();
  begin += elements.offset;
  end += elements.offset;
  check_nulls(elements, begin, end, number);
  if (begin < end && !elements.data) refuse_array();
  if (rows.type->dtype == DType::boolean) {
    found.at = static_cast<const char*>(elements.data);
    found.bit = begin;
  } else if (elements.data) {
    found.at = static_cast<const char*>(elements.data) + begin * size_of(rows.type->dtype);
  }
  return found;
}

Column::Row Column::view(const Part& views, int64_t i, int64_t number) const {
  const View& view = static_cast<const View*>(views.data)[i];
  Row row;
  row.shape.push_back(view.size);
  if (view.size < 0) refuse_array();
  if (view.size <= kInline) {
    row.at = view.here;
    return row;
  }
  // The buffers of bytes lie between those of views and that of their lengths.
  const int64_t buffer = view.there.buffer, buffers = views.array->n_buffers - 3;
  const auto* lengths = buffers < 0 ? nullptr : static_cast<const int64_t*>(views.array->buffers[buffers + 2]);
  if (!lengths || buffer < 0 || buffer >= buffers || view.there.offset < 0 ||
      int64_t{view.there.offset} + view.size > lengths[buffer])
    value_error(type_->name(), ": row ", number, " refers to bytes that the column lacks");
  row.at = static_cast<const char*>(views.array->buffers[buffer + 2]) + view.there.offset;
  return row;
}

bool Column::is_even() const {
  auto even = [](const Part& part) { return !part.validity; };
  auto fixed = [](const RowType::Level& level) { return level.kind == RowType::Level::fixed; };
  return in_place_ && type_->index == DType::none && !type_->has_shapes && std::ranges::all_of(structs_, even) &&
         std::ranges::all_of(rows_.levels, even) && even(rows_.elements) &&
         std::ranges::all_of(type_->rows.levels, fixed);
}

void Column::check_nulls(const Part& part, int64_t begin, int64_t end, int64_t number) const {
  if (!part.validity) return;
  for (int64_t i = begin; i < end; i++)
    if (part.is_null(i)) refuse_null(number);
}

void Column::refuse_null(int64_t number) const {
  if (type_->is_file) {
    const std::string path = file_name(number - first_);
    if (!path.empty())
      value_error("row ", number, " of ", type_->name(), " has no bytes, only the path '", path,
                  "'; readers.File reads files");
  }
  value_error("row ", number, " of ", type_->name(),
              " is null, or has a null inside; leave such rows out (drop_null() of pyarrow) or fill them "
              "(pyarrow.compute.fill_null)");
}

void Column::refuse_array() const {
  value_error(type_->name(), ": expected an array of Arrow that fits its schema; its producer is at fault");
}

namespace {

void unpack(const char* bits, int64_t first, int64_t count, bool* to) {
  for (int64_t i = 0; i < count; i++) to[i] = bits[(first + i) / 8] >> ((first + i) % 8) & 1;
}

}  // namespace

Data gather(const ColumnType& type, std::span<const RowAt> rows) {
  const int n = static_cast<int>(rows.size());
  struct Place {
    const char* at;
    int64_t bit;
  };
  std::vector<Place> places;
  places.reserve(rows.size());
  Meta meta = type.meta();
  meta.samples = n;
  ShapeList shapes(n, meta.ndim);
  for (int i = 0; i < n; i++) {
    const Column::Row row = rows[i].column->row(rows[i].row);
    shapes.set(i, row.shape);
    places.push_back({row.at, row.bit});
  }
  Data out = allocate_data(meta, shapes);
  for (int i = 0; i < n; i++) {
    const int64_t bytes = out.bytes(i);
    if (bytes == 0) continue;
    if (type.rows.dtype == DType::boolean)
      unpack(places[i].at, places[i].bit, bytes, static_cast<bool*>(out.at(i)));
    else
      std::memcpy(out.at(i), places[i].at, static_cast<size_t>(bytes));
  }
  return out;
}

}  // namespace avida::python::arrow
