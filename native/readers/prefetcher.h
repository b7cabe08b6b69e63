// Reads batches ahead of whoever takes them. It may be dropped at any time: its threads end by themselves.
#pragma once
#include <memory>
#include <vector>

#include "readers/plan.h"
#include "readers/source.h"
#include "runtime/executor.h"
#include "runtime/value.h"

namespace avida {

class Prefetcher {
 public:
  // Goes on from `start`, over the ends of epochs. `depth` batches are read ahead, several at a time when there are
  // several. Without `batches`, every sample is a value of its own.
  Prefetcher(std::shared_ptr<const Source> source, const Plan& plan, const Cursor& start, int batch_size, bool batches,
             int depth);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;

  // Where the next batch stands that take() returns.
  Cursor cursor() const;
  // The next batch, one value for each output: failed values when a sample could not be read. Waits for it; the batch
  // is not lost when `interrupt` throws.
  std::vector<ValuePtr> take(const Interrupt& interrupt);

  // Ends all threads, after the sample each is reading. For the end of the process.
  static void stop_all();

 private:
  class Queue;
  std::shared_ptr<Queue> queue_;  // shared with its threads
};

}  // namespace avida
