// Arrays of other libraries as tensors: they share their memory, or copy it.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "gpu/gpu.h"
#include "python/values/values.h"
#include "runtime/memory.h"

namespace avida::python {
namespace {

DType dtype_from(nb::dlpack::dtype d) {
  using Code = nb::dlpack::dtype_code;
  auto code = static_cast<Code>(d.code);
  if (d.lanes != 1) return DType::none;
  for (int i = 0; i < kDTypeCount; i++) {
    DType t = static_cast<DType>(i);
    Code want = t == DType::boolean    ? Code::Bool
                : t == DType::bfloat16 ? Code::Bfloat
                : is_float(t)          ? Code::Float
                : is_signed(t)         ? Code::Int
                                       : Code::UInt;
    if (code == want && d.bits == size_of(t) * 8) return t;
  }
  return DType::none;
}

// One sample that shares or copies the memory of a foreign array, which must be C-contiguous. It is `read_only`
// for those who get the tensor's memory; others may be able to write to it nevertheless.
nb::object tensor_from_array(nb::ndarray<nb::ro> array, const std::string& layout, bool copy, bool read_only,
                             bool others_write) {
  DType dtype = dtype_from(array.dtype());
  if (dtype == DType::none) type_error("the array's element type is not supported");
  if (array.device_type() != nb::device::cpu::value) type_error("the array is not in CPU memory");
  Data data;
  data.dtype = dtype;
  Shape shape;
  for (size_t d = 0; d < array.ndim(); d++) shape.push_back(static_cast<int64_t>(array.shape(d)));
  data.shapes = ShapeList(1, shape);
  data.layout = layout_for(layout, shape.size());
  const int64_t bytes = checked_volume(shape) * size_of(dtype);
  Shape dense = dense_strides(shape);
  bool contiguous = true;
  for (int d = 0; d < shape.size(); d++) contiguous &= shape[d] <= 1 || array.stride(d) == dense[d];
  if (!contiguous && bytes > 0) value_error("the array is not C-contiguous");
  void* source = const_cast<void*>(array.data());
  bool aligned = reinterpret_cast<uintptr_t>(source) % size_of(dtype) == 0;
  if (copy || !aligned) {
    Block block = allocate(bytes);
    if (bytes) std::memcpy(block.get(), source, bytes);
    data.place(block, block.get(), 0);
  } else {
    auto keeper = hold(nb::capsule(new nb::ndarray<nb::ro>(array),
                                   [](void* p) noexcept { delete static_cast<nb::ndarray<nb::ro>*>(p); }));
    const Borrowed borrowed = others_write ? Borrowed::to_write : Borrowed::to_read;
    data.place(Block(source, BlockDeleter([keeper](void*) {}, borrowed)), source, 0);
    data.read_only = read_only;
  }
  return wrap(std::move(data), false);
}

// GPU memory of another library, for the work of `stream`; it is kept alive until that work is done.
nb::object gpu_tensor(void* memory, const Shape& shape, DType dtype, const std::string& layout, bool read_only,
                      std::shared_ptr<void> keeper, const GpuStream& stream) {
  Data data;
  data.dtype = dtype;
  data.device = {Device::Kind::gpu, static_cast<int16_t>(stream.device)};
  data.stream = stream.handle;
  data.shapes = ShapeList(1, shape);
  data.layout = layout_for(layout, shape.size());
  data.read_only = read_only;
  auto release = [keeper = std::move(keeper), device = stream.device, handle = stream.handle](void*) {
    at_the_end([&] { Gpu::at(device).keep_until_done(keeper, handle); });
  };
  Block block(memory, BlockDeleter(std::move(release), Borrowed::to_write));
  data.place(std::move(block), memory, 0);
  return wrap(std::move(data), false);
}

nb::object from_dlpack(nb::ndarray<nb::ro> array, const std::string& layout, std::shared_ptr<GpuStream> stream) {
  DType dtype = dtype_from(array.dtype());
  if (dtype == DType::none) type_error("the array's element type is not supported");
  Shape shape;
  for (size_t d = 0; d < array.ndim(); d++) shape.push_back(static_cast<int64_t>(array.shape(d)));
  const bool empty = checked_volume(shape) == 0;
  Shape dense = dense_strides(shape);
  for (int d = 0; d < shape.size(); d++)
    if (shape[d] > 1 && array.stride(d) != dense[d] && !empty) value_error("the array is not C-contiguous");
  auto keeper = hold(nb::capsule(new nb::ndarray<nb::ro>(array),
                                 [](void* p) noexcept { delete static_cast<nb::ndarray<nb::ro>*>(p); }));
  return gpu_tensor(const_cast<void*>(array.data()), shape, dtype, layout, false, std::move(keeper), *stream);
}

nb::object from_cuda_array(const std::string& type, std::vector<int64_t> extents, nb::object strides,
                           std::pair<uintptr_t, bool> memory, nb::object other, nb::object owner,
                           const std::string& layout, std::shared_ptr<GpuStream> stream) {
  DType dtype = DType::none;
  for (int i = 0; i < kDTypeCount; i++)
    if (name_of(static_cast<DType>(i)) == type) dtype = static_cast<DType>(i);
  if (dtype == DType::none) type_error("the array's element type ", type, " is not supported");
  Shape shape{std::span<const int64_t>(extents)};
  checked_volume(shape);
  if (!strides.is_none()) {
    auto given = nb::cast<std::vector<int64_t>>(strides);
    if (std::ssize(given) != shape.size()) value_error("expected ", shape.size(), " strides, got ", given.size());
    Shape dense = dense_strides(shape);
    for (int d = 0; d < shape.size(); d++)
      if (shape[d] > 1 && given[d] != dense[d] * size_of(dtype)) value_error("the array is not C-contiguous");
  }
  if (!other.is_none())
    Gpu::at(stream->device).wait(stream->handle, reinterpret_cast<StreamHandle>(nb::cast<uintptr_t>(other)));
  return gpu_tensor(reinterpret_cast<void*>(memory.first), shape, dtype, layout, memory.second, hold(std::move(owner)),
                    *stream);
}

}  // namespace

void bind_imports(nb::module_& m) {
  m.def("tensor_from_array", &tensor_from_array, nb::arg("array"), nb::arg("layout"), nb::arg("copy"),
        nb::arg("read_only") = false, nb::arg("others_write") = true);
  m.def("gpu_tensor_from_dlpack", &from_dlpack, nb::arg("array"), nb::arg("layout"), nb::arg("stream"));
  m.def("gpu_tensor_from_array", &from_cuda_array, nb::arg("type"), nb::arg("shape"), nb::arg("strides").none(),
        nb::arg("memory"), nb::arg("stream").none(), nb::arg("owner"), nb::arg("layout"), nb::arg("own_stream"));
}

}  // namespace avida::python
