// GPUs and their streams.
#include "gpu/gpu.h"
#include "gpu/engines/nvdec.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "ahead/loop.h"
#include "gpu/compiler.h"
#include "gpu/driver.h"
#include "gpu/streams.h"
#include "operator/gpu_call.h"
#include "python/python.h"

namespace avida::python {

DType dtype_from(nb::dlpack::dtype d);

namespace {

// Ignores errors when memory is released: a driver that has been unloaded has nothing left to wait for.
template <class Fn>
void at_the_end(Fn fn) noexcept {
  try {
    fn();
  } catch (const Error&) {
  }
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
          "A stream of another library; `keeper` is kept alive as long.")
      .def_prop_ro("device", [](GpuStream& s) { return s.device; })
      .def_prop_ro("handle", [](GpuStream& s) { return reinterpret_cast<uintptr_t>(s.handle); })
      .def("synchronize", [](GpuStream& s) {
        WithoutGil released;
        Gpu::at(s.device).synchronize(s.handle);
      });
  m.def("gpu_count", &Gpu::count);
  m.def("nvdec_history", &Nvdec::history);
  m.def("gpu_launches", &all_launches, "The number of kernels launched on GPUs so far.");
  m.def("gpu_block_launches", &block_launches,
        "The number of kernels launched on GPUs so far whose thread blocks share memory.");
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
        WithoutGil released;  // releasing memory waits for the GPU
        Gpu::at(device).set_memory_budget(bytes.value_or(Gpu::kUnlimited));
      },
      nb::arg("device"), nb::arg("bytes").none());
  m.def(
      "kernel_cache",
      [] {
        KernelCache cache = kernel_cache();
        return std::make_pair(cache.folder, cache.problem);
      },
      "The folder of compiled kernels, and the reason if it is not used.");
  m.def(
      "compile_kernel",
      [](size_t number, const std::string& architecture) {
        CompiledKernel compiled;
        {
          WithoutGil released;
          compiled = compile_kernel(*kernels().at(number), architecture);
        }
        return std::make_pair(compiled.name, nb::bytes(compiled.code.data(), compiled.code.size()));
      },
      nb::arg("number"), nb::arg("architecture"),
      "The name and the machine code of one of `kernels`, from the cache if possible.");
  m.def("start_compiling", &start_compiling, nb::arg("architecture"),
        "Starts threads that read or compile the usual kernels, as the first use of a GPU does.");
  m.def("set_compiler_library", &set_compiler_library, nb::arg("path"));
  m.def("kernel_compiler", &compiler_version, "NVRTC's version, or why it cannot be used.");
  m.def("set_default_stream", &set_default_stream, nb::arg("device"), nb::arg("stream").none());
  m.def("default_stream", &default_stream, nb::arg("device"));
  m.def("context_gpu", &gpu_of,
        "The GPU of a context: that of its stream, the one it was created for, or the one this thread has selected.");
  m.def(
      "gpu_of_memory", [](uintptr_t memory) { return cuda::device_of(reinterpret_cast<const void*>(memory)); },
      "The GPU that owns the memory, or -1.");
  m.def("context_stream", [](Context& context, int device) { return stream_of(context, device); });
  m.def(
      "set_context_stream",
      [](Context& context, std::shared_ptr<GpuStream> stream) { context.stream = std::move(stream); },
      nb::arg("context"), nb::arg("stream").none());
  m.def(
      "set_context_pinned",
      [](Context& context, int gpu) {
        Gpu* pinned_for = gpu < 0 ? nullptr : &Gpu::at(gpu);
        if (pinned_for) pinned_for->allocate_pinned(1);  // raises here what keeps it from working
        context.pinned_for = pinned_for;
      },
      nb::arg("context"), nb::arg("gpu"),
      "Results of operators on the CPU are allocated in pinned memory, for this GPU; -1: in ordinary memory.");
  m.def("context_pinned", [](Context& context) { return context.pinned_for != nullptr; });
  m.def(
      "pinned_copy",
      [](TensorBase& tensor, int gpu) {
        const Data& data = get(*tensor.value);
        Data out = data;
        out.read_only = false;
        {
          WithoutGil released;
          Block block = Gpu::at(gpu).allocate_pinned(data.bytes(0));
          if (data.bytes(0)) std::memcpy(block.get(), data.at(0), static_cast<size_t>(data.bytes(0)));
          void* first = block.get();
          out.place(std::move(block), first, 0);
        }
        return wrap(std::move(out), false);
      },
      nb::arg("tensor"), nb::arg("gpu"), "A copy in pinned memory of a tensor on the CPU.");
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
      "A copy that is complete on return: its source may be changed.");
  m.def("gpu_tensor_from_dlpack", &from_dlpack, nb::arg("array"), nb::arg("layout"), nb::arg("stream"));
  m.def("gpu_tensor_from_array", &from_cuda_array, nb::arg("type"), nb::arg("shape"), nb::arg("strides").none(),
        nb::arg("memory"), nb::arg("stream").none(), nb::arg("owner"), nb::arg("layout"), nb::arg("own_stream"));
  m.def(
      "to_device",
      [](nb::handle object, int gpu) {
        Ambient& ambient = Ambient::here();
        Request request;
        request.inputs = {value_of(object), 1};
        request.device = device_from(gpu);
        request.context = ambient.current();
        const bool in_loop = ambient.mode == EvalMode::eager && Loop::here();
        if (in_loop) request.where = user_location();
        profile::Span calling;
        if (profile::on()) {
          auto event = call_at_user_line(Transfer::name(*request.device));
          request.where = event.at;
          calling.begin(event);
        }
        if (auto results = in_loop ? Loop::take(request) : std::vector<ValuePtr>(); !results.empty())
          return wrap(std::move(results[0]));
        auto stream = gpu < 0 ? nullptr : stream_of(*request.context, gpu);
        auto task = std::make_shared<Transfer>(request.inputs[0], *request.device, std::move(stream));
        task->where = request.where;
        auto promise = task->promised();
        launch(task);
        if (in_loop) Loop::record(request, {&promise, 1});
        if (ambient.mode == EvalMode::sync_cpu || ambient.mode == EvalMode::sync_full) promise->ready();
        return wrap(std::move(promise));
      },
      "Copies a value to a GPU; -1: to the CPU.");
}

}  // namespace avida::python
