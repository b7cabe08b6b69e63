// The memory of tensors for other libraries: DLPack and the buffer protocol.
#include <nanobind/ndarray.h>

#include <memory>
#include <vector>

#include "gpu/gpu.h"
#include "python/values/values.h"
#include "runtime/executor.h"

namespace avida::python {
namespace {

nb::dlpack::dtype dlpack_dtype(DType t) {
  using Code = nb::dlpack::dtype_code;
  Code code = t == DType::boolean    ? Code::Bool
              : t == DType::bfloat16 ? Code::Bfloat
              : is_float(t)          ? Code::Float
              : is_signed(t)         ? Code::Int
                                     : Code::UInt;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(size_of(t) * 8), 1};
}

// The struct-module code of an element type; null for bfloat16, which has none.
const char* format_of(DType dtype) {
  static const char* formats[kDTypeCount] = {"B", "H", "I", "Q", "b", "h", "i", "q", "e", "f", "d", "?", nullptr};
  return formats[static_cast<int>(stored_as(dtype))];
}

// A DLPack capsule over the tensor's memory; it keeps the block, not the Python object, alive.
// For GPU memory, the consumer's stream waits for ours, and ours waits for it before the memory is reused.
nb::object dlpack(TensorBase& tensor, intptr_t stream) {
  const Data& data = get(*tensor.value);
  struct Export {
    Block block;
    Writer writer{block};
  };
  auto keeper = std::make_unique<Export>(data.owner(0));
  hand_out(data);
  std::vector<size_t> shape(data.shapes.dims(0).begin(), data.shapes.dims(0).end());
  if (data.device.kind == Device::Kind::cpu && !Gpu::knows_copies()) {
    WithoutGil released;
    Gpu::note_hand_over();
  }
  int device_type = nb::device::cpu::value, device = 0;
  if (data.device.kind == Device::Kind::gpu) {
    device_type = nb::device::cuda::value;
    device = data.device.id;
    keeper->block = lend(data, stream);
  }
  nb::capsule owner(keeper.release(), [](void* p) noexcept { delete static_cast<Export*>(p); });
  nb::ndarray<> array(data.at(0), shape.size(), shape.data(), owner, nullptr, dlpack_dtype(data.dtype), device_type,
                      device);
  nb::object exported = nb::cast(array, nb::rv_policy::automatic);
  if (PyCapsule_CheckExact(exported.ptr())) return exported;
  return exported.attr("__dlpack__")();
}

struct BufferExport {
  Py_ssize_t shape[kMaxDim], strides[kMaxDim];
  std::optional<Writer> writer;  // none if it is read-only
};

// An exception that a signal handler raised while a buffer request was waiting. NumPy drops it and calls __array__
// next, which raises it again. Only the main thread runs signal handlers.
struct DroppedInterrupt {
  unsigned long thread = 0;
  PyObject *tensor = nullptr, *frame = nullptr;  // only compared
  int instruction = -1;
  nb::object exception;

  static DroppedInterrupt& last() {
    static auto* dropped = new DroppedInterrupt;
    return *dropped;
  }
};

// The frame of the running Python code, or of its caller.
nb::object frame_of_caller(int up) {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (; up > 0 && frame.is_valid(); up--)
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
  return frame;
}

void note_interrupt(PyObject* tensor, nb::python_error& error) {
  nb::object frame = frame_of_caller(0);
  if (!frame.is_valid()) return;
  DroppedInterrupt::last() = {PyThread_get_thread_ident(), tensor, frame.ptr(),
                              PyFrame_GetLasti(reinterpret_cast<PyFrameObject*>(frame.ptr())),
                              nb::borrow(error.value())};
}

// Called at the beginning of another request of the same thread.
void forget_interrupt() {
  auto& last = DroppedInterrupt::last();
  if (last.exception.is_valid() && last.thread == PyThread_get_thread_ident()) last.exception.reset();
}

// Called at the beginning of __array__, which must come from the instruction that requested the buffer.
void raise_dropped_interrupt(nb::handle tensor) {
  auto& last = DroppedInterrupt::last();
  if (!last.exception.is_valid() || last.tensor != tensor.ptr()) return;
  nb::object frame = frame_of_caller(1), exception = std::move(last.exception);
  if (frame.ptr() != last.frame) return;
  if (PyFrame_GetLasti(reinterpret_cast<PyFrameObject*>(frame.ptr())) != last.instruction) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  try {
    forget_interrupt();
    TensorBase& tensor = *nb::inst_ptr<TensorBase>(self);
    const Data& data = get(*tensor.value);
    if (data.device.kind == Device::Kind::gpu) type_error("the tensor is in GPU memory; use tensor.cpu() first");
    const char* format = format_of(data.dtype);
    if (!format) type_error("bfloat16 has no buffer format; use __dlpack__ or cast to float32 first");
    if (data.read_only && (flags & PyBUF_WRITABLE)) type_error("the tensor's memory is read-only");
    auto exported = std::make_unique<BufferExport>();
    if (!data.read_only) exported->writer.emplace(data.owner(0));
    hand_out(data);
    Shape shape = data.shapes[0], dense = dense_strides(shape);
    for (int d = 0; d < shape.size(); d++) {
      exported->shape[d] = shape[d];
      exported->strides[d] = dense[d] * size_of(data.dtype);
    }
    view->buf = data.at(0);
    view->len = data.bytes(0);
    view->itemsize = size_of(data.dtype);
    view->readonly = data.read_only;
    view->format = const_cast<char*>(format);
    view->ndim = shape.size();
    view->shape = exported->shape;
    view->strides = exported->strides;
    view->suboffsets = nullptr;
    view->internal = exported.release();
    view->obj = self;
    Py_INCREF(self);
    return 0;
  } catch (nb::python_error& error) {
    note_interrupt(self, error);
    error.restore();
  } catch (const FailureError&) {
    set_python_error(std::current_exception());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  view->obj = nullptr;
  return -1;
}

void release_buffer(PyObject*, Py_buffer* view) noexcept { delete static_cast<BufferExport*>(view->internal); }

}  // namespace

PyType_Slot tensor_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr},
};

void hand_out(const Data& data) {
  for (const Block& block : data.blocks()) Gpu::hand_over(block);
  if (data.read_only) return;
  if (!Executor::is_read(data)) return;
  WithoutGil released;
  Executor::finish_reading(data, answer_signals());
}

Block lend(const Data& data, intptr_t stream) {
  if (stream < 0) return data.owner(0);
  auto other = reinterpret_cast<StreamHandle>(stream);
  Gpu& gpu = Gpu::at(data.device.id);
  gpu.wait(other, data.stream);
  return Block(data.at(0), [kept = data.owner(0), &gpu, own = data.stream, other](void*) {
    at_the_end([&] { gpu.wait(own, other); });
  });
}

void bind_exports(nb::class_<TensorBase>& tensor) {
  tensor
      .def_prop_ro("_address",
                   [](TensorBase& t) {
                     if (t.value->meta().device.kind == Device::Kind::gpu) {
                       const Writer writer(get(*t.value).owner(0));  // what it notes stays
                       hand_out(get(*t.value));
                     }
                     return reinterpret_cast<uintptr_t>(get(*t.value).at(0));
                   })
      .def("_dlpack", &dlpack, nb::arg("stream"))
      .def("_raise_dropped_interrupt", [](nb::handle t) { raise_dropped_interrupt(t); });
}

}  // namespace avida::python
