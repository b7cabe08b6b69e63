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

// A block of memory; the deleter gives it back to whoever made it.
using Block = std::shared_ptr<void>;

// Where each sample comes from (file, archive member); shared along a chain of operators.
using Sources = std::shared_ptr<const std::vector<std::string>>;

// What is known of a value before it is computed.
struct Meta {
  bool is_batch = false;
  int samples = 1;
  DType dtype = DType::none;  // none: not known yet, nor are ndim and layout
  int ndim = 0;
  Layout layout;
  Device device;

  bool known() const { return dtype != DType::none; }
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
  std::vector<void*> samples;
  std::vector<Block> owners;  // one for all samples, or one for each
  Sources sources;

  int size() const { return shapes.samples(); }
  const Block& owner(int i) const { return owners[owners.size() == 1 ? 0 : i]; }
  // True when the samples follow one another in one block without gaps.
  bool contiguous() const;
  int64_t bytes(int i) const { return volume(shapes.dims(i)) * size_of(dtype); }
  Data sample(int i) const;
  Data select(const std::vector<int>& indices) const;
};

}  // namespace avida
