#include "operator/sample.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <memory_resource>
#include <string>

#include "core/rows.h"
#include "gpu/gpu.h"
#include "operator/frames.h"
#include "operator/launches.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace avida {

// In bytes, weighted by their cost. Waking a thread costs more than it gains below kWorthThreads, or kWorthMoving where
// memory takes most of the time.
constexpr double kWorthThreads = 256 << 10, kWorthMoving = 1 << 20, kLeastPart = 64 << 10;

Data allocate_output(const Run& run, int k, const ShapeList& shapes) {
  if (!run.launches) return allocate_result(run.out[k], shapes, run.results_in);
  return allocate_data(run.out[k], shapes, [&](int64_t bytes) { return run.launches->allocate(bytes); });
}

Data allocate_result(const Meta& meta, const ShapeList& shapes, ResultMemory where) {
  if (!where.pinned_for) return allocate_data(meta, shapes);
  return allocate_data(meta, shapes, [&](int64_t bytes) {
    return where.is_asked ? where.pinned_for->allocate_pinned(bytes) : where.pinned_for->allocate_for_copies(bytes);
  });
}

Error error_at_sample(const Run& run, int i, const Error& error) {
  std::string source;
  for (auto* input : run.in)
    if (input && input->origins && i < input->size() && source.empty()) source = (*input->origins)[i].source;
  std::string where;
  if (run.is_batch) where = str("sample ", run.frames.empty() ? i : run.frames[i].sample);
  if (!run.frames.empty()) where += str(where.empty() ? "" : ", ", "frame ", run.frames[i].frame);
  if (where.empty()) return source.empty() ? error : Error(error.kind, source + ": " + error.message);
  if (!source.empty()) where += " (" + source + ")";
  return Error(error.kind, where + ": " + error.message);
}

void input_views(const Run& run, int i, std::span<SampleView> views) {
  for (size_t k = 0; k < run.in.size(); k++) {
    if (!run.in[k]) continue;
    const Data& data = *run.in[k];
    int at = run.index_in(static_cast<int>(k), i);
    views[k] = {data.at(at), data.shapes[at], stored_as(data.dtype), data.layout};
  }
}

std::vector<Data> run_view(const Run& run, const std::function<void(SampleWork&)>& shape) {
  const int n = run.samples;
  const Meta& meta = run.out[0];
  const Data& data = *run.in[0];
  Data result;
  result.dtype = meta.dtype;
  result.layout = meta.layout;
  result.device = data.device;
  result.shapes = ShapeList(n, n == 0 ? std::max(meta.ndim, 0) : 0);
  if (data.size() == n)
    result.place_like(data);
  else
    result.place(data.owner(0), data.at(0), 0);  // a Tensor is broadcast to every sample
  result.stream = data.stream;

  std::vector<SampleView> in(run.in.size());
  for (int i = 0; i < n; i++)
    at_sample(run, i, [&] {
      SampleView out;
      out.dtype = stored_as(meta.dtype);
      out.layout = meta.layout;
      input_views(run, i, in);
      SampleWork work{i, run.args.at(i), in, {&out, 1}, run.random_key(i)};
      shape(work);
      if (i == 0) {
        result.shapes = ShapeList(n, out.ndim());
        result.layout = out.layout;
      }
      if (out.ndim() != result.shapes.ndim())
        refuse("expected ", result.shapes.ndim(), " axes as in the first sample, got the shape ", out.shape);
      if (!(out.layout == result.layout)) result.layout = Layout();
      result.shapes.set(i, out.shape);
    });
  if (result.layout.size() != result.shapes.ndim()) result.layout = Layout();
  return {std::move(result)};
}

namespace {

// Handles failed samples: either they become placeholders, or the first of them fails the call.
class Failures {
 public:
  Failures(const Run& run, const SampleLoop& loop) : run_(run), loop_(loop) {
    if (loop.replace) reasons_.resize(run.samples);
    if (loop.largest_first) errors_.resize(run.samples);
    for (auto* input : run.in)
      for (int i = 0; input && input->origins && i < input->size() && input->size() == run.samples; i++)
        if (!(*input->origins)[i].error.empty()) lost_.resize(run.samples), lost_[i] = true;
  }

