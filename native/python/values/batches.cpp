// Batches of tensors, and tensors of batches: they share memory where they can.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "gpu/gpu.h"
#include "python/values/values.h"
#include "runtime/memory.h"

namespace avida::python {
namespace {

int checked_samples(int64_t n) {
  if (n > kMaxSamples) value_error("a batch can have at most ", kMaxSamples, " samples, got ", n);
  return static_cast<int>(n);
}

// Tensors as the samples of a batch that shares their memory.
nb::object batch_from_tensors(nb::list tensors, int dtype, const std::string& layout) {
  Data out;
  int n = checked_samples(static_cast<int64_t>(tensors.size()));
  int ndim = n ? 0 : static_cast<int>(layout.size());
  std::vector<void*> samples;
  std::vector<Block> owners;
  std::vector<Origin> origins;
  std::vector<LineagePtr> lineages;
  bool known = false;
  for (int i = 0; i < n; i++) {
    Value& value = *nb::cast<TensorBase&>(tensors[i]).value;
    const Data& data = get(value);
    lineages.push_back(lineage_of(value));
    if (i == 0) {
      out.dtype = data.dtype;
      out.device = data.device;
      out.stream = data.stream;
      ndim = data.shapes.ndim();
      out.shapes = ShapeList(n, ndim);
    }
    if (!(data.device == out.device)) value_error("sample ", i, " is on another device than the first one");
    if (data.dtype != out.dtype) type_error("sample ", i, " has the type ", data.dtype, ", the first one ", out.dtype);
    if (data.shapes.ndim() != ndim)
      refuse("all samples of a batch need the same number of axes: sample 0 has ", ndim, ", sample ", i, " has ",
             data.shapes.ndim());
    out.shapes.set(i, data.shapes[0]);
    samples.push_back(data.at(0));
    owners.push_back(data.stream == out.stream ? data.owner(0) : lend(data, reinterpret_cast<intptr_t>(out.stream)));
    if (out.layout.empty()) out.layout = data.layout;
    out.read_only |= data.read_only;
    known |= static_cast<bool>(data.origins);
    origins.push_back(data.origins ? (*data.origins)[0] : Origin());
  }
  if (n == 0) out.shapes = ShapeList(0, ndim);
  out.place(std::move(owners), std::move(samples));
  if (out.dtype == DType::none) out.dtype = static_cast<DType>(dtype);
  if (!layout.empty()) out.layout = layout_for(layout, ndim);
  if (known) out.origins = std::make_shared<const std::vector<Origin>>(std::move(origins));
  LineagePtr lineage = combine(lineages, out.origins);
  return wrap(std::move(out), true, std::move(lineage));
}

// The samples of a batch with those of groups in their places: each is a list of indices and a batch of as many
// samples.
nb::object merge(BatchBase& batch, nb::list groups) {
  const Data& old = get(*batch.value);
  const int n = old.size();
  std::vector<const Data*> from(n, &old);
  std::vector<int> at(n);
  for (int i = 0; i < n; i++) at[i] = i;
  const Data* first = &old;
  int changed = 0;
  for (nb::handle group : groups) {
    const auto indices = nb::cast<std::vector<int>>(group[0]);
    const Data& made = get(*nb::cast<BatchBase&>(group[1]).value);
    first = &made;
    for (size_t k = 0; k < indices.size(); k++) from[indices[k]] = &made, at[indices[k]] = static_cast<int>(k);
    changed += static_cast<int>(indices.size());
  }
  if (changed < n) first = &old;
  Data out;
  out.dtype = first->dtype;
  out.layout = first->layout;
  out.device = first->device;
  out.stream = first->stream;
  out.shapes = ShapeList(n, first->shapes.ndim());
  out.origins = old.origins;
  std::vector<void*> samples;
  std::vector<Block> owners;
  for (int i = 0; i < n; i++) {
    const Data& data = *from[i];
    if (data.dtype != out.dtype || data.shapes.ndim() != out.shapes.ndim() || !(data.device == out.device) ||
        !(data.layout == out.layout))
      refuse("expected results of one kind for all samples: sample ", i, " is ", data.dtype, " with ",
             data.shapes.ndim(), " axes and the layout \"", data.layout, "\", others are ", out.dtype, " with ",
             out.shapes.ndim(), " and \"", out.layout, "\"");
    out.shapes.set(i, data.shapes[at[i]]);
    samples.push_back(data.at(at[i]));
    owners.push_back(data.stream == out.stream ? data.owner(at[i])
                                               : lend(data, reinterpret_cast<intptr_t>(out.stream)));
    out.read_only |= data.read_only;
  }
  out.place(std::move(owners), std::move(samples));
  return wrap(std::move(out), true, lineage_of(*batch.value));
}

// The slices of a tensor along its first axis as the samples of a batch that shares its memory.
nb::object split(TensorBase& tensor, const std::string& layout) {
  const Data& data = get(*tensor.value);
  Shape shape = data.shapes[0];
  if (shape.empty()) value_error("a tensor without axes cannot be split into the samples of a batch");
  Data out;
  out.dtype = data.dtype;
  out.device = data.device;
  out.stream = data.stream;
  out.read_only = data.read_only;
  int n = checked_samples(shape[0]);
  Shape each(shape.span().subspan(1));
  out.layout = layout_for(layout, each.size());
  out.shapes = ShapeList(n, each);
  out.place(data.owner(0), data.at(0), volume(each) * size_of(data.dtype));
  return wrap(std::move(out), true);
}

// A uniform batch as one tensor with a new first axis; shares memory if the samples are contiguous, and in pinned
// memory if that is asked for: `pin` is the number of a GPU, or -1. Returns None if that would need a copy and `copy`
// is false.
nb::object join(BatchBase& batch, std::optional<bool> copy, const std::string& layout, int pin) {
  const Data& data = get(*batch.value);
  if (!data.shapes.uniform()) value_error("the samples differ in shape");
  if (data.size() == 0) refuse("an empty batch cannot be converted to a tensor");
  Data out;
  out.dtype = data.dtype;
  out.device = data.device;
  out.stream = data.stream;
  Shape shape = data.shapes[0];
  shape.insert(0, data.size());
  out.shapes = ShapeList(1, shape);
  out.layout = layout_for(layout, shape.size());
  if (data.contiguous() && !copy.value_or(false) && (pin < 0 || Gpu::is_pinned(data))) {
    out.place(data.owner(0), data.at(0), 0);
    out.read_only = data.read_only;
  } else if (copy == std::optional(false)) {
    return nb::none();
  } else {
    int64_t step = data.bytes(0);
    Gpu* gpu = data.device.kind == Device::Kind::gpu ? &Gpu::at(data.device.id) : nullptr;
    Block block;
    {
      WithoutGil released;
      const int64_t bytes = step * data.size();
      block = gpu        ? gpu->allocate(bytes, data.stream)
              : pin >= 0 ? Gpu::at(pin).allocate_pinned(bytes)
                         : allocate(bytes);
      for (int i = 0; step && i < data.size(); i++) {
        char* to = static_cast<char*>(block.get()) + step * i;
        if (gpu)
          gpu->copy(to, data.at(i), static_cast<size_t>(step), data.stream);
        else
          std::memcpy(to, data.at(i), step);
      }
    }
    out.place(block, block.get(), 0);
  }
  return wrap(std::move(out), false);
}

}  // namespace

void bind_batches(nb::module_& m, nb::class_<BatchBase>& batch) {
  batch
      .def("_sample",
           [](BatchBase& b, int i) {
             Data sample = get(*b.value).sample(i);
             return wrap(std::move(sample), false, select(lineage_of(*b.value), {i}));
           })
      .def("_select",
           [](BatchBase& b, std::vector<int> indices) {
             Data samples = get(*b.value).select(indices);
             return wrap(std::move(samples), true, select(lineage_of(*b.value), indices));
           })
      .def("_join", &join, nb::arg("copy").none(), nb::arg("layout"), nb::arg("pin") = -1);
  m.def("batch_from_tensors", &batch_from_tensors);
  m.def("merge", &merge, nb::arg("batch"), nb::arg("groups"));
  m.def("split", &split);
}

}  // namespace avida::python
