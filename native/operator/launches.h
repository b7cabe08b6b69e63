// Work for a GPU, as recorded by loop families.
#pragma once
#include <cstdint>
#include <iterator>
#include <span>

#include "core/data.h"
#include "gpu/kernel.h"

namespace avida {

// The recorded work of one call. The items that all samples add for one kernel become one launch.
class Launches {
 public:
  virtual ~Launches() = default;

  template <class Body>
  void add(int64_t begin, int64_t end, const typename Body::Params& params) {
    Items<Body> items{begin, end - begin, params};
    append(*KernelOf<Body>::kernel, &items, items.count);
  }
  // Copies numbers to the GPU; valid until the work is done.
  template <class T>
  const T* upload(std::span<const T> numbers) {
    return static_cast<const T*>(upload_bytes(numbers.data(), numbers.size_bytes()));
  }
  // GPU memory that is valid until the work is done.
  virtual void* scratch(int64_t bytes) = 0;
  // GPU memory for results.
  virtual Block allocate(int64_t bytes) = 0;
  // Sets GPU memory to zero, before the work.
  virtual void clear(void* memory, int64_t bytes) = 0;
  // A barrier: work that the sample adds from here on depends on the work it has added so far.
  virtual void then() = 0;
  // Work that is added from here on belongs to the next sample.
  virtual void next_sample() = 0;

 protected:
  virtual void append(const Kernel& kernel, const void* items, int64_t count) = 0;
  virtual const void* upload_bytes(const void* bytes, size_t size) = 0;
};

// Numbers for a body: the pointer itself on the CPU, or a copy on the GPU.
template <class T>
const T* readable(Launches* launches, const T* numbers, int64_t n) {
  return launches ? launches->upload(std::span(numbers, static_cast<size_t>(n))) : numbers;
}
// The same for the work of a sample and a vector or array that outlives it.
template <class Work, class Numbers>
auto* readable(const Work& work, const Numbers& numbers) {
  return readable(work.launches, std::data(numbers), std::ssize(numbers));
}

}  // namespace avida
