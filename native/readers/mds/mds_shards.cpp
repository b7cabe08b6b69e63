#include "readers/mds/mds_shards.h"

#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "codecs/codec.h"
#include "codecs/limits.h"
#include "core/error.h"
#include "readers/blocks/block_cutter.h"
#include "readers/fits/fits_bytes.h"
#include "runtime/memory.h"
#include "storage/waiting.h"

namespace avida {
namespace {

using Compression = MdsShard::Compression;

constexpr auto kWake = std::chrono::milliseconds(20);  // to look for interrupts
constexpr int64_t kMostZstd = 1 << 16;                 // the most bytes that one byte may stand for

// Bytes of the table in front of the samples: their number, their offsets and the end.
int64_t table_bytes(const MdsShard& shard) { return 4 * (shard.samples + 2); }

std::vector<uint32_t> read_offsets(const MdsShard& shard, const storage::Object& object) {
  if (object.size() != shard.bytes)
    refuse("expected ", shard.bytes, " bytes according to the index, found ", object.size());
  std::vector<uint32_t> table(static_cast<size_t>(shard.samples) + 2);
  object.read_at(0, table.data(), table_bytes(shard));
  if (table[0] != shard.samples)
    refuse("expected ", shard.samples, " samples according to the index, found ", table[0]);
  table.erase(table.begin());
  int64_t before = table_bytes(shard);
  for (int64_t i = 0; i <= shard.samples; before = table[static_cast<size_t>(i++)])
    if (table[static_cast<size_t>(i)] < before)
      refuse("the offset of sample ", i, ", ", table[static_cast<size_t>(i)], ", is before byte ", before);
  if (before != shard.bytes) refuse("expected the last sample to end at byte ", shard.bytes, ", it ends at ", before);
  return table;
}

// Throws unless it makes exactly the bytes that the index says.
void decompress(const MdsShard& shard, codecs::Bytes from, char* to) {
  if (shard.compression == Compression::zstd) {
    const size_t made = ZSTD_decompress(to, static_cast<size_t>(shard.bytes), from.data(), from.size());
    if (ZSTD_isError(made)) refuse("cannot be decompressed to ", shard.bytes, " bytes: ", ZSTD_getErrorName(made));
    if (static_cast<int64_t>(made) != shard.bytes)
      refuse("expected ", shard.bytes, " bytes when it is decompressed, got ", made);
    return;
  }
  Inflater inflater;
  const auto *at = from.data(), *end = from.data() + from.size();
  auto *out = reinterpret_cast<unsigned char*>(to), *out_end = out + shard.bytes;
  inflater.unpack(at, end, out, shard.bytes);
  unsigned char more, *beyond = &more;
  if (out == out_end && !inflater.ended()) inflater.unpack(at, end, beyond, 1);  // what follows the last byte
  if (out != out_end || beyond != &more || !inflater.ended())
    refuse("expected ", shard.bytes, " bytes when it is decompressed, got ", beyond == &more ? "fewer" : "more");
}

OpenMdsShardPtr unpack(const MdsShard& shard) {
  storage::Request request{.name = shard.name, .bytes = shard.file_bytes};
  storage::fetch({&request, 1});
  request.check();
  if (request.identity.size != shard.file_bytes || request.received != shard.file_bytes)
    refuse("expected ", shard.file_bytes, " bytes according to the index, found ", request.identity.size);
  const codecs::Bytes packed(static_cast<const uint8_t*>(request.data.get()), static_cast<size_t>(request.received));
  codecs::check_memory(shard.bytes);
  codecs::check_ratio(packed, shard.bytes, shard.compression == Compression::zstd ? kMostZstd : kMostDeflate);
  auto open = std::make_shared<OpenMdsShard>();
  open->memory = allocate(shard.bytes);
  decompress(shard, packed, static_cast<char*>(open->memory.get()));
  open->object = std::make_shared<storage::BytesObject>(
      std::span(static_cast<const uint8_t*>(open->memory.get()), static_cast<size_t>(shard.bytes)));
  open->offsets = read_offsets(shard, *open->object);
  return open;
}

}  // namespace

OpenMdsShardPtr UnpackedMdsShards::get(const MdsShard& shard) {
  std::unique_lock lock(mutex_);
  while (true) {
    auto found = find(shard);
    if (found == entries_.end()) break;
    if (found->open) {
      entries_.splice(entries_.begin(), entries_, found);
      return found->open;
    }
    changed_.wait_for(lock, kWake);
    lock.unlock();
    storage::Interruptible::check();
    lock.lock();
  }
  entries_.push_front({&shard, nullptr});
  lock.unlock();
  OpenMdsShardPtr open;
  try {
    open = unpack(shard);
  } catch (...) {
    lock.lock();
    if (auto entry = find(shard); entry != entries_.end()) entries_.erase(entry);
    changed_.notify_all();
    throw;
  }
  lock.lock();
  keep(shard, open);
  changed_.notify_all();
  return open;
}

void UnpackedMdsShards::keep(const MdsShard& shard, const OpenMdsShardPtr& open) {
  auto entry = find(shard);
  if (entry == entries_.end() || entry->open) return;  // a child of a fork has begun anew
  entry->open = open;
  bytes_ += shard.bytes;
  for (auto each = entries_.end(); bytes_ > limit_ && each != entries_.begin();) {
    --each;
    if (!each->open || each->shard == &shard) continue;
    bytes_ -= each->shard->bytes;
    each = entries_.erase(each);
  }
}

std::list<UnpackedMdsShards::Entry>::iterator UnpackedMdsShards::find(const MdsShard& shard) {
  return std::ranges::find(entries_, &shard, &Entry::shard);
}

void UnpackedMdsShards::after_fork(bool in_child) {
  if (in_child) {
    new (&changed_) std::condition_variable;
    std::erase_if(entries_, [](const Entry& entry) { return !entry.open; });
  }
  mutex_.unlock();
}

MdsShards::MdsShards(std::vector<MdsShard> shards, int64_t limit, bool keep_damaged)
    : shards_(std::move(shards)), firsts_{0}, open_(shards_.size()), damages_(shards_.size()), unpacked_(limit) {
  for (const MdsShard& shard : shards_) {
    firsts_.push_back(firsts_.back() + shard.samples);
    is_local_ &= storage::is_local(shard.name);
  }
  open_unpacked(keep_damaged);
}

// The tables of all shards are fetched together.
void MdsShards::open_unpacked(bool keep_damaged) {
  storage::Needs needs;
  for (size_t i = 0; i < shards_.size(); i++)
    if (!is_packed(i)) needs.beginning(shards_[i].name, table_bytes(shards_[i]));
  const storage::Fetched fetched(needs);
  for (size_t i = 0; i < shards_.size(); i++) {
    if (is_packed(i)) continue;
    try {
      auto open = std::make_shared<OpenMdsShard>();
      open->object = fetched.open(shards_[i].name);
      open->offsets = read_offsets(shards_[i], *open->object);
      open->object->rest();
      open_[i] = std::move(open);
    } catch (const Error& error) {
      if (!keep_damaged) fail(error.kind, shards_[i].name, ": ", error.message);
      damages_[i] = error.message;
    }
  }
}

MdsShards::Place MdsShards::place(int64_t index) const {
  const auto next = std::ranges::upper_bound(firsts_, index);  // shards without samples have the first of the next one
  const auto shard = static_cast<size_t>(next - firsts_.begin()) - 1;
  return {shard, index - firsts_[shard]};
}

std::string MdsShards::describe(int64_t index) const {
  const Place at = place(index);
  return str(shards_[at.shard].name, ", sample ", at.sample);
}

void MdsShards::name_needs(int64_t index, storage::Needs& needs) const {
  const Place at = place(index);
  const OpenMdsShardPtr& open = open_[at.shard];
  if (!open) return;  // a compressed one is fetched as a whole, once
  const int64_t begin = open->offsets[static_cast<size_t>(at.sample)];
  needs.part(shards_[at.shard].name, open->object, begin, open->offsets[static_cast<size_t>(at.sample) + 1] - begin);
}

std::vector<int64_t> MdsShards::blocks() const {
  BlockCutter cutter;
  for (size_t i = 0; i < shards_.size(); i++)
    for (int64_t sample = 0; sample < shards_[i].samples; sample++) {
      const uint32_t* offsets = open_[i] ? &open_[i]->offsets[static_cast<size_t>(sample)] : nullptr;
      cutter.add(i, offsets ? offsets[0] : 0, offsets ? offsets[1] : 1);  // a compressed shard is one block
    }
  return std::move(cutter).firsts();
}

MdsShards::Bytes MdsShards::open(int64_t index, const storage::Fetched& fetched) const {
  const Place at = place(index);
  const MdsShard& shard = shards_[at.shard];
  if (!damages_[at.shard].empty()) refuse(damages_[at.shard]);
  OpenMdsShardPtr open = is_packed(at.shard) ? unpacked_.get(shard) : open_[at.shard];
  storage::ObjectPtr object = is_packed(at.shard) ? open->object : fetched.of(shard.name, open->object);
  const int64_t begin = open->offsets[static_cast<size_t>(at.sample)];
  const int64_t end = open->offsets[static_cast<size_t>(at.sample) + 1];
  return {std::move(open), std::move(object), begin, end};
}

}  // namespace avida
