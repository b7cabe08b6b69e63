// Filters with a kernel that an operator computes, by the loops of `filter`.
#pragma once
#include <memory>

#include "loops/neighbours/space.h"

namespace avida::ops {

// A plan for one sample, whose output has the shape of the input.
class KernelFilter {
 public:
  // Rows of the kernel are one behind the other.
  KernelFilter(const SampleWork& work, std::vector<float> kernel, int64_t height, Border border);

  int64_t rows() const;
  void run(const SampleWork& work) const;

 private:
  struct Held;
  std::shared_ptr<const Held> held_;
};

}  // namespace avida::ops
