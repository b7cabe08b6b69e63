// The records of a Lightning Memory-Mapped Database, by index in the order of keys.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "readers/records/late_bytes.h"
#include "runtime/fork.h"

namespace avida {

// Reads the file without liblmdb, which trusts the mapped file: pages are read one by one, and every number in them is
// checked. The records are those of the newest transaction at the time of opening. Takes no locks on the file.
// Thread-safe, and usable in a forked child.
class Lmdb {
 public:
  // The folder with data.mdb, or such a file. In a store that is not local, pages take a request each.
  explicit Lmdb(std::string path);

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }

  struct Record {
    std::string key;
    LateBytes bytes;
    std::string_view value;  // in the bytes
  };
  Record record(int64_t index) const;
  // Throws if later transactions may have reused pages of the transaction that is read. To be called after a record was
  // read, before it is used.
  void check_unchanged() const;

 private:
  struct Page;
  struct Node;
  struct Level {
    std::shared_ptr<const Page> branch;
    int child;  // the child that is visited
  };
  struct Leaf {
    int64_t page, begin, end;  // the range of its records
  };

  static constexpr int64_t kMetaBytes = 152;

  void read_metas(char (&to)[2][kMetaBytes]);
  void open();
  void check_number(int64_t number) const;
  void check_head(const char* head, int64_t number, int kind) const;
  void read_begin(int64_t number, int kind, char* to, int64_t bytes) const;  // of a page
  std::shared_ptr<const Page> read_page(int64_t number, int kind) const;
  std::shared_ptr<const Page> leaf_page(int64_t number) const;
  Leaf find_leaf(int64_t index) const;  // the leaf that contains a record
  void find_next_leaf() const;
  Record find_record(int64_t index) const;
  LateBytes read_overflow(int64_t first, int64_t value_bytes) const;

  const std::string path_;
  const storage::ObjectPtr file_;
  int64_t page_bytes_ = 0, pages_ = 0, meta_offset_ = 0;
  uint64_t transaction_ = 0;
  int64_t root_ = 0, size_ = 0;
  int depth_ = 0;

  mutable ForkSafe<> mutex_{ForkAware::Rank::reader};
  // Branches do not store the number of records below them, so leaves are counted in order, as far as needed. These are
  // the branches above the next leaf.
  mutable std::vector<Leaf> leaves_;
  mutable std::vector<Level> levels_;
  mutable std::vector<std::shared_ptr<const Page>>
      recent_;  // a cache of leaves, indexed by page number modulo its size
};

}  // namespace avida
