// The records of a Lightning Memory-Mapped Database by their number in the order of keys.
#pragma once
#include <lmdb.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/file.h"
#include "runtime/fork.h"

namespace avida {

// May be used from several threads, and in a child process. The database must not be written to meanwhile: nothing is
// locked, so that it may lie where nobody may write, and that others in this process may have it open too.
class Lmdb : ForkAware {
 public:
  explicit Lmdb(std::string path);  // the folder with data.mdb

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }

  struct Record {
    std::string_view key, value;  // valid as long as the database is open
  };
  Record record(int64_t index) const;
  // Fails when data.mdb has become shorter: what lay behind its end must not be touched. Before records are read.
  void check_size() const;

 private:
  struct Close {
    void operator()(MDB_env* env) const { mdb_env_close(env); }
    void operator()(MDB_txn* txn) const { mdb_txn_abort(txn); }
    void operator()(MDB_cursor* cursor) const { mdb_cursor_close(cursor); }
  };
  // A cursor and the record it stands at. Databases have no numbers: a cursor only goes to a key, or to the next one.
  struct Session {
    std::unique_ptr<MDB_txn, Close> txn;
    std::unique_ptr<MDB_cursor, Close> cursor;
    int64_t at = -1;

    Record move(MDB_cursor_op how, std::string_view key = {});
  };

  void open() const;
  void check_size_locked() const;
  std::unique_ptr<Session> new_session() const;
  std::unique_ptr<Session> take_session(int64_t index, std::string& anchor) const;

  const std::string path_;
  int64_t size_ = 0;

  mutable std::mutex mutex_;
  mutable std::unique_ptr<MDB_env, Close> env_;  // null in a child process, until it is needed
  mutable std::optional<File> file_;
  mutable std::string_view map_;  // where the file is in memory
  mutable std::vector<std::unique_ptr<Session>> idle_;
  // The keys of every so many records, found when first needed by a cursor of their own.
  mutable std::unique_ptr<Session> scan_;
  mutable std::string anchors_;
  mutable std::vector<int64_t> anchor_ends_;

  void before_fork() override;
  void after_fork(bool in_child) override;
  ForkRegistration fork_{this, Rank::reader};
};

}  // namespace avida
