// Submits a call: the one way from Python to the executor, for operators, copies and functions of Python.
#pragma once
#include "ahead/step.h"
#include "python/python.h"

namespace avida::python {

// Makes the call as this thread's evaluation mode says, and returns its results. In a loop that runs ahead, they may be
// those of a call that was made ahead; if not, the loop remembers it.
std::vector<ValuePtr> submit(const Request& request);

}  // namespace avida::python
