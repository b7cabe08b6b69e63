// Consecutive calls run as one: the first makes only the part of its output that the next one reads, where nobody else
// will see that output. The results are those of the calls one by one.
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
  };
  void run_sample(size_t link, int i);

  std::deque<Link> links_;
};

}  // namespace avida
