// The loop over samples: shapes first, one allocation per output, then the work, shared among threads.
#pragma once
#include <functional>
#include <memory_resource>
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

// Rows and columns of an image, each from begin to before end.
struct Part {
  int64_t y_begin, y_end, x_begin, x_end;

  // Along an axis that is neither H nor W, parts are whole.
  void set(char axis, int64_t begin, int64_t end) {
    if (axis == 'H') y_begin = begin, y_end = end;
    if (axis == 'W') x_begin = begin, x_end = end;
  }
};

// All of a sample that has axes H and W.
inline Part whole_part(const SampleView& in) {
  return {0, in.shape[in.layout.find('H')], 0, in.shape[in.layout.find('W')]};
}

// One sample of a call. The work may be cut into rows: [begin, end) of what `rows` returned.
struct SampleWork {
  int index;
  const void* args;
  std::span<const SampleView> in;
  std::span<SampleView> out;
  RandomKey random = {};
  int64_t begin = 0, end = 1;
  const Part* needed = nullptr;  // the part of the output that will be read; null: all
  Launches* launches = nullptr;  // see Run
};

struct SampleLoop {
  std::function<void(SampleWork&)> shape;          // sets out[k].shape
  std::function<int64_t(const SampleWork&)> rows;  // optional: how many independent parts the work has
  std::function<void(const SampleWork&)> body;     // fills out[k].data; called from many threads
  double cost = 1;                                 // relative cost per byte moved
  std::function<Part(const SampleWork&)> reads;    // optional: the part of the first input that the body reads
  // Optional: called for a sample that failed. True: it has set the shapes of an empty sample to put in its place, and
  // the call goes on; the sample's origin says what went wrong.
  std::function<bool(SampleWork&)> replace;
  bool frames_share_shape = false;  // see Op
  bool largest_first = false;       // samples cannot be cut and take long: no thread should begin a large one last
};

// All samples of a call: their inputs, arguments and outputs.
class SampleWorks {
 public:
  explicit SampleWorks(const Run& run);
  SampleWorks(const SampleWorks&) = delete;

  // Sets the shapes of a sample's outputs.
  static void shape(const SampleLoop& loop, SampleWork& work);

  SampleWork* begin() { return works_.data(); }
  SampleWork* end() { return works_.data() + works_.size(); }
  SampleWork& operator[](int i) { return works_[i]; }
  SampleView& input(int i, int k) { return in_[inputs_ * i + k]; }

  // New memory for output k of all samples.
  Data allocate(int k);
  // Output k without memory: only what is known of it.
  Data describe(int k);

 private:
  ShapeList shapes(int k);

  const Run& run_;
  const size_t inputs_;
  std::byte buffer_[16 << 10];  // small batches need no other memory than their results
  std::pmr::monotonic_buffer_resource memory_{buffer_, sizeof(buffer_)};
  std::pmr::vector<SampleView> in_, out_;
  std::pmr::vector<SampleWork> works_{&memory_};
};

std::vector<Data> run_samples(const Run& run, const SampleLoop& loop);

// The samples of the first input under the shape and layout that `shape` sets.
std::vector<Data> run_view(const Run& run, const std::function<void(SampleWork&)>& shape);

// New memory for one output: samples packed in one block, without gaps when they have one shape. On a GPU if there are
// launches.
Data allocate_data(const Meta& meta, const ShapeList& shapes, Launches* launches = nullptr);

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
