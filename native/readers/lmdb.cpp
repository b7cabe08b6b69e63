#include "readers/lmdb.h"

#include <cstdio>
#include <cstring>
#include <fstream>

#include "core/error.h"

namespace avida {
namespace {

constexpr int64_t kAnchorStep = 4;  // small records fill many pages, and each step may touch one
constexpr const char* kOutside = "damaged database: the record goes on behind the end of data.mdb";

void check(int result, const char* what) {
  if (result != MDB_SUCCESS) fail(ErrorKind::runtime, what, ": ", mdb_strerror(result));
}

std::string_view bytes_of(const MDB_val& value) { return {static_cast<const char*>(value.mv_data), value.mv_size}; }

bool is_inside(std::string_view bytes, std::string_view map) {
  auto address = [](const char* p) { return reinterpret_cast<uintptr_t>(p); };
  uintptr_t begin = address(map.data()), at = address(bytes.data());
  return at >= begin && at - begin <= map.size() && bytes.size() <= map.size() - (at - begin);
}

// Where a file of so many bytes is mapped that has something at `address`, by what the system tells: the library does
// not. A database begins with a page's head of 16 bytes and a number that all of them have.
std::string_view map_around(const void* address, int64_t file_bytes) {
  constexpr uint32_t kMagic = 0xBEEFC0DE;
  constexpr int kPageHead = 16;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin, end, offset;
    char access[5];
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx", &begin, &end, access, &offset) != 4) continue;
    auto at = reinterpret_cast<uintptr_t>(address);
    if (at < begin || at >= end || access[0] != 'r' || offset != 0) continue;
    const char* map = reinterpret_cast<const char*>(begin);
    if (end - begin >= static_cast<uintptr_t>(file_bytes) && std::memcmp(map + kPageHead, &kMagic, 4) == 0)
      return {map, static_cast<size_t>(file_bytes)};
  }
  fail(ErrorKind::runtime, kOutside);
}

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
  file_.emplace(path_ + "/data.mdb");
  const int64_t file_bytes = file_->size();
  MDB_env* env = nullptr;
  check(mdb_env_create(&env), "cannot be opened");
  std::unique_ptr<MDB_env, Close> opened(env);
  // As large as the file, and not as large as the file may grow: writers often reserve a terabyte.
  check(mdb_env_set_mapsize(env, static_cast<size_t>(file_bytes)), "cannot be opened");
  check(mdb_env_open(env, path_.c_str(), MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS, 0), "cannot be opened");
  MDB_envinfo info;
  MDB_stat stat;
  check(mdb_env_info(env, &info), "cannot be read");
  check(mdb_env_stat(env, &stat), "cannot be read");
  // What lies behind the end of a mapped file ends the process when it is touched.
  if (info.me_last_pgno >= static_cast<size_t>(file_bytes) / stat.ms_psize)
    fail(ErrorKind::runtime, "expected ", info.me_last_pgno + 1, " pages of ", stat.ms_psize,
         " bytes, but data.mdb has ", file_bytes, " bytes");
  env_ = std::move(opened);
}

void Lmdb::check_size() const {
  std::lock_guard lock(mutex_);
  check_size_locked();
}

void Lmdb::check_size_locked() const {
  if (!env_) return;  // a child process opens it anew
  if (int64_t size = file_->current_size(); size < file_->size())
    fail(ErrorKind::runtime, "data.mdb has become shorter since it was opened: it had ", file_->size(),
         " bytes, now it has ", size);
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
  if (map_.empty()) {
    MDB_val key, value;
    check(mdb_cursor_get(cursor, &key, &value, MDB_FIRST), "cannot be read");
    map_ = map_around(key.mv_data, file_->size());
  }
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
  check_size_locked();
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
    if (!is_inside(record.key, map_)) {
      scan_.reset();
      fail(ErrorKind::runtime, kOutside);
    }
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
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(session));
  if (!is_inside(record.key, map_) || !is_inside(record.value, map_)) fail(ErrorKind::runtime, kOutside);
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
    map_ = {};
  }
  mutex_.unlock();
}

}  // namespace avida
