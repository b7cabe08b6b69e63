// FetchedBlocks: blocks of data on other machines, each fetched as a whole and kept while its window is read.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "readers/blocks/block_order.h"
#include "readers/source.h"
#include "runtime/fork.h"
#include "storage/fetched.h"

namespace avida {

// Thread-safe. Holds the blocks of about two windows: the one that is read, and the next one. Batches have numbers, in
// the order in which they are taken, and each is announced before it is asked for.
class FetchedBlocks : public std::enable_shared_from_this<FetchedBlocks>, ForkAware {
 public:
  // So many batches may be asked for at the same time, or before their turn. With `in_background`, a thread fetches
  // blocks that were announced.
  FetchedBlocks(std::shared_ptr<const Source> source, std::shared_ptr<const BlockOrder> order, int depth,
                bool in_background);

  void announce(int64_t batch, std::span<const SampleId> ids);
  // What these samples need. Fetches the blocks that are not there, and waits for those that others fetch.
  storage::Fetched get(int64_t batch, std::span<const SampleId> ids);

  void stop() { stop_ = true; }
  void join(std::chrono::steady_clock::time_point latest);

 private:
  using Parts = std::shared_ptr<const storage::Fetched>;
  struct Block {
    enum State { named, under_way, there } state = named;
    Parts parts{};
    int64_t until = 0;  // the last batch that needs it
  };
  using Numbers = std::set<int64_t>;  // of blocks: the first sample of each

  Numbers blocks_of(std::span<const SampleId> ids) const;
  void fetch(const Numbers& blocks, std::unique_lock<std::mutex>& lock, std::vector<Parts>& got);
  Numbers take_there(Numbers& needed, std::vector<Parts>& got) const;
  void drop_before(int64_t batch);
  void start_thread();
  void work();
  Numbers next_named();

  bool try_before_fork() override;
  void after_fork(bool in_child) override;

  const std::shared_ptr<const Source> source_;
  const std::shared_ptr<const BlockOrder> order_;
  const int depth_;
  const bool in_background_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, Block> blocks_;
  std::deque<int64_t> named_;  // in the order in which they are needed
  bool is_working_ = false;
  std::atomic<bool> stop_{false};
  ForkRegistration fork_{this, Rank::reader};
};

}  // namespace avida
