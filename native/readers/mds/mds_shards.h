// The shards of a data set in MosaicML Streaming's format: where each sample is in them. Compressed ones are
// decompressed as a whole, and kept within a limit.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "readers/mds/mds_index.h"
#include "runtime/fork.h"
#include "storage/fetched.h"

namespace avida {

// A shard whose samples can be read. Offsets are checked.
struct OpenMdsShard {
  storage::ObjectPtr object;
  std::vector<uint32_t> offsets;  // of the samples, and the end
  Block memory{};                 // what a decompressed object reads
};
using OpenMdsShardPtr = std::shared_ptr<const OpenMdsShard>;

// Decompressed shards, the newest of which are kept. Several threads that ask for one wait for the first.
class UnpackedMdsShards : ForkAware {
 public:
  explicit UnpackedMdsShards(int64_t limit) : limit_(limit) {}
  OpenMdsShardPtr get(const MdsShard& shard);

 private:
  struct Entry {
    const MdsShard* shard;
    OpenMdsShardPtr open;  // null while a thread is at it
  };

  void keep(const MdsShard& shard, const OpenMdsShardPtr& open);
  std::list<Entry>::iterator find(const MdsShard& shard);
  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool in_child) override;

  const int64_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Entry> entries_;  // the one that was used last is in front
  int64_t bytes_ = 0;
  ForkRegistration fork_{this, Rank::reader};
};

class MdsShards {
 public:
  // Throws where a shard is not what the index says; with `keep_damaged`, that is the error of each of its samples.
  MdsShards(std::vector<MdsShard> shards, int64_t limit, bool keep_damaged);

  int64_t samples() const { return firsts_.back(); }
  const std::vector<int64_t>& firsts() const { return firsts_; }  // samples, and the number of all
  const std::vector<MdsShard>& shards() const { return shards_; }
  bool is_local() const { return is_local_; }

  struct Place {
    size_t shard;
    int64_t sample;  // in the shard
  };
  Place place(int64_t index) const;
  std::string describe(int64_t index) const;
  void name_needs(int64_t index, storage::Needs& needs) const;
  std::vector<int64_t> blocks() const;  // those of Source

  // The bytes of a sample: an object, and where they are in it.
  struct Bytes {
    OpenMdsShardPtr shard;  // keeps the object
    storage::ObjectPtr object;
    int64_t begin, end;
  };
  Bytes open(int64_t index, const storage::Fetched& fetched) const;

 private:
  bool is_packed(size_t shard) const { return shards_[shard].compression != MdsShard::Compression::none; }
  void open_unpacked(bool keep_damaged);

  const std::vector<MdsShard> shards_;
  std::vector<int64_t> firsts_;
  std::vector<OpenMdsShardPtr> open_;  // null for those that are compressed or damaged
  std::vector<std::string> damages_;   // of each shard; empty for good ones
  bool is_local_ = true;
  mutable UnpackedMdsShards unpacked_;
};

}  // namespace avida
