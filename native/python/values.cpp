// Tensor and Batch: the parts that access memory. The rest is Python.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstring>
#include <mutex>

#include "gpu/gpu.h"
#include "operator/notices.h"
#include "operator/sample.h"
#include "python/python.h"
#include "runtime/executor.h"
#include "runtime/memory.h"

namespace avida::python {
namespace {

nb::handle tensor_class, batch_class;

// References dropped by threads without the GIL; a thread that holds it releases them later.
class Garbage : ForkAware {
 public:
  void add(PyObject* object) {
    {
      std::lock_guard lock(mutex_);
      objects_.push_back(object);
    }
    // The main thread releases them when it runs Python code, other threads when they call an operator.
    if (!any_.exchange(true)) Py_AddPendingCall(collect_in_main_interpreter, nullptr);
  }
  void collect() {
    if (!any_.exchange(false)) return;
    std::vector<PyObject*> objects;
    {
      std::lock_guard lock(mutex_);
      objects.swap(objects_);
    }
    for (PyObject* object : objects) Py_DECREF(object);
  }
  static Garbage& instance() {
    static Garbage* garbage = new Garbage;
    return *garbage;
  }

 private:
  // Python 3.11 may call it while the main thread is in a subinterpreter, where destructors would deadlock.
  static int collect_in_main_interpreter(void*) {
    if (PyInterpreterState_Get() == PyInterpreterState_Main()) instance().collect();
    return 0;
  }
  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool) override { mutex_.unlock(); }
  std::mutex mutex_;
  std::vector<PyObject*> objects_;
  std::atomic<bool> any_{false};
  ForkRegistration fork_{this, Rank::garbage};
};

bool finalizing() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

// PyGILState_Check() is always true once the process has had a subinterpreter.
bool has_gil() {
#if PY_VERSION_HEX >= 0x030d0000
  PyThreadState* current = PyThreadState_GetUnchecked();
#else
  PyThreadState* current = _PyThreadState_UncheckedGet();
#endif
  return current && current == PyGILState_GetThisThreadState();
}

}  // namespace

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

}  // namespace

Layout layout_for(const std::string& text, int ndim) {
  Layout layout(text);
  if (!layout.empty() && layout.size() != ndim)
    value_error("the layout \"", text, "\" names ", layout.size(), " axes, the data has ", ndim);
  return layout;
}

namespace {

// One sample that shares or copies the memory of a foreign array, which must be C-contiguous.
nb::object tensor_from_array(nb::ndarray<nb::ro> array, const std::string& layout, bool copy, bool read_only) {
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
    data.place(Block(source, BlockDeleter([keeper](void*) {}, true)), source, 0);
    data.read_only = read_only;
  }
  return wrap(std::move(data), false);
}

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

nb::tuple shape_tuple(const Shape& shape) {
  nb::object out = nb::steal(PyTuple_New(shape.size()));
  for (int i = 0; i < shape.size(); i++) PyTuple_SET_ITEM(out.ptr(), i, PyLong_FromLong(shape[i]));
  return nb::cast<nb::tuple>(out);
}

// Metadata, without waiting if it is known.
Meta meta_of(Value& value) {
  Meta meta = value.meta();
  if (meta.known()) return meta;
  get(value);
  return value.meta();
}

nb::object layout_of(Value& value) {
  Meta meta = meta_of(value);
  if (meta.layout.empty()) return nb::none();
  return nb::str(meta.layout.view().data(), meta.layout.view().size());
}

// For each sample (name, index, epoch), or None.
nb::object sources_of(Value& value) {
  const Data& data = get(value);
  nb::list out;
  for (int i = 0; i < data.size(); i++) {
    const Origin* origin = data.origins ? &(*data.origins)[i] : nullptr;
    if (!origin || origin->source.empty()) {
      out.append(nb::none());
      continue;
    }
    auto number = [](int64_t x) { return x < 0 ? nb::none() : nb::object(nb::int_(x)); };
    nb::object name = nb::steal(PyUnicode_DecodeFSDefault(origin->source.c_str()));  // file names are bytes
    out.append(nb::make_tuple(name, number(origin->index), number(origin->epoch)));
  }
  return out;
}

