// GPUs, their streams, kernels and memory.
#include "gpu/gpu.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "gpu/compiler.h"
#include "gpu/driver.h"
#include "gpu/streams.h"
#include "operator/gpu_call.h"
#include "python/submit.h"

namespace avida::python {
namespace {

void bind_devices(nb::module_& m) {
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
        WithoutGil released;  // releasing memory waits for the GPU
        Gpu::at(device).set_memory_budget(bytes.value_or(Gpu::kUnlimited));
      },
      nb::arg("device"), nb::arg("bytes").none());
  m.def(
      "gpu_of_memory", [](uintptr_t memory) { return cuda::device_of(reinterpret_cast<const void*>(memory)); },
      "The GPU that owns the memory, or -1.");
}

void bind_streams(nb::module_& m) {
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
  m.def("set_default_stream", &set_default_stream, nb::arg("device"), nb::arg("stream").none());
  m.def("default_stream", &default_stream, nb::arg("device"));
  m.def("context_gpu", &gpu_of,
        "The GPU of a context: that of its stream, the one it was created for, or the one this thread has selected.");
  m.def("context_stream", [](Context& context, int device) { return stream_of(context, device); });
  m.def(
      "set_context_stream",
      [](Context& context, std::shared_ptr<GpuStream> stream) { context.stream = std::move(stream); },
      nb::arg("context"), nb::arg("stream").none());
  m.def(
      "set_context_pinned",
      [](Context& context, std::optional<int> gpu) {
        if (gpu && *gpu >= 0) Gpu::at(*gpu).allocate_pinned(1);  // raises here what keeps it from working
        context.results.reset();
        if (gpu) context.results = ResultMemory{*gpu < 0 ? nullptr : &Gpu::at(*gpu)};
      },
      nb::arg("context"), nb::arg("gpu").none(),
      "Results of operators on the CPU are allocated in pinned memory, for this GPU; -1: in ordinary memory; None: in "
      "pinned memory as soon as another library that uses CUDA gets results.");
  m.def("context_pinned", [](Context& context) {
    return (context.results ? context.results->pinned_for : Gpu::that_copies()) != nullptr;
  });
  m.def(
      "pin_from_now_on",
      [] {
        WithoutGil released;
        Gpu::note_hand_over(true);
      },
      "Results on the CPU lie in pinned memory unless a context says otherwise, since they are copied to a GPU.");
  m.def(
      "pins_for_copies", [] { return Gpu::that_copies() != nullptr; },
      "Whether results on the CPU lie in pinned memory unless a context says otherwise.");
}

void bind_kernels(nb::module_& m) {
  m.def(
      "kernels",
      [] {
        std::vector<std::tuple<std::string, std::vector<std::string>, bool>> found;
        for (const Kernel* kernel : kernels())
          found.emplace_back(kernel->body, std::vector<std::string>(kernel->headers.begin(), kernel->headers.end()),
                             kernel->block_threads > 0);
        return found;
      },
      "The bodies that a GPU can run: C++ types, the headers that declare them, whether a thread block processes an "
      "item.");
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
}

// A copy of a tensor in memory that `fill` allocates.
template <class Fill>
nb::object copied(TensorBase& tensor, Fill fill) {
  const Data& data = get(*tensor.value);
  Data out = data;
  out.read_only = false;
  {
    WithoutGil released;
    Block block = fill(data);
    void* first = block.get();
    out.place(std::move(block), first, 0);
  }
  return wrap(std::move(out), false);
}

nb::object pinned_copy(TensorBase& tensor, int gpu) {
  return copied(tensor, [gpu](const Data& data) {
    Block block = Gpu::at(gpu).allocate_pinned(data.bytes(0));
    if (data.bytes(0)) std::memcpy(block.get(), data.at(0), static_cast<size_t>(data.bytes(0)));
    return block;
  });
}

nb::object copy_gpu_tensor(TensorBase& tensor) {
  return copied(tensor, [](const Data& data) {
    Gpu& gpu = Gpu::at(data.device.id);
    Block block = gpu.allocate(data.bytes(0), data.stream);
    if (data.bytes(0)) gpu.copy(block.get(), data.at(0), static_cast<size_t>(data.bytes(0)), data.stream);
    gpu.synchronize(data.stream);
    return block;
  });
}

nb::object to_device(nb::handle object, int gpu) {
  Request request;
  request.inputs = {value_of(object), 1};
  request.device = gpu < 0 ? Device() : Device{Device::Kind::gpu, static_cast<int16_t>(gpu)};
  request.context = Ambient::here().current();
  request.where = user_location();
  profile::Span calling;
  if (profile::on()) {
    auto event = call_at_user_line(Transfer::name(*request.device));
    request.where = event.at;
    calling.begin(event);
  }
  return wrap(submit(request)[0]);
}

void bind_copies(nb::module_& m) {
  m.def("pinned_copy", &pinned_copy, nb::arg("tensor"), nb::arg("gpu"),
        "A copy in pinned memory of a tensor on the CPU.");
  m.def("copy_gpu_tensor", &copy_gpu_tensor, "A copy that is complete on return: its source may be changed.");
  m.def("to_device", &to_device, "Copies a value to a GPU; -1: to the CPU.");
}

}  // namespace

void bind_gpu(nb::module_& m) {
  bind_devices(m);
  bind_streams(m);
  bind_kernels(m);
  bind_copies(m);
}

}  // namespace avida::python
