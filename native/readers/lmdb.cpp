#include "readers/lmdb.h"

#include "core/error.h"
#include "runtime/file.h"

namespace avida {
namespace {

constexpr int64_t kAnchorStep = 4;  // small records fill many pages, and each step may touch one

void check(int result, const char* what) {
  if (result != MDB_SUCCESS) fail(ErrorKind::runtime, what, ": ", mdb_strerror(result));
}

std::string_view bytes_of(const MDB_val& value) { return {static_cast<const char*>(value.mv_data), value.mv_size}; }

}  // namespace

Lmdb::Lmdb(std::string path) : path_(std::move(path)) {
  try {
    open();
    MDB_stat stat;
    check(mdb_env_stat(env_.get(), &stat), "cannot be read");
    size_ = static_cast<int64_t>(stat.ms_entries);
  } catch (const Error& error) {
    throw Error(error.kind, str("the LMDB ", path_, ": ", error.message));
  }
}

void Lmdb::open() const {
  file_bytes_ = File(path_ + "/data.mdb").size();
  MDB_env* env = nullptr;
  check(mdb_env_create(&env), "cannot be opened");
  std::unique_ptr<MDB_env, Close> opened(env);
  // As large as the file, and not as large as the file may grow: writers often reserve a terabyte.
  check(mdb_env_set_mapsize(env, static_cast<size_t>(file_bytes_)), "cannot be opened");
  check(mdb_env_open(env, path_.c_str(), MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS, 0), "cannot be opened");
  MDB_envinfo info;
  MDB_stat stat;
  check(mdb_env_info(env, &info), "cannot be read");
  check(mdb_env_stat(env, &stat), "cannot be read");
  // What lies behind the end of a mapped file ends the process when it is touched.
  if (info.me_last_pgno >= static_cast<size_t>(file_bytes_) / stat.ms_psize)
    fail(ErrorKind::runtime, "expected ", info.me_last_pgno + 1, " pages of ", stat.ms_psize,
         " bytes, but data.mdb has ", file_bytes_, " bytes");
  env_ = std::move(opened);
}

std::unique_ptr<Lmdb::Session> Lmdb::new_session() const {
  auto session = std::make_unique<Session>();
  MDB_txn* txn = nullptr;
  MDB_cursor* cursor = nullptr;
  MDB_dbi table;
  if (!env_) open();
  check(mdb_txn_begin(env_.get(), nullptr, MDB_RDONLY, &txn), "cannot be read");
  session->txn.reset(txn);
  check(mdb_dbi_open(txn, nullptr, 0, &table), "cannot be read");
  check(mdb_cursor_open(txn, table, &cursor), "cannot be read");
  session->cursor.reset(cursor);
  return session;
}

Lmdb::Record Lmdb::Session::move(MDB_cursor_op how, std::string_view wanted) {
  MDB_val key{wanted.size(), const_cast<char*>(wanted.data())}, value;
  int result = mdb_cursor_get(cursor.get(), &key, &value, how);
  if (result == MDB_NOTFOUND) fail(ErrorKind::runtime, "the database has fewer records than it says");
  check(result, "cannot be read");
  return {bytes_of(key), bytes_of(value)};
}

// A cursor that stands at most a step before the record, or else the key to start from.
std::unique_ptr<Lmdb::Session> Lmdb::take_session(int64_t index, std::string& anchor) const {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Session> session;
  if (idle_.empty()) {
    session = new_session();
  } else {
    session = std::move(idle_.back());
    idle_.pop_back();
  }
  if (session->at >= 0 && session->at <= index && index - session->at < kAnchorStep) return session;

  if (!scan_) scan_ = new_session();
  while (std::ssize(anchor_ends_) <= index / kAnchorStep) {
    int64_t next = std::ssize(anchor_ends_) * kAnchorStep;
    Record record;
    for (; scan_->at < next; scan_->at++) record = scan_->move(scan_->at < 0 ? MDB_FIRST : MDB_NEXT);
    anchors_ += record.key;
    anchor_ends_.push_back(std::ssize(anchors_));
  }
  int64_t number = index / kAnchorStep, begin = number == 0 ? 0 : anchor_ends_[number - 1];
  anchor.assign(anchors_, begin, anchor_ends_[number] - begin);
  return session;
}

Lmdb::Record Lmdb::record(int64_t index) const {
  std::string anchor;
  std::unique_ptr<Session> session = take_session(index, anchor);
  Record record;
  if (!anchor.empty()) {
    record = session->move(MDB_SET_KEY, anchor);
    session->at = index / kAnchorStep * kAnchorStep;
  } else if (session->at == index) {
    record = session->move(MDB_GET_CURRENT);
  }
  for (; session->at < index; session->at++) record = session->move(MDB_NEXT);
  if (std::ssize(record.value) > file_bytes_) fail(ErrorKind::runtime, "a record is larger than the database");
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(session));
  return record;
}

void Lmdb::before_fork() { mutex_.lock(); }

void Lmdb::after_fork(bool in_child) {
  if (in_child) {
    // The library's objects are the parent's: a child opens the database anew and leaves the old ones alone. What
    // samples point to stays mapped with them.
    for (auto& session : idle_) {
      session->cursor.release();
      session->txn.release();
    }
    idle_.clear();
    if (scan_) {
      scan_->cursor.release();
      scan_->txn.release();
      scan_.reset();
    }
    anchors_.clear();
    anchor_ends_.clear();
    env_.release();
  }
  mutex_.unlock();
}

}  // namespace avida
