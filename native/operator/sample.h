// The loop over samples: first the shapes, then one allocation per output, then the work, shared among threads.
#pragma once
#include <functional>
#include <memory_resource>
#include <span>
#include <vector>

#include "operator/spec.h"

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

  // Along other axes than H and W, a part is complete.
  void set(char axis, int64_t begin, int64_t end) {
    if (axis == 'H') y_begin = begin, y_end = end;
    if (axis == 'W') x_begin = begin, x_end = end;
  }
};

// The whole of a sample that has axes H and W.
inline Part whole_part(const SampleView& in) {
  return {0, in.shape[in.layout.find('H')], 0, in.shape[in.layout.find('W')]};
}

// One sample of a call. The work may be split into rows: [begin, end) of the number that `rows` returned.
struct SampleWork {
  int index;
  const void* args;  // see Sample
  std::span<const SampleView> in;
  std::span<SampleView> out;
  RandomKey random = {};  // for RandomStream, of random operators
  int64_t begin = 0, end = 1;
  const Part* needed = nullptr;  // the part of the output that will be read; null if all of it
  Launches* launches = nullptr;  // see Run
  void* plan = nullptr;          // the plan that SampleLoop::shape constructed here
  ThreadPool* pool = nullptr;    // whose idle threads may help with a sample that cannot be split into rows
};

struct SampleLoop {
  // Constructs the plan of a sample, if there are plans, and sets out[k].shape.
  std::function<void(SampleWork&)> shape;
  size_t plan_bytes = 0, plan_alignment = 1;
  void (*drop_plan)(void* plan) = nullptr;
  bool plans_take_long = false;                    // plans are constructed on the thread pool
  std::function<int64_t(const SampleWork&)> rows;  // optional: the number of independent parts of the work
  std::function<void(const SampleWork&)> body;     // fills out[k].data; called from many threads
  double cost = 1;                                 // relative cost per byte moved
  std::function<Part(const SampleWork&)> reads;    // optional: the part of the first input that the body reads
  // Optional: called for a sample that failed. Returns true if it has set the shapes of a placeholder; then the call
  // continues, and the sample's origin has the reason.
  std::function<bool(SampleWork&)> replace;
  bool frames_share_shape = false;  // see Op
  bool largest_first = false;       // samples cannot be split and take long: start with the largest, to balance threads
};

// All samples of a call: their inputs, arguments and outputs.
class SampleWorks {
 public:
  SampleWorks(const Run& run, const SampleLoop& loop);
  SampleWorks(const SampleWorks&) = delete;
  ~SampleWorks();

  // Constructs a sample's plan and sets the shapes of its outputs. Thread-safe for different samples.
  void plan(SampleWork& work);

  SampleWork* begin() { return works_.data(); }
  SampleWork* end() { return works_.data() + works_.size(); }
  SampleWork& operator[](int i) { return works_[i]; }
  SampleView& input(int i, int k) { return in_[inputs_ * i + k]; }

  // Allocates output k of all samples.
  Data allocate(int k);
  // Output k without memory: only its metadata.
  Data describe(int k);

 private:
  ShapeList shapes(int k);

  const Run& run_;
  const SampleLoop& loop_;
  const size_t inputs_;
  std::byte buffer_[16 << 10];  // small batches allocate only their results
  std::pmr::monotonic_buffer_resource memory_{buffer_, sizeof(buffer_)};
  std::pmr::vector<SampleView> in_, out_;
  std::pmr::vector<SampleWork> works_{&memory_};
  std::byte* plans_ = nullptr;
};

std::vector<Data> run_samples(const Run& run, const SampleLoop& loop);

// The samples of the first input with the shape and layout that `shape` sets.
std::vector<Data> run_view(const Run& run, const std::function<void(SampleWork&)>& shape);

// Allocates output k of a call, on its device.
Data allocate_output(const Run& run, int k, const ShapeList& shapes);
// Memory on the CPU for one output.
Data allocate_result(const Meta& meta, const ShapeList& shapes, ResultMemory where);

// The error with the sample's index and source added.
Error error_at_sample(const Run& run, int i, const Error& error);

// Runs fn for sample i; adds the sample's index and source to errors.
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
