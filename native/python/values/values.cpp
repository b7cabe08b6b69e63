#include "python/values/values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "gpu/gpu.h"
#include "operator/notices.h"
#include "operator/sample.h"
#include "runtime/executor.h"
#include "runtime/memory.h"

namespace avida::python {
namespace {

nb::handle tensor_class, batch_class;

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

// For each sample (name, index, epoch, part), or None.
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
    nb::object part = origin->part ? nb::object(nb::cast(origin->part->name)) : nb::none();
    out.append(nb::make_tuple(name, number(origin->index), number(origin->epoch), part));
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

Layout layout_for(const std::string& text, int ndim) {
  Layout layout(text);
  if (!layout.empty() && layout.size() != ndim)
    value_error("the layout \"", text, "\" names ", layout.size(), " axes, the data has ", ndim);
  return layout;
}

namespace {

void bind_tensor(nb::module_& m) {
  auto tensor = nb::class_<TensorBase>(m, "TensorBase", nb::type_slots(tensor_slots), nb::is_weak_referenceable());
  bind_common(tensor);
  tensor
      .def_prop_ro(
          "shape", [](TensorBase& t) { return shape_tuple(get(*t.value).shapes[0]); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "The extents of the axes.")
      .def("_become", [](TensorBase& t, TensorBase& other) { t.value = other.value; });
  tensor.def(nb::init<>());
  bind_exports(tensor);
}

void bind_batch(nb::module_& m) {
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
      .def("_become", [](BatchBase& b, BatchBase& other) { b.value = other.value; });
  batch.def(nb::init<>());
  bind_batches(m, batch);
}

// The same samples, with another description.
template <class Change>
nb::object changed(nb::handle object, Change change) {
  Value& value = **value_of(object);
  Data data = get(value);
  change(data);
  return wrap(std::move(data), value.meta().is_batch, lineage_of(value));
}

nb::object copy_ready(nb::handle object) {
  Value& value = **value_of(object);
  if (value.pending()) return nb::none();
  const Data& data = value.ready();
  if (data.device.kind == Device::Kind::gpu) return nb::none();
  Data out;
  {
    WithoutGil released;
    out = copy_of(data);
  }
  return wrap(std::move(out), value.meta().is_batch, lineage_of(value));
}

}  // namespace

void bind_values(nb::module_& m) {
  bind_tensor(m);
  bind_batch(m);
  bind_imports(m);
  m.def("set_classes", [](nb::type_object tensor, nb::type_object batch) {
    tensor_class = tensor.release();
    batch_class = batch.release();
  });
  m.def("tensor_from_number", [](nb::handle number) { return wrap(value_from_number(number)); });
  m.def("copy_ready", &copy_ready, "An immediate copy, or None for a value that is still pending.");
  m.def(
      "relabel",
      [](nb::handle object, const std::string& layout) {
        return changed(object, [&](Data& data) { data.layout = layout_for(layout, data.shapes.ndim()); });
      },
      "The same samples under another layout.");
  m.def(
      "read_only", [](nb::handle object) { return changed(object, [](Data& data) { data.read_only = true; }); },
      "The same samples, for arrays that cannot write to them: code that has one leaves the samples as they are.");
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