  // Whether the sample is a placeholder of an earlier operator; it stays empty.
  bool lost(int i) const { return !lost_.empty() && lost_[i]; }
  // Sets empty output shapes for placeholders, with the rank and the channels of the other samples.
  void shape_lost(SampleWorks& works) const {
    if (lost_.empty()) return;
    auto other = std::find(lost_.begin(), lost_.end(), false) - lost_.begin();
    for (auto& work : works)
      for (size_t k = 0; k < run_.out.size() && lost(work.index); k++) {
        Shape shape;
        shape.resize(std::max(0, run_.out[k].ndim), 0);
        if (other < run_.samples) shape = works[static_cast<int>(other)].out[k].shape;
        int channels = run_.out[k].layout.find('C');
        for (int d = 0; d < shape.size(); d++)
          if (d != channels) shape[d] = 0;
        work.out[k].shape = shape;
      }
  }
  // A scalar cannot be empty, and neither can a list of channels: they are zero.
  void clear_lost(const std::vector<Data>& results) const {
    for (const Data& result : results)
      for (int i = 0; i < run_.samples; i++)
        if (lost(i) && result.bytes(i)) clear(result.at(i), result.bytes(i));
  }

  // Runs fn for the sample. Threads may call it concurrently for different samples.
  template <class Fn>
  void guard(SampleWork& work, Fn&& fn) {
    try {
      fn();
    } catch (const Error& error) {
      Error located = error_at_sample(run_, work.index, error);
      if (loop_.replace && loop_.replace(work))
        reasons_[work.index] = error.message.empty() ? "unknown error" : error.message;
      else if (loop_.largest_first)
        errors_[work.index] = std::make_exception_ptr(located);
      else
        throw located;
    }
  }
  bool replaced(int i) const { return !reasons_.empty() && !reasons_[i].empty(); }
  bool absent(int i) const { return lost(i) || replaced(i); }

  // Samples run in order of size, so the first error is reported after all have run.
  void rethrow_first() const {
    for (auto& error : errors_)
      if (error) std::rethrow_exception(error);
  }

  // Sets the shapes of placeholders in the results, and records the reasons.
  void mark(std::vector<Data>& results, SampleWorks& works) const {
    if (std::none_of(reasons_.begin(), reasons_.end(), [](auto& reason) { return !reason.empty(); })) return;
    const int n = run_.samples;
    std::vector<Origin> origins(n);
    for (auto* input : run_.in)
      if (input && input->origins && input->size() == n) {
        origins = *input->origins;
        break;
      }
    for (int i = 0; i < n; i++)
      if (replaced(i) && origins[i].error.empty()) origins[i].error = reasons_[i];
    auto shared = std::make_shared<const std::vector<Origin>>(std::move(origins));
    for (size_t k = 0; k < results.size(); k++) {
      ShapeList shapes(n, results[k].shapes.ndim());
      for (int i = 0; i < n; i++) shapes.set(i, works[i].out[k].shape);
      results[k].shapes = shapes;
      results[k].origins = shared;
      for (int i = 0; i < n; i++)  // a scalar output cannot be empty
        if (replaced(i)) clear(results[k].at(i), results[k].bytes(i));
    }
  }

 private:
  void clear(void* memory, int64_t bytes) const {
    if (run_.launches)
      run_.launches->clear(memory, bytes);
    else
      std::memset(memory, 0, static_cast<size_t>(bytes));
  }

  const Run& run_;
  const SampleLoop& loop_;
  std::vector<bool> lost_;  // empty if there are none
  std::vector<std::string> reasons_;
  std::vector<std::exception_ptr> errors_;
};

void share_shapes(const Run& run, SampleWorks& works) {
  const int n = static_cast<int>(run.frames.size());
  for (int first = 0, end; first < n; first = end) {
    for (end = first + 1; end < n && run.frames[end].sample == run.frames[first].sample; end++) {
    }
    for (size_t k = 0; k < run.out.size(); k++) {
      Shape largest = works[first].out[k].shape;
      for (int i = first; i < end; i++)
        for (int d = 0; d < largest.size(); d++) largest[d] = std::max(largest[d], works[i].out[k].shape[d]);
      for (int i = first; i < end; i++) works[i].out[k].shape = largest;
    }
  }
}

}  // namespace

SampleWorks::SampleWorks(const Run& run, const SampleLoop& loop)
    : run_(run),
      loop_(loop),
      inputs_(run.in.size()),
      in_(inputs_ * run.samples, &memory_),
      out_(run.out.size() * run.samples, &memory_) {
  const size_t outputs = run.out.size();
  works_.reserve(run.samples);
  for (int i = 0; i < run.samples; i++) {
    std::span<SampleView> in(in_.data() + inputs_ * i, inputs_), out(out_.data() + outputs * i, outputs);
    input_views(run, i, in);
    works_.push_back({i, run.args.at(i), in, out, run.random_key(i)});
    works_.back().launches = run.launches;
    works_.back().pool = &run.pool;
    for (size_t k = 0; k < outputs; k++) out[k].dtype = stored_as(run.out[k].dtype);
  }
  if (loop.plan_bytes)
    plans_ = static_cast<std::byte*>(memory_.allocate(loop.plan_bytes * run.samples, loop.plan_alignment));
}

SampleWorks::~SampleWorks() {
  for (auto& work : works_)
    if (work.plan && loop_.drop_plan) loop_.drop_plan(work.plan);
}

