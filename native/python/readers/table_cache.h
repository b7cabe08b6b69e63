// TableCache: parts of tables that readers have decoded, within a limit of memory.
#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "python/arrow/table.h"
#include "runtime/fork.h"

namespace avida::python {

// A part of a table, such as a row group, and what keeps its memory for samples that lie in it.
struct TablePart {
  std::shared_ptr<const arrow::Table> table;
  Block memory;
  int64_t bytes = 0;
};
using TablePartPtr = std::shared_ptr<const TablePart>;

// Each part is loaded by one thread, and several at the same time. A forked child loads again what the parent was
// loading.
class TableCache : ForkAware {
 public:
  struct Part {
    int64_t rows = 0;   // that are samples
    int64_t bytes = 0;  // a guess until it was loaded
  };
  // `forget`: a part is dropped as soon as all its rows were taken.
  TableCache(std::vector<Part> parts, int64_t limit, bool forget);

  using Load = std::function<TablePartPtr(int64_t part)>;  // may throw
  using Found = std::map<int64_t, TablePartPtr>;
  // The parts that are needed; the caller loads those that nobody does, and while others load the rest, those that
  // will be needed `soon`, if there is room for them. `interrupt` is called while it waits, and may throw.
  Found get(std::span<const int64_t> needed, std::span<const int64_t> soon, const Load& load,
            const std::function<void()>& interrupt);
  // Notes that so many rows of a part are done with.
  void took(int64_t part, int64_t rows);

  int64_t loads() const;  // so far, for tests

 private:
  struct Entry {
    TablePartPtr part;  // null: it is being loaded
    int64_t rows_left = 0;
    uint64_t used = 0;
  };

  bool is_there(int64_t part) const { return entries_.contains(part); }
  bool has_room(int64_t part) const;
  void begin_pass_with(int64_t part);
  TablePartPtr load(int64_t part, const Load& load, std::unique_lock<std::mutex>& lock);
  void note_bytes(int64_t part, int64_t bytes);
  void make_room(int64_t newest);
  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool in_child) override;

  std::vector<Part> parts_;
  const int64_t limit_;
  const bool forget_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, Entry> entries_;
  std::set<int64_t> done_;  // parts of which this pass has taken all rows
  int64_t bytes_ = 0;       // of entries, also of those that are being loaded
  int64_t loads_ = 0;
  uint64_t clock_ = 0;
  ForkRegistration fork_{this, Rank::reader};
};

}  // namespace avida::python
