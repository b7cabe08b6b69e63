#include "readers/lmdb/lmdb.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error.h"
#include "storage/names.h"

namespace avida {
namespace {

static_assert(std::endian::native == std::endian::little, "databases are in the byte order of their machine");

// A page begins with its number, 2 bytes of padding, its kind, the end of its table of node offsets and the beginning
// of its nodes. Overflow pages, which hold a large value, have their count instead of the latter two.
constexpr int64_t kHead = 16, kKind = 10, kTableEnd = 12, kNodesBegin = 14, kNodeHead = 8;
enum Kind { branch = 1, leaf = 2, overflow = 4, meta = 8, any_kind = 0x6F };
constexpr int64_t kFirstPage = 2;  // after the two meta pages
constexpr int kDeepest = 32;
constexpr int64_t kRecent = 256;    // pages that are cached
constexpr int64_t kLeastNode = 10;  // bytes, with its entry in the table

// Offsets in a meta page. The main database follows that of free pages, whose padding field has the page size.
constexpr int64_t kMagic = 16, kVersion = 20, kPageSize = 40, kFlags = 92, kDepth = 94, kEntries = 120, kRoot = 128,
                  kLastPage = 136, kTransaction = 144;
constexpr int kDuplicates = 4;  // a flag of databases

enum NodeFlag { in_pages = 1, is_database = 2, is_duplicates = 4 };

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// Errors of a database, with its path.
template <class Function>
auto named(const std::string& path, Function&& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw Error(error.kind, str("the LMDB ", path, ": ", error.message));
  }
}

std::string file_in(const std::string& path) {
  const bool is_path = storage::scheme_of(path).empty() || storage::scheme_of(path) == "file";
  const bool is_folder = is_path ? storage::is_local_folder(path) : !path.ends_with(".mdb");
  return is_folder ? storage::name_in(path, "data.mdb") : path;
}

const char* name_of(int kind) {
  return kind == branch     ? "a branch"
         : kind == leaf     ? "a leaf"
         : kind == overflow ? "the first page of a value"
                            : "something else";
}

template <class... Parts>
[[noreturn]] void fail_at(int64_t page, const Parts&... parts) {
  refuse("damaged database: page ", page, ": ", parts...);
}

}  // namespace

// A node of a leaf or branch: an offset in its page.
struct Lmdb::Node {
  int64_t offset;  // in the page
  uint32_t low;    // bytes of the value, or the lower bits of a child's number
  uint16_t flags, key_bytes;
};

struct Lmdb::Page {
  int64_t number;
  std::vector<char> bytes;

  int count() const { return (load<uint16_t>(&bytes[kTableEnd]) - static_cast<int>(kHead)) / 2; }

  Node node(int64_t i) const {
    if (i >= count()) fail_at(number, "expected more than ", i, " nodes, found ", count());
    const int64_t offset = load<uint16_t>(&bytes[kHead + 2 * i]);
    if (offset + kNodeHead > std::ssize(bytes)) fail_at(number, "node ", i, " is at byte ", offset);
    Node found{offset, load<uint32_t>(&bytes[offset]), load<uint16_t>(&bytes[offset + 4]),
               load<uint16_t>(&bytes[offset + 6])};
    check_inside(offset + kNodeHead + found.key_bytes);
    return found;
  }
  int64_t child(int64_t i) const {
    Node found = node(i);
    return found.low | static_cast<int64_t>(found.flags) << 32;
  }
  // The value of a node, or the number of its first page.
  std::string_view value(const Node& node, int64_t value_bytes) const {
    const int64_t offset = node.offset + kNodeHead + node.key_bytes;
    check_inside(offset + value_bytes);
    return {&bytes[0] + offset, static_cast<size_t>(value_bytes)};
  }
  std::string key(const Node& node) const { return {&bytes[0] + node.offset + kNodeHead, node.key_bytes}; }
  void check_inside(int64_t end) const {
    if (end > std::ssize(bytes)) fail_at(number, "a node ends at byte ", end, " of ", bytes.size());
  }
};

