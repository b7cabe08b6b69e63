// Steps: what calls an Interrupt at regular intervals.
#pragma once
#include <cstdint>

#include "readers/reader_spec.h"

namespace avida {

class Steps {
 public:
  explicit Steps(const Interrupt& interrupt) : interrupt_(interrupt) {}
  void next() {
    constexpr int kPerCall = 4096;
    if (++count_ % kPerCall == 0 && interrupt_) interrupt_();
  }

 private:
  const Interrupt& interrupt_;
  int64_t count_ = 0;
};

}  // namespace avida
