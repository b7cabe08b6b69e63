// Work for a GPU, as loop families take it down.
#pragma once
#include <cstdint>
#include <span>

#include "core/data.h"
#include "cuda/kernel.h"

namespace avida {

// The work of one call. What all its samples add of one kind becomes one launch.
class Launches {
 public:
  virtual ~Launches() = default;

  template <class Body>
  void add(int64_t begin, int64_t end, const typename Body::Params& params) {
    Items<Body> items{begin, end - begin, params};
    append(*KernelOf<Body>::kernel, &items, items.count);
  }
  // A copy of the numbers that the GPU can read until the work is done.
  template <class T>
  const T* upload(std::span<const T> numbers) {
    return static_cast<const T*>(upload_bytes(numbers.data(), numbers.size_bytes()));
  }
  // Memory of the GPU until the work is done.
  virtual void* scratch(int64_t bytes) = 0;
  // Memory of the GPU for results.
  virtual Block allocate(int64_t bytes) = 0;
  // What the sample adds from here on needs what it has added so far.
  virtual void then() = 0;
  // From here on the work belongs to the next sample.
  virtual void next_sample() = 0;

 protected:
  virtual void append(const Kernel& kernel, const void* items, int64_t count) = 0;
  virtual const void* upload_bytes(const void* bytes, size_t size) = 0;
};

// Numbers that a body reads: where they are, or a copy for the GPU.
template <class T>
const T* readable(Launches* launches, const T* numbers, int64_t n) {
  return launches ? launches->upload(std::span(numbers, static_cast<size_t>(n))) : numbers;
}

}  // namespace avida
