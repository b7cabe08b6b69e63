#include "python/arrow/outgoing.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "runtime/memory.h"

namespace avida::python::arrow {
namespace {

alignas(64) const char nothing[64] = {};  // where rows without elements lie

const char* format_of(const std::string& name, DType dtype) {
  static constexpr const char* formats[kDTypeCount] = {"C", "S", "I", "L", "c", "s", "i", "l", "e", "f", "g", "b"};
  const char* format = formats[static_cast<int>(stored_as(dtype))];
  if (!format)
    type_error("column '", name, "': Arrow has no ", dtype,
               "; cast it first, for example with avida.cast(x, dtype=avida.float32)");
  return format;
}

int64_t elements_in(const Data& samples) {
  int64_t elements = 0;
  for (int i = 0; i < samples.size(); i++) elements += volume(samples.shapes.dims(i));
  return elements;
}

// Whether each sample begins where the one before it ends, at an address that its elements may have.
bool adjacent(const Data& samples) {
  const char* end = nullptr;
  for (int i = 0; i < samples.size(); i++) {
    const auto* at = static_cast<const char*>(samples.at(i));
    const int64_t bytes = samples.bytes(i);
    if (bytes == 0) continue;
    if (end ? at != end : reinterpret_cast<uintptr_t>(at) % static_cast<uintptr_t>(size_of(samples.dtype)) != 0)
      return false;
    end = at + bytes;
  }
  return true;
}

const void* first_of(const Data& samples) {
  for (int i = 0; i < samples.size(); i++)
    if (samples.bytes(i) > 0) return samples.at(i);
  return nothing;
}

Block joined(const Data& samples) {
  Block block = allocate(std::max<int64_t>(1, elements_in(samples) * size_of(samples.dtype)));
  auto* to = static_cast<char*>(block.get());
  for (int i = 0; i < samples.size(); i++) {
    const int64_t bytes = samples.bytes(i);
    if (bytes > 0) std::memcpy(to, samples.at(i), static_cast<size_t>(bytes));
    to += bytes;
  }
  return block;
}

// Bools, which are bytes here, as bits.
Block packed(const Data& samples) {
  const int64_t bytes = (elements_in(samples) + 7) / 8;
  Block block = allocate(std::max<int64_t>(1, bytes));
  auto* bits = static_cast<uint8_t*>(block.get());
  std::memset(bits, 0, static_cast<size_t>(bytes));
  int64_t at = 0;
  for (int i = 0; i < samples.size(); i++) {
    const auto* bools = static_cast<const bool*>(samples.at(i));
    const int64_t count = volume(samples.shapes.dims(i));
    for (int64_t k = 0; k < count; k++, at++)
      if (bools[k]) bits[at / 8] |= static_cast<uint8_t>(1 << (at % 8));
  }
  return block;
}

// Pairs of texts as the metadata of a schema: their number, and each text after its length.
std::string metadata_of(std::initializer_list<std::pair<std::string, std::string>> pairs) {
  std::string out;
  auto add = [&](size_t number) {
    const auto value = static_cast<int32_t>(number);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  add(pairs.size());
  for (const auto& [key, value] : pairs) {
    add(key.size());
    out += key;
    add(value.size());
    out += value;
  }
  return out;
}

template <class Items>
std::string json_list(const Items& items, const char* quote) {
  std::string out = "[";
  for (const auto& item : items) out += str(out.size() > 1 ? "," : "", quote, item, quote);
  return out + "]";
}

std::string tensor_type(const char* name, const std::string& shape, const Layout& layout) {
  std::string json = shape;
  if (!layout.empty()) json += str(json.empty() ? "" : ",", "\"dim_names\":", json_list(layout.view(), "\""));
  return metadata_of({{"ARROW:extension:name", name}, {"ARROW:extension:metadata", str('{', json, '}')}});
}

// Frees a struct with its children. Its own memory holds all that its pointers lead to.
template <class Struct, class Owned>
void release(Struct* self) {
  for (int64_t i = 0; i < self->n_children; i++)
    if (Struct* child = self->children[i]; child->release) child->release(child);
  self->release = nullptr;
  delete static_cast<Owned*>(self->private_data);
}

struct OwnedSchema {
  std::string name, format, metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};

struct OwnedArray {
  std::vector<const void*> buffers;
  std::vector<Block> kept;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

template <class Owned>
void point_at_children(Owned& owned) {
  for (auto& child : owned.children) owned.pointers.push_back(&child);
}

}  // namespace

Outgoing Outgoing::column(std::string name, const Data& samples, Wish wish) {
  const int ndim = samples.shapes.ndim(), rows = wish.rows ? samples.size() : 0;
  if (ndim == 0) return elements(std::move(name), samples, wish.rows);
  if (ndim == 1 && samples.dtype == DType::uint8 && wish.binary) {
    Outgoing bytes = elements(std::move(name), samples, wish.rows);
    bytes.format_ = "Z";
    bytes.length_ = rows;
    std::vector<const void*> data = std::exchange(bytes.buffers_, {nullptr});
    bytes.add_offsets<int64_t>(samples, wish.rows);
    bytes.buffers_.push_back(data[1]);
    return bytes;
  }
  Outgoing items = elements("item", samples, wish.rows);
  if (!wish.ragged && samples.size() > 0 && samples.shapes.uniform()) {
    const Shape shape = samples.shapes[0];
    Outgoing tensors(std::move(name), str("+w:", volume(shape)), rows);
    tensors.metadata_ =
        tensor_type("arrow.fixed_shape_tensor", str("\"shape\":", json_list(shape, "")), samples.layout);
    tensors.children_.push_back(std::move(items));
    return tensors;
  }
  if (ndim == 1) {
    Outgoing lists(std::move(name), "+L", rows);
    lists.add_offsets<int64_t>(samples, wish.rows);
    lists.children_.push_back(std::move(items));
    return lists;
  }
  if (elements_in(samples) > INT32_MAX)
    value_error("column '", name, "' has ", elements_in(samples),
                " elements, and Arrow's tensors of various shapes at most ", INT32_MAX,
                "; take fewer samples at a time");
  Outgoing data("data", "+l", rows);
  data.add_offsets<int32_t>(samples, wish.rows);
  data.children_.push_back(std::move(items));
  std::vector<Outgoing> fields;
  fields.push_back(std::move(data));
  fields.push_back(shapes(samples, wish.rows));
  Outgoing tensors = of(std::move(name), std::move(fields), rows);
  tensors.metadata_ = tensor_type("arrow.variable_shape_tensor", "", samples.layout);
  return tensors;
}

Outgoing Outgoing::of(std::string name, std::vector<Outgoing> fields, int64_t rows) {
  Outgoing fields_of(std::move(name), "+s", rows);
  fields_of.is_table_ = fields_of.name_.empty();
  fields_of.children_ = std::move(fields);
  return fields_of;
}

Outgoing Outgoing::elements(std::string name, const Data& samples, bool rows) {
  if (samples.device.kind == Device::Kind::gpu)
    type_error("column '", name, "' is in GPU memory; use batch.cpu() first");
  const char* format = format_of(name, samples.dtype);
  Outgoing out(std::move(name), format, rows ? elements_in(samples) : 0);
  if (!rows) {
    out.buffers_.push_back(nothing);
  } else if (samples.dtype == DType::boolean) {
    Block block = packed(samples);
    out.add_buffer(block, block.get());
  } else if (adjacent(samples)) {
    const auto blocks = samples.blocks();
    out.kept_.assign(blocks.begin(), blocks.end());
    out.buffers_.push_back(first_of(samples));
  } else {
    Block block = joined(samples);
    out.add_buffer(block, block.get());
  }
  return out;
}

Outgoing Outgoing::shapes(const Data& samples, bool rows) {
  const int n = rows ? samples.size() : 0, ndim = samples.shapes.ndim();
  std::vector<int32_t> extents;
  for (int i = 0; i < n; i++)
    for (int64_t extent : samples.shapes.dims(i)) extents.push_back(static_cast<int32_t>(extent));
  Outgoing numbers("item", "i", int64_t{n} * ndim);
  numbers.add_numbers(std::move(extents));
  Outgoing shapes("shape", str("+w:", ndim), n);
  shapes.children_.push_back(std::move(numbers));
  return shapes;
}

void Outgoing::add_buffer(Block block, const void* at) {
  kept_.push_back(std::move(block));
  buffers_.push_back(at);
}

template <class T>
void Outgoing::add_numbers(std::vector<T> numbers) {
  auto owned = std::make_shared<std::vector<T>>(std::move(numbers));
  const void* at = owned->empty() ? static_cast<const void*>(nothing) : owned->data();
  add_buffer(std::move(owned), at);
}

template <class Offset>
void Outgoing::add_offsets(const Data& samples, bool rows) {
  std::vector<Offset> offsets{0};
  for (int i = 0; rows && i < samples.size(); i++)
    offsets.push_back(static_cast<Offset>(offsets.back() + volume(samples.shapes.dims(i))));
  add_numbers(std::move(offsets));
}

ArrowSchema Outgoing::schema() const {
  auto owned = std::make_unique<OwnedSchema>(OwnedSchema{name_, format_, metadata_, {}, {}});
  for (const Outgoing& child : children_) owned->children.push_back(child.schema());
  point_at_children(*owned);
  ArrowSchema schema{};
  schema.format = owned->format.c_str();
  schema.name = owned->name.c_str();
  schema.metadata = owned->metadata.empty() ? nullptr : owned->metadata.data();
  schema.flags = is_table_ ? 0 : kNullable;  // as columns of others are, so that tables can be joined
  schema.n_children = static_cast<int64_t>(children_.size());
  schema.children = owned->pointers.data();
  schema.release = release<ArrowSchema, OwnedSchema>;
  schema.private_data = owned.release();
  return schema;
}

ArrowArray Outgoing::array() && {
  auto owned = std::make_unique<OwnedArray>(OwnedArray{std::move(buffers_), std::move(kept_), {}, {}});
  for (Outgoing& child : children_) owned->children.push_back(std::move(child).array());
  point_at_children(*owned);
  ArrowArray array{};
  array.length = length_;
  array.n_buffers = static_cast<int64_t>(owned->buffers.size());
  array.buffers = owned->buffers.data();
  array.n_children = static_cast<int64_t>(owned->children.size());
  array.children = owned->pointers.data();
  array.release = release<ArrowArray, OwnedArray>;
  array.private_data = owned.release();
  return array;
}

}  // namespace avida::python::arrow
