#include "op/chain.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <numeric>

#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace avida {

void Chain::add(const Run& run, const SampleLoop& loop, const Origins& origins, bool kept) {
  Link& link = links_.emplace_back(run, loop);
  link.kept = kept;
  for (auto& work : link.works) SampleWorks::shape(loop, work);
  link.output = kept ? link.works.allocate(0) : link.works.describe(0);
  link.output.origins = origins;
  for (auto& work : link.works) link.largest = std::max(link.largest, work.out[0].bytes());
}

void Chain::run_sample(int i, std::span<Block> scratch) {
  for (size_t k = 0; k < links_.size(); k++) {
    Link& link = links_[k];
    SampleWork& work = link.works[i];
    if (k > 0) link.works.input(i, 0).data = links_[k - 1].works[i].out[0].data;
    Part needed;
    if (!link.kept) {
      if (!scratch[k]) scratch[k] = allocate(link.largest);
      work.out[0].data = scratch[k].get();
      Link& next = links_[k + 1];
      if (next.loop.reads) {
        needed = next.loop.reads(next.works[i]);
        work.needed = &needed;
      }
    }
    work.end = link.loop.rows ? link.loop.rows(work) : 1;
    link.loop.body(work);
  }
}

std::vector<Data> Chain::run(ThreadPool& pool) {
  std::mutex mutex;
  std::vector<std::vector<Block>> idle;  // memory that no thread uses at the moment
  Link& first = links_[0];
  std::vector<int> order(first.run.samples);
  std::iota(order.begin(), order.end(), 0);
  if (first.loop.largest_first)
    std::ranges::stable_sort(order, std::greater(), [&](int i) { return first.works[i].out[0].bytes(); });
  std::atomic<bool> failed = false;  // the calls will be run one by one: no need to go on
  pool.parallel_for(first.run.samples, [&](int64_t n) {
    if (failed) return;
    std::vector<Block> scratch;
    {
      std::lock_guard lock(mutex);
      if (idle.empty()) idle.emplace_back(links_.size());
      scratch = std::move(idle.back());
      idle.pop_back();
    }
    try {
      run_sample(order[n], scratch);
    } catch (...) {
      failed = true;
      throw;
    }
    std::lock_guard lock(mutex);
    idle.push_back(std::move(scratch));
  });
  std::vector<Data> results;
  for (auto& link : links_) results.push_back(link.kept ? std::move(link.output) : Data());
  return results;
}

}  // namespace avida
