// Data: the samples that a Tensor (one sample) or a Batch holds. Samples are dense and C-ordered.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/layout.h"
#include "core/shape.h"

namespace avida {

struct Device {
  enum class Kind : int8_t { cpu, gpu } kind = Kind::cpu;
  int16_t id = 0;
  bool operator==(const Device& other) const { return kind == other.kind && (kind == Kind::cpu || id == other.id); }
};

constexpr int64_t kMaxSamples = 1 << 24;  // per batch

// A block of memory; the deleter returns it to its allocator.
using Block = std::shared_ptr<void>;

// What code outside of avida can do with memory that avida did not allocate.
enum class Borrowed : int8_t { no, to_read, to_write };

// The deleter of a block that remembers who else can write to the memory.
struct BlockDeleter {
  explicit BlockDeleter(std::function<void(void*)> release, Borrowed borrowed = Borrowed::no,
                        std::shared_ptr<void> pinned = {})
      : release(std::move(release)), borrowed(borrowed), pinned(std::move(pinned)) {}
  BlockDeleter(const BlockDeleter& other) : release(other.release), borrowed(other.borrowed), pinned(other.pinned) {}
  void operator()(void* memory) const { release(memory); }

  std::function<void(void*)> release;
  Borrowed borrowed;
  std::shared_ptr<void> pinned;              // what the GPU knows of pinned memory; null for other memory
  mutable std::atomic<bool> exposed{false};  // others were able to write to it at some time
  mutable std::atomic<int> writers{0};       // Writers that others hold now
};

// A part of a mixture of readers.
struct MixPart {
  std::string name;     // as the user calls it; of one in another mixture, behind the name of that
  uint64_t number = 0;  // among all parts, also those of mixtures within the mixture
};

// Where a sample comes from. Readers set it, and operators pass it on.
struct Origin {
  std::string source;                        // a file or archive member; empty if unknown
  int64_t index = -1, epoch = -1;            // its index in the data set, and the pass over the data
  std::string error;                         // why the sample is a placeholder; empty if it is not
  std::shared_ptr<const MixPart> part = {};  // null: of no mixture
};
using Origins = std::shared_ptr<const std::vector<Origin>>;  // shared along a chain of operators

// What is known of a value before it is computed.
struct Meta {
  bool is_batch = false;
  int samples = 1;
  DType dtype = DType::none;  // none if not known yet; then ndim and layout are not known either
  int ndim = 0;               // -1 if not known yet; then layout is not known either
  Layout layout;
  Device device;

  bool known() const { return dtype != DType::none && ndim >= 0; }
  static Meta unknown(bool is_batch, int samples) {
    Meta meta;
    meta.is_batch = is_batch;
    meta.samples = samples;
    return meta;
  }
};

struct Data {
  DType dtype = DType::none;
  Layout layout;
  Device device;
  ShapeList shapes;
  Origins origins;         // null if no origin is known
  bool read_only = false;  // foreign memory that must not be written to
  void* stream = nullptr;  // the CUDA stream in which the data is computed; null on the CPU

  int size() const { return shapes.samples(); }
  int64_t bytes(int i) const { return volume(shapes.dims(i)) * size_of(dtype); }
  int64_t bytes() const;  // of all samples
  void* at(int i) const { return samples_.empty() ? first_ + step_ * i : samples_[i]; }
  const Block& owner(int i) const { return owners_.empty() ? block_ : owners_[i]; }
  // Whether the samples have one shape and are contiguous in one block.
  bool contiguous() const;

  // Sets the memory of the samples: `step` bytes apart in one block, at any addresses of one block, or each in its own.
  void place(Block block, void* first, int64_t step);
  void place(Block block, std::vector<void*> samples);
  void place(std::vector<Block> owners, std::vector<void*> samples);
  // Shares the memory of `other`, with the shapes of this one.
  void place_like(const Data& other);

  // The blocks that own the samples.
  std::span<const Block> blocks() const { return owners_.empty() ? std::span(&block_, 1) : std::span(owners_); }

  Data sample(int i) const { return select({i}); }
  Data select(const std::vector<int>& indices) const;

 private:
  Block block_;
  char* first_ = nullptr;
  int64_t step_ = 0;
  std::vector<void*> samples_;  // empty when evenly spaced
  std::vector<Block> owners_;   // empty when there is one block
};

// Held by code outside of avida that can write to a block as long as it has this.
class Writer {
 public:
  explicit Writer(Block block);
  ~Writer();
  Writer(const Writer&) = delete;

 private:
  const Block block_;
};

// Whether code outside of avida can write to some of the samples in CPU memory now.
bool others_write(const Data& data);
// Whether it can, or once could, in any memory.
bool exposed(const Data& data);
// Whether some of the memory belongs to another library.
bool foreign(const Data& data);
// Whether they share a block.
bool share_memory(const Data& a, const Data& b);

}  // namespace avida
