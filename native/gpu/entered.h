// Makes the context of a GPU current for a thread.
#pragma once
#include "gpu/driver.h"

namespace avida::cuda {

// Makes the GPU's context current within a scope; a user's thread may have another one. Calls of this thread do not end
// the capture of a CUDA graph by another thread.
class Entered {
 public:
  explicit Entered(Context context) {
    check_not_forked();
    check(driver().context_push(context), "activating the GPU's context");
    driver().capture_mode(&capture_mode_);
  }
  ~Entered() {
    driver().capture_mode(&capture_mode_);
    Context own;
    driver().context_pop(&own);
  }
  Entered(const Entered&) = delete;

 private:
  int capture_mode_ = kRelaxed;  // exchanged with that of the thread
};

}  // namespace avida::cuda