void SampleWorks::plan(SampleWork& work) {
  if (plans_) work.plan = plans_ + loop_.plan_bytes * work.index;
  try {
    loop_.shape(work);
  } catch (...) {
    work.plan = nullptr;
    throw;
  }
  for (auto& view : work.out) checked_volume(view.shape);
}

ShapeList SampleWorks::shapes(int k) {
  int n = run_.samples;
  ShapeList shapes(n, n ? works_[0].out[k].shape.size() : std::max(0, run_.out[k].ndim));
  for (int i = 0; i < n; i++) at_sample(run_, i, [&] { shapes.set(i, works_[i].out[k].shape); });
  return shapes;
}

Data SampleWorks::describe(int k) {
  Data data;
  data.dtype = run_.out[k].dtype;
  data.shapes = shapes(k);
  data.layout = run_.out[k].layout.size() == data.shapes.ndim() ? run_.out[k].layout : Layout();
  data.device = run_.out[k].device;
  for (auto& work : works_) work.out[k].layout = data.layout;
  return data;
}

Data SampleWorks::allocate(int k) {
  Data data = allocate_output(run_, k, shapes(k));
  for (auto& work : works_) {
    work.out[k].data = data.at(work.index);
    work.out[k].layout = data.layout;
  }
  return data;
}

namespace {

// In bytes, weighted.
double cost_of(const SampleWork& work, const SampleLoop& loop) {
  int64_t bytes = 0;
  for (auto& view : work.in) bytes += view.data ? view.bytes() : 0;
  for (auto& view : work.out) bytes += view.bytes();
  return static_cast<double>(bytes) * loop.cost;
}

// The work in parts of about `share`, for threads.
std::vector<SampleWork> parts_of(SampleWorks& works, const SampleLoop& loop, const Failures& failures, double share) {
  std::vector<SampleWork> parts;
  parts.reserve(works.end() - works.begin());
  for (auto& work : works) {
    if (failures.absent(work.index)) continue;
    int64_t rows = work.end;
    int64_t cuts = rows > 1 ? std::clamp<int64_t>(static_cast<int64_t>(cost_of(work, loop) / share), 1, rows) : 1;
    for (int64_t c = 0; c < cuts; c++) {
      parts.push_back(work);
      parts.back().begin = rows * c / cuts;
      parts.back().end = rows * (c + 1) / cuts;
    }
  }
  if (loop.largest_first)
    std::ranges::stable_sort(parts, std::greater(), [&](auto& part) { return cost_of(part, loop); });
  return parts;
}

void run_bodies(const Run& run, SampleWorks& works, const SampleLoop& loop, Failures& failures) {
  double total = 0;
  int64_t made = 0;
  for (auto& work : works) {
    total += cost_of(work, loop);
    for (auto& view : work.out) made += view.bytes();
  }
  if (total < (loop.cost > 1 ? kWorthThreads : kWorthMoving) || run.pool.threads() == 1 || run.launches) {
    const PastCache past(made);
    for (auto& work : works) {
      if (!failures.absent(work.index)) failures.guard(work, [&] { loop.body(work); });
      if (run.launches) run.launches->next_sample();
    }
    return;
  }
  auto parts = parts_of(works, loop, failures, std::max(total / (4.0 * run.pool.threads()), kLeastPart));
  const auto run_part = [&](int64_t p) {
    const PastCache past(made);
    failures.guard(parts[p], [&] { loop.body(parts[p]); });
  };
  run.pool.parallel_for(std::ssize(parts), run_part,
                        loop.largest_first ? ThreadPool::Share::in_order : ThreadPool::Share::neighbours);
}

}  // namespace

std::vector<Data> run_samples(const Run& run, const SampleLoop& loop) {
  SampleWorks works(run, loop);
  Failures failures(run, loop);
  auto plan = [&](int64_t i) {
    SampleWork& work = works[static_cast<int>(i)];
    if (!failures.lost(work.index)) failures.guard(work, [&] { works.plan(work); });
  };
  if (loop.plans_take_long)
    run.pool.parallel_for(run.samples, plan);
  else
    for (int i = 0; i < run.samples; i++) plan(i);
  failures.rethrow_first();
  failures.shape_lost(works);
  if (loop.frames_share_shape) share_shapes(run, works);
  std::vector<Data> results;
  results.reserve(run.out.size());
  for (size_t k = 0; k < run.out.size(); k++) results.push_back(works.allocate(static_cast<int>(k)));
  failures.clear_lost(results);
  for (auto& work : works)
    if (!failures.absent(work.index)) work.end = loop.rows ? loop.rows(work) : 1;
  run_bodies(run, works, loop, failures);
  failures.rethrow_first();
  failures.mark(results, works);
  return results;
}

}  // namespace avida
