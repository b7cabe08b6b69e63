// Runs consecutive calls as one: the first makes only the part of its output that the next one reads.
//
// That is done where nobody else holds the output. The results are those of the calls one by one.
#pragma once
#include <deque>

#include "operator/sample.h"

namespace avida {

class Chain {
 public:
  // Adds a call whose first input is the output of the previous one.
  void add(const Run& run, const SampleLoop& loop, const Origins& origins, bool kept);
  // The metadata of the last call's output.
  const Data& output() const { return links_.back().output; }
  // The outputs; those that are not kept are empty.
  std::vector<Data> run(ThreadPool& pool);

 private:
  struct Link {
    Link(const Run& run, const SampleLoop& loop) : run(run), loop(loop), works(run, loop) {}
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
