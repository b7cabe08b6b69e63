#include "operator/chain.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>

#include "runtime/profile.h"
#include "runtime/thread_pool.h"

namespace avida {

void Chain::add(const Run& run, const SampleLoop& loop, const Origins& origins, bool kept) {
  Link& link = links_.emplace_back(run, loop);
  link.kept = kept;
  auto plan = [&](int64_t i) { link.works.plan(link.works[static_cast<int>(i)]); };
  if (loop.plans_take_long)
    run.pool.parallel_for(run.samples, plan);
  else
    for (int i = 0; i < run.samples; i++) plan(i);
  link.output = link.works.describe(0);
  link.output.origins = origins;
}

void Chain::run_sample(size_t k, int i) {
  Link& link = links_[k];
  SampleWork& work = link.works[i];
  if (k > 0) link.works.input(i, 0).data = links_[k - 1].works[i].out[0].data;
  Part needed;
  if (!link.kept && links_[k + 1].loop.reads) {
    needed = links_[k + 1].loop.reads(links_[k + 1].works[i]);
    work.needed = &needed;
  }
  work.end = link.loop.rows ? link.loop.rows(work) : 1;
  link.loop.body(work);
}

std::vector<Data> Chain::run(ThreadPool& pool) {
  std::atomic<bool> failed = false;  // the calls will be run one by one: stop early
  // The same for all calls, so that a thread goes on with the samples that it began with.
  std::vector<int> order(links_[0].run.samples);
  std::iota(order.begin(), order.end(), 0);
  for (size_t k = 0; k < links_.size(); k++) {
    profile::Work::turn_to(k);
    Link& link = links_[k];
    Origins origins = link.output.origins;
    link.output = link.works.allocate(0);
    link.output.origins = origins;
    if (k == 0 && link.loop.largest_first)
      std::ranges::stable_sort(order, std::greater(), [&](int i) { return link.works[i].out[0].bytes(); });
    auto run_next = [&](int64_t n) {
      if (failed) return;
      try {
        run_sample(k, order[n]);
      } catch (...) {
        failed = true;
        throw;
      }
    };
    pool.parallel_for(link.run.samples, run_next, ThreadPool::Share::dealt);
    if (k > 0 && !links_[k - 1].kept) links_[k - 1].output = Data();
  }
  std::vector<Data> results;
  for (auto& link : links_) results.push_back(std::move(link.output));
  return results;
}

}  // namespace avida
