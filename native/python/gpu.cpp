// GPUs and their streams.
#include "cuda/gpu.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "cuda/compiler.h"
#include "cuda/driver.h"
#include "cuda/streams.h"
#include "op/gpu_call.h"
#include "python/python.h"

namespace avida::python {

DType dtype_from(nb::dlpack::dtype d);

namespace {

// When memory is given back, a driver that has ended already has nothing left to wait for.
template <class Fn>
void at_the_end(Fn fn) noexcept {
  try {
    fn();
  } catch (const Error&) {
  }
}

// Memory on a GPU that somebody else has made, for the work of `stream`; it is kept until that is done.
nb::object gpu_tensor(void* memory, const Shape& shape, DType dtype, const std::string& layout, bool read_only,
                      std::shared_ptr<void> keeper, const GpuStream& stream) {
  Data data;
  data.dtype = dtype;
  data.device = {Device::Kind::gpu, static_cast<int16_t>(stream.device)};
  data.stream = stream.handle;
  data.shapes = ShapeList(1, shape);
  data.layout = layout_for(layout, shape.size());
  data.read_only = read_only;
  Block block(memory, [keeper = std::move(keeper), device = stream.device, handle = stream.handle](void*) {
    at_the_end([&] { Gpu::at(device).keep_until_done(keeper, handle); });
  });
  data.place(std::move(block), memory, 0);
  return wrap(std::move(data), false);
}

nb::object from_dlpack(nb::ndarray<nb::ro> array, const std::string& layout, std::shared_ptr<GpuStream> stream) {
  DType dtype = dtype_from(array.dtype());
  if (dtype == DType::none) type_error("the array's element type is not supported");
  Shape shape;
  for (size_t d = 0; d < array.ndim(); d++) shape.push_back(static_cast<int64_t>(array.shape(d)));
  Shape dense = dense_strides(shape);
  for (int d = 0; d < shape.size(); d++)
    if (shape[d] > 1 && array.stride(d) != dense[d] && volume(shape) > 0) value_error("the array is not C-contiguous");
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

Device device_from(int gpu) { return gpu < 0 ? Device() : Device{Device::Kind::gpu, static_cast<int16_t>(gpu)}; }

}  // namespace

Block lend(const Data& data, intptr_t stream) {
  if (stream < 0) return data.owner(0);
  auto other = reinterpret_cast<StreamHandle>(stream);
  Gpu& gpu = Gpu::at(data.device.id);
  gpu.wait(other, data.stream);
  return Block(data.at(0), [kept = data.owner(0), &gpu, own = data.stream, other](void*) {
    at_the_end([&] { gpu.wait(own, other); });
  });
}

void bind_gpu(nb::module_& m) {
  nb::class_<GpuStream>(m, "NativeStream")
      .def(nb::new_([](int device) { return Gpu::at(device).create_stream(); }), nb::arg("device"))
      .def_static(
          "wrap",
          [](int device, uintptr_t handle, nb::object keeper) {
            Gpu::at(device);
            return std::make_shared<GpuStream>(device, reinterpret_cast<StreamHandle>(handle),
                                               [kept = hold(std::move(keeper))] {});
          },
          nb::arg("device"), nb::arg("handle"), nb::arg("keeper").none(),
          "A stream that somebody else has made; `keeper` lives as long.")
      .def_prop_ro("device", [](GpuStream& s) { return s.device; })
      .def_prop_ro("handle", [](GpuStream& s) { return reinterpret_cast<uintptr_t>(s.handle); })
      .def("synchronize", [](GpuStream& s) {
        WithoutGil released;
        Gpu::at(s.device).synchronize(s.handle);
      });
  m.def("gpu_count", &Gpu::count);
  m.def("gpu_missing", &Gpu::missing, "Why there is no GPU, in one line.");
  m.def("gpu_driver", [] {
    int version = 0;
    if (cuda::driver().missing.empty()) cuda::driver().driver_version(&version);
    return std::make_pair(version / 1000, version % 1000 / 10);
  });
  m.def("gpu_name", [](int device) { return Gpu::at(device).name(); });
  m.def("gpu_architecture", [](int device) { return Gpu::at(device).architecture(); });
  m.def("gpu_memory_use", [](int device) {
    Gpu& gpu = Gpu::at(device);
    const int64_t budget = gpu.memory_budget();
    return std::make_tuple(gpu.bytes_in_use(), gpu.bytes_kept(),
                           budget == Gpu::kUnlimited ? std::nullopt : std::optional(budget));
  });
  m.def(
      "set_gpu_memory_budget",
      [](int device, std::optional<int64_t> bytes) {
        WithoutGil released;  // memory goes back when the GPU has done what uses it
        Gpu::at(device).set_memory_budget(bytes.value_or(Gpu::kUnlimited));
      },
      nb::arg("device"), nb::arg("bytes").none());
  m.def("kernel_cache_folder", &kernel_cache_folder);
  m.def("set_compiler_library", &set_compiler_library, nb::arg("path"));
  m.def("kernel_compiler", &compiler_version, "NVRTC's version, or why it cannot be used.");
  m.def("set_default_stream", &set_default_stream, nb::arg("device"), nb::arg("stream").none());
  m.def("default_stream", &default_stream, nb::arg("device"));
  m.def(
      "context_gpu",
      [](Context& context) {
        const int chosen = context.stream           ? context.stream->device
                           : context.device_id >= 0 ? context.device_id
                                                    : cuda::current_device();
        return chosen < Gpu::count() ? chosen : 0;
      },
      "The GPU of a context: that of its stream, the one it was made for, or the one this thread has chosen.");
  m.def(
      "gpu_of_memory", [](uintptr_t memory) { return cuda::device_of(reinterpret_cast<const void*>(memory)); },
      "The GPU whose memory this is, or -1.");
  m.def("context_stream", [](Context& context, int device) { return stream_of(context, device); });
  m.def(
      "set_context_stream",
      [](Context& context, std::shared_ptr<GpuStream> stream) { context.stream = std::move(stream); },
      nb::arg("context"), nb::arg("stream").none());
  m.def(
      "copy_gpu_tensor",
      [](TensorBase& tensor) {
        const Data& data = get(*tensor.value);
        Gpu& gpu = Gpu::at(data.device.id);
        Data out = data;
        out.read_only = false;
        {
          WithoutGil released;
          Block block = gpu.allocate(data.bytes(0), data.stream);
          if (data.bytes(0)) gpu.copy(block.get(), data.at(0), static_cast<size_t>(data.bytes(0)), data.stream);
          gpu.synchronize(data.stream);
          void* first = block.get();
          out.place(std::move(block), first, 0);
        }
        return wrap(std::move(out), false);
      },
      "A copy that is made when it returns: its source may be changed.");
  m.def("gpu_tensor_from_dlpack", &from_dlpack, nb::arg("array"), nb::arg("layout"), nb::arg("stream"));
  m.def("gpu_tensor_from_array", &from_cuda_array, nb::arg("type"), nb::arg("shape"), nb::arg("strides").none(),
        nb::arg("memory"), nb::arg("stream").none(), nb::arg("owner"), nb::arg("layout"), nb::arg("own_stream"));
  m.def(
      "to_device",
      [](nb::handle object, int gpu) {
        Context& context = *Ambient::here().current();
        auto stream = gpu < 0 ? nullptr : stream_of(context, gpu);
        auto task = std::make_shared<Transfer>(*value_of(object), device_from(gpu), std::move(stream));
        auto promise = task->promised();
        launch(task);
        EvalMode mode = Ambient::here().mode;
        if (mode == EvalMode::sync_cpu || mode == EvalMode::sync_full) promise->ready();
        return wrap(std::move(promise));
      },
      "The same on a GPU, or on the CPU for -1.");
}

}  // namespace avida::python
