// Tensor and Batch: the parts that access memory. The rest is Python.
#pragma once
#include "core/data.h"
#include "python/python.h"

namespace avida::python {

// Others get access to the memory, and may write to it: what still has to read it does so now. They hold a Writer
// already, so that nothing new begins to read it in the background.
void hand_out(const Data& data);
// The memory of a tensor on a GPU, for work in another stream: that stream waits for ours, and ours waits for it before
// the memory is reused. -1: the other stream need not wait.
Block lend(const Data& data, intptr_t stream);
Layout layout_for(const std::string& text, int ndim);

// Ignores errors when memory is released: a driver that has been unloaded has nothing left to wait for.
template <class Fn>
void at_the_end(Fn fn) noexcept {
  try {
    fn();
  } catch (const Error&) {
  }
}

// The slots of TensorBase: the buffer protocol.
extern PyType_Slot tensor_slots[];

void bind_exports(nb::class_<TensorBase>& tensor);
void bind_imports(nb::module_& m);
void bind_batches(nb::module_& m, nb::class_<BatchBase>& batch);

}  // namespace avida::python
