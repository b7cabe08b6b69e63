// FetchedBlocks: blocks of data on other machines, each fetched as a whole and kept while its window is read.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>

#include "readers/blocks/block_order.h"
#include "readers/source.h"
#include "runtime/fork.h"
#include "storage/fetched.h"

namespace avida {

// Thread-safe. Holds the blocks of two windows: the one that is read, and the next one.
class FetchedBlocks : public std::enable_shared_from_this<FetchedBlocks>, ForkAware {
 public:
  FetchedBlocks(std::shared_ptr<const Source> source, std::shared_ptr<const BlockOrder> order);

  // What these samples need. Fetches the blocks that are not there, and waits for those that others fetch.
  storage::Fetched get(std::span<const SampleId> ids);
  // Names samples that come later. Their blocks are fetched, by another thread, behind those of the next get().
  void announce(std::span<const SampleId> ids);

  void stop();
  void join(std::chrono::steady_clock::time_point latest);

 private:
  using Part = std::shared_ptr<const storage::Fetched>;
  struct Kept {
    Part part;         // null: it is being fetched
    int64_t used = 0;  // the number of samples that were read up to its last use; 0: it was not used yet
  };

  std::set<int64_t> blocks_of(std::span<const SampleId> ids) const;
  void fetch(const std::set<int64_t>& blocks, std::unique_lock<std::mutex>& lock, std::map<int64_t, Part>& got);
  void drop_old();
  void start_thread();
  void work();
  std::set<int64_t> next_announced();

  bool try_before_fork() override;
  void after_fork(bool in_child) override;

  const std::shared_ptr<const Source> source_;
  const std::shared_ptr<const BlockOrder> order_;
  const size_t most_;
  const int64_t stale_;  // samples that are read after the last use of a block of the same window, almost surely
  std::mutex mutex_;
  std::condition_variable fetched_;
  std::map<int64_t, Kept> kept_;  // by the first sample of each block
  std::set<int64_t> announced_;
  int64_t read_ = 0;  // samples
  bool is_working_ = false;
  std::atomic<bool> stop_{false};
  ForkRegistration fork_{this, Rank::reader};
};

}  // namespace avida
