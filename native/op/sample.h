// The loop over samples: shapes first, one allocation per output, then the work, shared among threads.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "op/spec.h"

namespace avida {

struct SampleView {
  void* data = nullptr;  // null for an optional input that was not given
  Shape shape;
  DType dtype = DType::none;
  Layout layout;

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  int64_t elements() const { return volume(shape); }
  int64_t bytes() const { return elements() * size_of(dtype); }
  int ndim() const { return shape.size(); }
};

// One sample of a call. The work may be cut into rows: [begin, end) of what `rows` returned.
struct SampleWork {
  int index;
  const void* args;
  std::span<const SampleView> in;
  std::span<SampleView> out;
  RandomKey random = {};
  int64_t begin = 0, end = 1;
};

struct SampleLoop {
  std::function<void(SampleWork&)> shape;          // sets out[k].shape
  std::function<int64_t(const SampleWork&)> rows;  // optional: how many independent parts the work has
  std::function<void(const SampleWork&)> body;     // fills out[k].data; called from many threads
  double cost = 1;                                 // relative cost per byte moved
  // Optional: called for a sample that failed. True: it has set the shapes of an empty sample to put in its place, and
  // the call goes on; the sample's origin says what went wrong.
  std::function<bool(SampleWork&)> replace;
  bool largest_first = false;  // samples cannot be cut and take long: no thread should begin a large one last
};

std::vector<Data> run_samples(const Run& run, const SampleLoop& loop);

// The samples of the first input under the shape and layout that `shape` sets.
std::vector<Data> run_view(const Run& run, const std::function<void(SampleWork&)>& shape);

// New memory for one output: samples packed in one block, without gaps when they have one shape.
Data allocate_data(const Meta& meta, const ShapeList& shapes);

// The error with the sample's number and source added.
Error error_at_sample(const Run& run, int i, const Error& error);

// Runs fn for sample i; an error gets the sample's number and source.
template <class Fn>
void at_sample(const Run& run, int i, Fn&& fn) {
  try {
    fn();
  } catch (const Error& error) {
    throw error_at_sample(run, i, error);
  }
}

// The views of the inputs of sample i.
void input_views(const Run& run, int i, std::span<SampleView> views);

}  // namespace avida
