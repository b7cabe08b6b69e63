// Prefetcher: threads that read batches before they are asked for. It may be dropped at any time: its threads end by
// themselves.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "readers/schedule.h"
#include "readers/source.h"
#include "runtime/executor.h"
#include "runtime/value.h"

namespace avida {

// Reads the samples with the given indices, of a mixture those in these slots: one value for each output. Throws on
// errors, and what `interrupt` throws while it waits for a store.
std::vector<ValuePtr> read_batch(const Source& source, const std::vector<SampleId>& slots, bool batches,
                                 const Interrupt& interrupt = {});

class Prefetcher {
 public:
  struct Options {
    int batch_size = 1;
    bool batches = true;       // otherwise every sample is a separate value
    int depth = 1;             // the number of prefetched batches, which may be read in parallel; 0: take() reads
    bool one_epoch = false;    // otherwise prefetching continues beyond the end of the epoch
    bool skip_errors = false;  // skip samples that cannot be read
    int stride = 1;            // takes every stride-th batch
    bool grows = false;        // who looks at several batches has twice as many prefetched
  };
  struct Item {
    Cursor cursor;
    std::vector<ValuePtr> values;  // one for each output; empty if all samples were skipped
    std::vector<Skipped> skipped;
  };

  Prefetcher(std::shared_ptr<const Source> source, const Schedule& schedule, const Cursor& start,
             const Options& options);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;

  // The cursor of the next batch that take() returns.
  Cursor cursor() const;
  bool one_epoch() const;
  // The next batch of an epoch, or nullopt if it belongs to another epoch. Its values have failed if a sample could not
  // be read. Waits for the batch, which is not lost if `interrupt` throws.
  std::optional<Item> take(int64_t epoch, const Interrupt& interrupt);
  // What profiles say of taking a batch.
  profile::Event taking_item() const;

  // A function, for any thread, that returns the next batches of an epoch that have been read, at most as many as
  // given. They remain to be taken. Null if no batch is read before take() asks for it.
  std::function<std::vector<std::vector<ValuePtr>>(int most)> peek(int64_t epoch) const;
  // Calls the function, in a thread of its own, whenever a batch has been read.
  void when_read(std::function<void()> function);

  // Stops all threads after their current sample. Threads that take longer are abandoned. For the end of the process.
  static void stop_all(std::chrono::steady_clock::time_point latest, const Interrupt& interrupt);

 private:
  class Queue;
  std::shared_ptr<Queue> queue_;  // shared with its threads
};

}  // namespace avida