// The failed samples that were replaced by placeholders, as (index, reason).
nb::object errors_of(Value& value) {
  const Data& data = get(value);
  nb::list out;
  for (int i = 0; data.origins && i < data.size(); i++)
    if (const std::string& error = (*data.origins)[i].error; !error.empty())
      out.append(nb::make_tuple(i, nb::steal(PyUnicode_DecodeFSDefault(error.c_str()))));
  return out;
}

// Others get access to the memory, and may write to it.
void hand_out(const Data& data) {
  for (const Block& block : data.blocks()) Gpu::hand_over(block);
  if (data.read_only) return;
  expose(data);
  if (!Executor::any_incomplete()) return;
  WithoutGil released;
  Executor::complete(data, answer_signals());
}

// A DLPack capsule over the tensor's memory; it keeps the block, not the Python object, alive.
// For GPU memory, the consumer's stream waits for ours, and ours waits for it before the memory is reused.
nb::object dlpack(TensorBase& tensor, intptr_t stream) {
  const Data& data = get(*tensor.value);
  hand_out(data);
  std::vector<size_t> shape(data.shapes.dims(0).begin(), data.shapes.dims(0).end());
  auto keeper = std::make_unique<Block>(data.owner(0));
  int device_type = nb::device::cpu::value, device = 0;
  if (data.device.kind == Device::Kind::gpu) {
    device_type = nb::device::cuda::value;
    device = data.device.id;
    *keeper = lend(data, stream);
  }
  nb::capsule owner(keeper.release(), [](void* p) noexcept { delete static_cast<Block*>(p); });
  nb::ndarray<> array(data.at(0), shape.size(), shape.data(), owner, nullptr, dlpack_dtype(data.dtype), device_type,
                      device);
  nb::object exported = nb::cast(array, nb::rv_policy::automatic);
  if (PyCapsule_CheckExact(exported.ptr())) return exported;
  return exported.attr("__dlpack__")();
}

struct BufferShape {
  Py_ssize_t shape[kMaxDim], strides[kMaxDim];
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
    hand_out(data);
    auto* extents = new BufferShape;
    Shape shape = data.shapes[0], dense = dense_strides(shape);
    for (int d = 0; d < shape.size(); d++) {
      extents->shape[d] = shape[d];
      extents->strides[d] = dense[d] * size_of(data.dtype);
    }
    view->buf = data.at(0);
    view->len = data.bytes(0);
    view->itemsize = size_of(data.dtype);
    view->readonly = data.read_only;
    view->format = const_cast<char*>(format);
    view->ndim = shape.size();
    view->shape = extents->shape;
    view->strides = extents->strides;
    view->suboffsets = nullptr;
    view->internal = extents;
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

void release_buffer(PyObject*, Py_buffer* view) noexcept { delete static_cast<BufferShape*>(view->internal); }

PyType_Slot tensor_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr},
};

template <class Base>
void bind_common(nb::class_<Base>& cls) {
  cls.def_prop_ro("_dtype_id", [](Base& b) { return static_cast<int>(meta_of(*b.value).dtype); })
      .def_prop_ro(
          "ndim", [](Base& b) { return meta_of(*b.value).ndim; }, "The number of axes of a sample.")
      .def_prop_ro(
          "layout", [](Base& b) { return layout_of(*b.value); }, nb::sig("def layout(self) -> str | None"),
          "One letter per axis, or None.")
      .def_prop_ro(
          "_gpu",
          [](Base& b) {
            Device device = b.value->meta().device;
            return device.kind == Device::Kind::gpu ? device.id : -1;
          },
          "The number of the GPU that has the data, or -1 for the CPU.")
      .def_prop_ro("_stream", [](Base& b) { return reinterpret_cast<uintptr_t>(get(*b.value).stream); })
      .def_prop_ro("_sources", [](Base& b) { return sources_of(*b.value); })
      .def_prop_ro("_errors", [](Base& b) { return errors_of(*b.value); })
      .def_prop_ro("_read_only", [](Base& b) { return get(*b.value).read_only; })
      .def_prop_ro("_pinned", [](Base& b) { return Gpu::is_pinned(get(*b.value)); })
      .def("_wait", [](Base& b) { get(*b.value); })
      .def("_pending", [](Base& b) { return b.value->pending(); });
}

}  // namespace