Lmdb::Lmdb(std::string path)
    : path_(std::move(path)), file_(named(path_, [&] { return storage::open(file_in(path_)); })), recent_(kRecent) {
  named(path_, [&] { open(); });
}

void Lmdb::read_metas(char (&to)[2][kMetaBytes]) {
  int64_t offset = 0;
  for (char* found : to) {
    file_->read_at(offset, found, kMetaBytes);
    const auto version = load<uint32_t>(found + kVersion);
    page_bytes_ = load<uint32_t>(found + kPageSize);
    if (!(load<uint16_t>(found + kKind) & meta) || load<uint32_t>(found + kMagic) != 0xBEEFC0DE)
      refuse("expected an LMDB meta page at byte ", offset, ", found other data");
    if (version != 1) refuse("expected version 1 of the format, found ", version);
    if (page_bytes_ < 256 || page_bytes_ > 32768 || !std::has_single_bit(static_cast<uint64_t>(page_bytes_)))
      refuse("expected pages of 256 to 32768 bytes, found ", page_bytes_);
    offset = page_bytes_;
  }
}

// Transactions alternate between two meta pages: the one with the higher transaction is current.
void Lmdb::open() {
  char metas[2][kMetaBytes], again[2][kMetaBytes];
  int attempts = 0;
  do {  // until no writer has changed them while they were read
    if (attempts++ == 1000)
      refuse("the database is being written to continuously; read it when the writer has finished");
    read_metas(metas);
    read_metas(again);
  } while (std::memcmp(metas, again, sizeof(metas)) != 0);
  auto transaction = [&](int i) { return load<uint64_t>(metas[i] + kTransaction); };
  const int newest = transaction(1) > transaction(0);
  const char* found = metas[newest];
  meta_offset_ = newest * page_bytes_;
  transaction_ = transaction(newest);
  pages_ = storage::identity(file_in(path_)).size / page_bytes_;
  if (load<uint16_t>(found + kFlags) & kDuplicates)
    refuse("expected one record for each key, found a database with duplicates (MDB_DUPSORT)");
  depth_ = load<uint16_t>(found + kDepth);
  root_ = load<int64_t>(found + kRoot);
  size_ = load<int64_t>(found + kEntries);
  if (size_ < 0 || size_ > pages_ * page_bytes_ / kLeastNode)
    refuse("damaged database: ", size_, " records in ", pages_, " pages of ", page_bytes_, " bytes");
  if (depth_ > kDeepest || (size_ > 0 && depth_ == 0))
    refuse("damaged database: ", size_, " records in a tree of ", depth_, " levels");
  // The file is truncated, or the last transaction did not use its last pages.
  if (load<int64_t>(found + kLastPage) >= pages_)
    for (int64_t i = 0; i < size_; i++) record(i);
}

// Transaction n + 2 overwrites the meta page of n, and only n + 3 may reuse pages that n refers to: as long as the meta
// page is the same, so is everything below it.
void Lmdb::check_unchanged() const {
  uint64_t found;
  file_->read_at(meta_offset_ + kTransaction, &found, sizeof(found));
  if (found != transaction_)
    refuse("the database was written to while it was read: it was opened at transaction ", transaction_, ", and ",
           found, " is in its place; make a new reader to read what is there now");
}

void Lmdb::check_number(int64_t number) const {
  if (number < kFirstPage || number >= pages_)
    refuse("damaged database: it refers to page ", number, ", and has ", pages_, " pages");
}

void Lmdb::check_head(const char* head, int64_t number, int kind) const {
  const auto found = load<int64_t>(head);
  const int found_kind = load<uint16_t>(head + kKind) & any_kind;
  if (found != number || found_kind != kind)
    fail_at(number, "expected ", name_of(kind), ", found ", name_of(found_kind), " with the number ", found);
  const int low = load<uint16_t>(head + kTableEnd), high = load<uint16_t>(head + kNodesBegin);
  if (kind != overflow && !(kHead < low && low <= high && high <= page_bytes_))
    fail_at(number, "its table of nodes ends at byte ", low, ", and its nodes begin at ", high);
}

