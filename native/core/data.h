// Data: the samples that a Tensor (one sample) or a Batch holds. Samples are dense and C-ordered.
#pragma once
#include <memory>
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

constexpr int64_t kMaxSamples = 1 << 24;  // of a batch

// A block of memory; the deleter gives it back to whoever made it.
using Block = std::shared_ptr<void>;

// Who a sample is. Readers say so, and it follows the sample through operators.
struct Origin {
  std::string source;              // a file or archive member; empty: not known
  int64_t index = -1, epoch = -1;  // its place in the data set, and the pass over it
  std::string error;               // why the sample is empty, where an operator was told to go on without it
};
using Origins = std::shared_ptr<const std::vector<Origin>>;  // shared along a chain of operators

// What is known of a value before it is computed.
struct Meta {
  bool is_batch = false;
  int samples = 1;
  DType dtype = DType::none;  // none: not known yet, nor are ndim and layout
  int ndim = 0;               // -1: not known yet, nor is layout
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
  Origins origins;         // null: nothing is known of any sample
  bool read_only = false;  // foreign memory that must not be written to
  void* stream = nullptr;  // of a GPU: whose work makes the data, perhaps later

  int size() const { return shapes.samples(); }
  int64_t bytes(int i) const { return volume(shapes.dims(i)) * size_of(dtype); }
  void* at(int i) const { return samples_.empty() ? first_ + step_ * i : samples_[i]; }
  const Block& owner(int i) const { return owners_.empty() ? block_ : owners_[i]; }
  // True when the samples have one shape and follow one another in one block without gaps.
  bool contiguous() const;

  // Where the samples are: `step` bytes apart in one block, at any places of one block, or each in its own.
  void place(Block block, void* first, int64_t step);
  void place(Block block, std::vector<void*> samples);
  void place(std::vector<Block> owners, std::vector<void*> samples);
  // Shares the memory of another, under shapes of its own.
  void place_like(const Data& other);

  Data sample(int i) const { return select({i}); }
  Data select(const std::vector<int>& indices) const;

 private:
  Block block_;
  char* first_ = nullptr;
  int64_t step_ = 0;
  std::vector<void*> samples_;  // empty when evenly spaced
  std::vector<Block> owners_;   // empty when there is one block
};

}  // namespace avida