const ValuePtr* value_of(nb::handle object) {
  PyTypeObject* type = Py_TYPE(object.ptr());
  const ValuePtr* value = nullptr;
  if (type == reinterpret_cast<PyTypeObject*>(tensor_class.ptr()) || nb::isinstance<TensorBase>(object))
    value = &nb::inst_ptr<TensorBase>(object)->value;
  else if (type == reinterpret_cast<PyTypeObject*>(batch_class.ptr()) || nb::isinstance<BatchBase>(object))
    value = &nb::inst_ptr<BatchBase>(object)->value;
  if (value && (!nb::inst_ready(object) || !*value))
    type_error("expected a value, got an object that was never initialised");
  return value;
}

TensorBase* tensor_of(nb::handle object) {
  return Py_TYPE(object.ptr()) == reinterpret_cast<PyTypeObject*>(tensor_class.ptr()) ? nb::inst_ptr<TensorBase>(object)
                                                                                      : nullptr;
}

ValuePtr value_from_number(nb::handle number) {
  Data data;
  data.shapes = ShapeList(1, 0);
  Block block = allocate(8);
  if (PyBool_Check(number.ptr())) {
    data.dtype = DType::boolean;
    *static_cast<bool*>(block.get()) = number.ptr() == Py_True;
  } else if (PyLong_Check(number.ptr())) {
    int overflow;
    long v = PyLong_AsLongAndOverflow(number.ptr(), &overflow);
    if (overflow || v != static_cast<int>(v))
      fail(ErrorKind::overflow, "the number ", nb::str(number).c_str(),
           " does not fit into int32; pass an array or tensor of a wider type");
    data.dtype = DType::int32;
    *static_cast<int32_t*>(block.get()) = static_cast<int32_t>(v);
  } else {
    data.dtype = DType::float32;
    *static_cast<float*>(block.get()) = static_cast<float>(PyFloat_AsDouble(number.ptr()));
    if (PyErr_Occurred()) throw nb::python_error();
  }
  data.place(block, block.get(), 0);
  return std::allocate_shared<Value>(PoolAllocator<Value>(), std::move(data), false);
}

nb::object wrap(ValuePtr value) {
  bool is_batch = value->meta().is_batch;
  nb::object object = nb::inst_alloc(is_batch ? batch_class : tensor_class);
  if (is_batch)
    new (nb::inst_ptr<BatchBase>(object)) BatchBase{std::move(value)};
  else
    new (nb::inst_ptr<TensorBase>(object)) TensorBase{std::move(value)};
  nb::inst_mark_ready(object);
  return object;
}

nb::object wrap(Data data, bool is_batch, LineagePtr lineage) {
  auto value = std::make_shared<Value>(std::move(data), is_batch);
  value->lineage = std::move(lineage);
  return wrap(std::move(value));
}

LineagePtr lineage_of(const Value& value) { return in_order(value.lineage, value.ready().origins); }

std::shared_ptr<void> hold(nb::object object) {
  return {object.release().ptr(), [](void* p) {
            if (finalizing()) return;
            if (has_gil())
              Py_DECREF(static_cast<PyObject*>(p));
            else
              Garbage::instance().add(static_cast<PyObject*>(p));
          }};
}

void collect_garbage() { Garbage::instance().collect(); }

Interrupt answer_signals() {
  return [] {
    WithGil acquired;
    if (PyErr_CheckSignals()) throw nb::python_error();
  };
}

const Data& get(Value& value) {
  if (value.pending()) {
    profile::Span waiting;
    if (profile::on()) waiting.begin(at_user_line(Executor::waiting_for(value)));
    WithoutGil released;
    Executor::wait(value, answer_signals());
  }
  const Data& data = value.ready();
  for (const std::string& text : take_notices()) nb::module_::import_("avida._running.warn").attr("warn")(text);
  return data;
}

