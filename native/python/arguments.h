// Python objects as the inputs and arguments of a call.
#pragma once
#include "python/python.h"

namespace avida::python {

// A Tensor, a Batch, or what stands for one.
ValuePtr input_value(nb::handle object, const OpSpec& spec);
// Raises for a device that is not there.
Device device_of(nb::handle given);
int64_t to_integer(nb::handle object);
BoundArg bind_arg(const ArgSpec& arg, nb::handle object);

// The functions of Python that convert what the core does not know.
void set_converters(nb::object array, nb::object input, nb::object device);

}  // namespace avida::python
