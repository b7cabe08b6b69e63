// Consecutive calls run sample by sample: decoded, resized and normalised while it is in cache. The results are those
// of the calls one by one; an output that nobody else will see never gets memory of its own.
#pragma once
#include <deque>

#include "op/sample.h"

namespace avida {

class Chain {
 public:
  // Adds a call, whose first input is the output of the one before.
  void add(const Run& run, const SampleLoop& loop, const Origins& origins, bool kept);
  // What is known of the last call's output.
  const Data& output() const { return links_.back().output; }
  // The outputs; those that are not kept are empty.
  std::vector<Data> run(ThreadPool& pool);

 private:
  struct Link {
    Link(const Run& run, const SampleLoop& loop) : run(run), loop(loop), works(run) {}
    const Run& run;
    const SampleLoop& loop;
    SampleWorks works;
    Data output;
    bool kept = true;
    int64_t largest = 0;  // sample, in bytes
  };
  void run_sample(int i, std::span<Block> scratch);

  std::deque<Link> links_;
};

}  // namespace avida
