// Reads batches ahead of whoever takes them. It may be dropped at any time: its threads end by themselves.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "readers/plan.h"
#include "readers/source.h"
#include "runtime/executor.h"
#include "runtime/value.h"

namespace avida {

// The samples with the given numbers, one value for each output. Throws what goes wrong.
std::vector<ValuePtr> read_batch(const Source& source, const std::vector<SampleId>& ids, bool batches);

class Prefetcher {
 public:
  struct Options {
    int batch_size = 1;
    bool batches = true;       // otherwise every sample is a value of its own
    int depth = 1;             // batches read ahead, several at a time when there are several
    bool one_epoch = false;    // otherwise it goes on over the end of the epoch
    bool skip_errors = false;  // leave out samples that cannot be read
  };
  // A sample that was left out.
  struct Skipped {
    std::string source;
    SampleId id;
    std::string error;
  };
  struct Item {
    Cursor cursor;
    std::vector<ValuePtr> values;  // one for each output; none when all samples were left out
    std::vector<Skipped> skipped;
  };

  Prefetcher(std::shared_ptr<const Source> source, const Plan& plan, const Cursor& start, const Options& options);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;

  // Where the next batch stands that take() returns.
  Cursor cursor() const;
  bool one_epoch() const;
  // The next batch: failed values when a sample could not be read. Waits for it; the batch is not lost when `interrupt`
  // throws.
  Item take(const Interrupt& interrupt);

  // Ends all threads, after the sample each is reading. For the end of the process.
  static void stop_all();

 private:
  class Queue;
  std::shared_ptr<Queue> queue_;  // shared with its threads
};

}  // namespace avida