void bind_values(nb::module_& m) {
  auto tensor = nb::class_<TensorBase>(m, "TensorBase", nb::type_slots(tensor_slots), nb::is_weak_referenceable());
  bind_common(tensor);
  tensor
      .def_prop_ro(
          "shape", [](TensorBase& t) { return shape_tuple(get(*t.value).shapes[0]); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "The extents of the axes.")
      .def_prop_ro("_address",
                   [](TensorBase& t) {
                     if (t.value->meta().device.kind == Device::Kind::gpu) hand_out(get(*t.value));
                     return reinterpret_cast<uintptr_t>(get(*t.value).at(0));
                   })
      .def("_dlpack", &dlpack, nb::arg("stream"))
      .def("_raise_dropped_interrupt", [](nb::handle t) { raise_dropped_interrupt(t); })
      .def("_become", [](TensorBase& t, TensorBase& other) { t.value = other.value; });
  tensor.def(nb::init<>());

  auto batch = nb::class_<BatchBase>(m, "BatchBase", nb::is_weak_referenceable());
  bind_common(batch);
  batch.def_prop_ro(
           "batch_size", [](BatchBase& b) { return b.value->meta().samples; }, "The number of samples.")
      .def_prop_ro(
          "shape",
          [](BatchBase& b) {
            const Data& data = get(*b.value);
            nb::list out;
            for (int i = 0; i < data.size(); i++) out.append(shape_tuple(data.shapes[i]));
            return out;
          },
          nb::sig("def shape(self) -> list[tuple[int, ...]]"), "The shape of every sample.")
      .def("_uniform", [](BatchBase& b) { return get(*b.value).shapes.uniform(); })
      .def("_contiguous", [](BatchBase& b) { return get(*b.value).contiguous(); })
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
      .def("_join", &join, nb::arg("copy").none(), nb::arg("layout"), nb::arg("pin") = -1)
      .def("_become", [](BatchBase& b, BatchBase& other) { b.value = other.value; });
  batch.def(nb::init<>());

  m.def("set_classes", [](nb::type_object tensor, nb::type_object batch) {
    tensor_class = tensor.release();
    batch_class = batch.release();
  });
  m.def("tensor_from_array", &tensor_from_array, nb::arg("array"), nb::arg("layout"), nb::arg("copy"),
        nb::arg("read_only") = false);
  m.def("tensor_from_number", [](nb::handle number) { return wrap(value_from_number(number)); });
  m.def("batch_from_tensors", &batch_from_tensors);
  m.def("split", &split);
  m.def(
      "copy_ready",
      [](nb::handle object) -> nb::object {
        Value& value = **value_of(object);
        if (value.pending()) return nb::none();
        const Data& data = value.ready();
        if (data.device.kind == Device::Kind::gpu) return nb::none();
        Meta meta = value.meta();
        Data out = allocate_data(meta, data.shapes);
        out.origins = data.origins;
        {
          WithoutGil released;
          for (int i = 0; i < data.size(); i++)
            if (int64_t bytes = data.bytes(i)) std::memcpy(out.at(i), data.at(i), bytes);
        }
        return wrap(std::move(out), meta.is_batch, lineage_of(value));
      },
      "An immediate copy, or None for a value that is still pending.");
  m.def(
      "relabel",
      [](nb::handle object, const std::string& layout) {
        Value& value = **value_of(object);
        Data data = get(value);
        data.layout = layout_for(layout, data.shapes.ndim());
        return wrap(std::move(data), value.meta().is_batch, lineage_of(value));
      },
      "The same samples under another layout.");
  m.def(
      "read_only",
      [](nb::handle object) {
        Value& value = **value_of(object);
        Data data = get(value);
        data.read_only = true;
        return wrap(std::move(data), value.meta().is_batch, lineage_of(value));
      },
      "The same samples, for arrays that cannot write to them: code that has one leaves the samples as they are.");
  m.def("chained_calls", &Executor::chained_tasks, "How many calls were run as part of a chain so far.");
  m.def(
      "memory_use",
      [] {
        MemoryUse use = memory_use();
        auto [in_use, kept] = Gpu::pinned_bytes();
        return std::make_tuple(use.in_use + in_use, use.kept + kept, use.budget);
      },
      "Bytes in use by values, bytes kept for reuse, and the budget of kept bytes. Pinned memory counts.");
  m.def(
      "set_memory_budget",
      [](int64_t bytes) {
        WithoutGil released;  // releasing pinned memory waits for the GPU
        set_memory_budget(bytes);
        Gpu::set_pinned_budget(memory_use().budget);
      },
      nb::arg("bytes"));
}

}  // namespace avida::python