void Lmdb::read_begin(int64_t number, int kind, char* to, int64_t bytes) const {
  check_number(number);
  file_->read_at(number * page_bytes_, to, bytes);
  check_head(to, number, kind);
}

std::shared_ptr<const Lmdb::Page> Lmdb::read_page(int64_t number, int kind) const {
  auto page = std::make_shared<Page>(number, std::vector<char>(page_bytes_));
  read_begin(number, kind, page->bytes.data(), page_bytes_);
  return page;
}

void Lmdb::find_next_leaf() const {
  if (!leaves_.empty() && levels_.empty())
    refuse("damaged database: expected ", size_, " records, found ", leaves_.back().end);
  if (std::ssize(leaves_) >= pages_) refuse("damaged database: its pages form a cycle");
  auto next = [&] { return levels_.empty() ? root_ : levels_.back().branch->child(levels_.back().child); };
  while (std::ssize(levels_) < depth_ - 1) levels_.push_back({read_page(next(), branch), 0});
  char head[kHead];
  read_begin(next(), leaf, head, kHead);
  const int64_t count = (load<uint16_t>(head + kTableEnd) - kHead) / 2;
  const int64_t begin = leaves_.empty() ? 0 : leaves_.back().end;
  leaves_.push_back({next(), begin, begin + count});
  while (!levels_.empty() && ++levels_.back().child == levels_.back().branch->count()) levels_.pop_back();
}

Lmdb::Leaf Lmdb::find_leaf(int64_t index) const {
  std::lock_guard lock(mutex_);
  while (leaves_.empty() || leaves_.back().end <= index) find_next_leaf();
  return *std::upper_bound(leaves_.begin(), leaves_.end(), index, [](int64_t i, auto& leaf) { return i < leaf.end; });
}

std::shared_ptr<const Lmdb::Page> Lmdb::leaf_page(int64_t number) const {
  auto& recent = recent_[number % kRecent];
  {
    std::lock_guard lock(mutex_);
    if (recent && recent->number == number) return recent;
  }
  auto page = read_page(number, leaf);  // may take long, so the lock is not held
  std::lock_guard lock(mutex_);
  return recent = std::move(page);
}

// A large value in overflow pages, and the header of the first of them.
LateBytes Lmdb::read_overflow(int64_t first, int64_t value_bytes) const {
  check_number(first);
  const int64_t offset = first * page_bytes_, bytes = kHead + value_bytes;
  if (bytes > pages_ * page_bytes_ - offset)
    fail_at(first, "a value of ", value_bytes, " bytes exceeds the end of the file");
  LateBytes pages(*file_, offset);
  pages.start(bytes);
  if (bytes <= LateBytes::kLongString)
    pages.need_all();
  else
    pages.need(pages.all().substr(0, kHead));
  check_head(pages.all().data(), first, overflow);
  if (const int64_t count = load<uint32_t>(pages.all().data() + kTableEnd); bytes > count * page_bytes_)
    fail_at(first, "expected a value of ", value_bytes, " bytes, found ", count, " pages for it");
  return pages;
}

Lmdb::Record Lmdb::record(int64_t index) const {
  try {
    return find_record(index);
  } catch (const Error&) {
    check_unchanged();
    throw;
  }
}

Lmdb::Record Lmdb::find_record(int64_t index) const {
  const Leaf leaf = find_leaf(index);
  const auto page = leaf_page(leaf.page);
  const Node node = page->node(index - leaf.begin);
  if (node.flags & (is_database | is_duplicates))
    refuse("expected a record, found another database as \"", page->key(node), "\"");
  if (node.flags & in_pages) {
    const auto first = load<int64_t>(page->value(node, sizeof(int64_t)).data());
    LateBytes pages = read_overflow(first, node.low);
    const auto value = pages.all().substr(kHead);
    return {page->key(node), std::move(pages), value};
  }
  const auto value = page->value(node, node.low);
  LateBytes bytes(*file_, 0);
  bytes.start(node.low, value);
  const auto copy = bytes.all();
  return {page->key(node), std::move(bytes), copy};
}

}  // namespace avida
