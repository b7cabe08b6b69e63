#include "loops/flow/find_flow.h"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <tuple>

#include "core/made_once.h"
#include "loops/flow/flow_items.h"
#include "operator/launches.h"
#include "operator/sample.h"

namespace avida {
namespace {

// Sessions for reuse, since opening and closing one takes long. A session is used by one call at a time.
class Sessions {
 public:
  using Key = std::tuple<int, StreamHandle, FlowSettings>;  // the GPU, the stream

  static Sessions& all() {
    static constinit MadeOnce<Sessions> sessions;
    return sessions.get();
  }

  std::unique_ptr<FlowSession> take(const Key& key) {
    std::lock_guard lock(mutex_);
    auto found = std::ranges::find(idle_, key, &Idle::key);
    if (found == idle_.end()) return nullptr;
    std::unique_ptr<FlowSession> session = std::move(found->session);
    idle_.erase(found);
    return session;
  }
  void give(const Key& key, std::unique_ptr<FlowSession> session) {
    constexpr size_t kMost = 16;
    Idle oldest;  // closed after the lock is released
    std::lock_guard lock(mutex_);
    idle_.push_back({key, std::move(session)});
    if (idle_.size() <= kMost) return;
    oldest = std::move(idle_.front());
    idle_.pop_front();
  }
  bool close_idle() {
    std::list<Idle> closed;
    std::lock_guard lock(mutex_);
    closed.swap(idle_);
    return !closed.empty();
  }

 private:
  struct Idle {
    Key key;
    std::unique_ptr<FlowSession> session;
  };
  std::mutex mutex_;
  std::list<Idle> idle_;  // the oldest first
};

// Calls `make`; if it finds no memory, once more without the sessions that nobody uses.
template <class Make>
auto with_memory_of_idle_sessions(Make make) {
  try {
    return make();
  } catch (const Error& error) {
    if (error.kind != ErrorKind::memory || !Sessions::all().close_idle()) throw;
  }
  return make();
}

std::string listed(const std::vector<int>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); i++)
    text += str(i == 0 ? "" : i + 1 == numbers.size() ? " or " : ", ", numbers[i]);
  return text;
}

void check_request(const FlowRequest& request, const FlowLimits& limits, Gpu& gpu) {
  auto check_grid = [&](const char* name, int grid, const std::vector<int>& grids) {
    if (std::ranges::find(grids, grid) == grids.end())
      value_error("expected an ", name, " of ", listed(grids), ", which the engine of GPU ", gpu.device, " (",
                  gpu.name(), ") has, got ", grid);
  };
  check_grid("output_grid", request.output_grid, limits.output_grids);
  if (!request.hint_grid) return;
  if (limits.hint_grids.empty())
    refuse("the engine of GPU ", gpu.device, " (", gpu.name(), ") takes no hints; leave out enable_external_hints");
  check_grid("hint_grid", request.hint_grid, limits.hint_grids);
  if (request.hint_grid < request.output_grid)
    value_error("expected a hint_grid that is not finer than output_grid, ", request.output_grid, ", got ",
                request.hint_grid);
}

struct Sequence {
  int sample;
  const uint8_t* frames;
  const float* hints;  // null if there are none
  int64_t pairs;
  FlowSettings settings;
  float* out = nullptr;

  int64_t cells_y(int grid) const { return flow_cells(settings.height, grid); }
  int64_t cells_x(int grid) const { return flow_cells(settings.width, grid); }
  Shape shape(int grid) const { return {pairs, cells_y(grid), cells_x(grid), 2}; }
};

Sequence sequence_of(int sample, const SampleView& frames, const SampleView& hints, const FlowRequest& request,
                     const FlowLimits& limits) {
  const int64_t count = frames.shape[0], height = frames.shape[1], width = frames.shape[2];
  const int channels = request.gray ? 1 : 3;
  if (frames.shape[3] != channels)
    refuse("expected frames with ", channels, channels == 1 ? " channel" : " channels", ", as image_type says, got ",
           frames.shape[3]);
  if (count < 1) refuse("expected at least one frame, got none");
  if (height < limits.least_height || width < limits.least_width || height > limits.most_height ||
      width > limits.most_width)
    refuse("expected frames of ", limits.least_height, " x ", limits.least_width, " to ", limits.most_height, " x ",
           limits.most_width, " pixels, which is what the engine takes, got ", height, " x ", width);
  Sequence sequence{sample, frames.as<uint8_t>(), hints.as<float>(), count - 1, {}};
  sequence.settings = {static_cast<int>(width), static_cast<int>(height), request.gray,
                       request.output_grid,     request.hint_grid,        request.quality};
  if (request.hint_grid && hints.shape != sequence.shape(request.hint_grid))
    refuse("expected hints of the shape ", sequence.shape(request.hint_grid),
           ", a vector for each cell of hint_grid and each pair of frames, got ", hints.shape);
  return sequence;
}

// Sequences of one size. Frames are converted into buffers of the engine, as many as there are; then the engine finds
// the motion of all these pairs, and its vectors are converted.
class FlowWork {
 public:
  FlowWork(const Run& run, const GpuStream& stream, const FlowRequest& request, FlowSession& session,
           const FlowSettings& settings)
      : run_(run), stream_(stream), request_(request), session_(session), settings_(settings) {
    constexpr int64_t kBytes = 64 << 20;
    const int64_t frame_bytes = int64_t{settings.width} * settings.height * (settings.gray ? 1 : 4);
    most_ = std::clamp<int64_t>(kBytes / frame_bytes, 2, 17);
  }

  void add(const Sequence& sequence) {
    for (int64_t k = 0; k < sequence.pairs; k++) {
      if (held_ + (k ? 1 : 2) > most_) {
        flush();
        held_ = k ? 1 : 0;  // the last frame begins the next pair
      }
      if (k == 0) place(sequence, 0);
      place(sequence, k + 1);
      pairs_.push_back({&sequence, k, buffer(placed_ - 1), buffer(placed_ - 2)});
    }
  }

  void flush() {
    if (pairs_.empty()) return;
    try {
      with_memory_of_idle_sessions([&] { make_buffers(); });
      convert_inputs();
      for (size_t i = 0; i < pairs_.size(); i++) {
        const Pair& pair = pairs_[i];
        at_sample(run_, pair.sequence->sample, [&] {
          session_.find({pair.from, pair.to, static_cast<int>(i), request_.temporal_hints && pair.number > 0});
        });
      }
      convert_outputs();
    } catch (const Error&) {
      session_.used();
      throw;
    }
    session_.used();
    pairs_.clear();
    frames_.clear();
  }

 private:
  struct Frame {
    const uint8_t* pixels;
    int buffer;
  };
  struct Pair {
    const Sequence* sequence;
    int64_t number;  // in the sequence
    int from, to;    // numbers of buffers
  };

  int buffer(int64_t placed) const { return static_cast<int>(placed % most_); }
  int channels() const { return request_.gray ? 1 : 3; }

  void place(const Sequence& sequence, int64_t frame) {
    const int64_t bytes = int64_t{settings_.width} * settings_.height * channels();
    frames_.push_back({sequence.frames + frame * bytes, buffer(placed_)});
    placed_++;
    held_++;
  }

  void make_buffers() {
    for (const Frame& frame : frames_) session_.frame(frame.buffer);
    for (int i = 0; i < static_cast<int>(pairs_.size()); i++) {
      if (request_.hint_grid) session_.hints(i);
      session_.flow(i);
    }
  }

  void convert_inputs() {
    launch_on_gpu(stream_, [&](Launches& launches) {
      for (const Frame& frame : frames_) {
        const FlowBuffer to = session_.frame(frame.buffer);
        launches.add<FlowFrame>(
            0, settings_.height * FlowFrame::items_per_row(settings_.width),
            {frame.pixels, static_cast<uint8_t*>(to.memory), to.pitch, settings_.width, channels(), request_.swapped});
      }
      if (!request_.hint_grid) return;
      for (size_t i = 0; i < pairs_.size(); i++) {
        const Sequence& sequence = *pairs_[i].sequence;
        const int64_t width = sequence.cells_x(request_.hint_grid),
                      cells = width * sequence.cells_y(request_.hint_grid);
        const FlowBuffer to = session_.hints(static_cast<int>(i));
        launches.add<FlowHints>(
            0, cells,
            {sequence.hints + 2 * cells * pairs_[i].number, static_cast<int16_t*>(to.memory), to.pitch, width});
      }
    });
  }

  void convert_outputs() {
    launch_on_gpu(stream_, [&](Launches& launches) {
      for (size_t i = 0; i < pairs_.size(); i++) {
        const Sequence& sequence = *pairs_[i].sequence;
        const int64_t width = sequence.cells_x(request_.output_grid);
        const int64_t cells = width * sequence.cells_y(request_.output_grid);
        const FlowBuffer from = session_.flow(static_cast<int>(i));
        launches.add<FlowVectors>(
            0, cells,
            {static_cast<const int16_t*>(from.memory), sequence.out + 2 * cells * pairs_[i].number, from.pitch, width});
      }
    });
  }

  const Run& run_;
  const GpuStream& stream_;
  const FlowRequest& request_;
  FlowSession& session_;
  const FlowSettings& settings_;
  int64_t most_;        // frames at once
  int64_t placed_ = 0;  // counts frames
  int64_t held_ = 0;    // frames of the pairs that are not flushed
  std::vector<Frame> frames_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::vector<Data> find_flow(const Run& run, const GpuStream& stream, const FlowRequest& request) {
  Gpu& gpu = Gpu::at(stream.device);
  const FlowLimits& limits = flow_limits(gpu);
  check_request(request, limits, gpu);
  std::vector<Data> moved;
  moved.reserve(run.in.size());
  std::vector<const Data*> in;
  for (const Data* data : run.in) in.push_back(data ? &moved.emplace_back(to_gpu(*data, stream)) : nullptr);
  const Run here{in, run.samples, run.is_batch, run.args, run.out, run.pool, run.random};

  std::vector<Sequence> sequences;
  ShapeList shapes(run.samples, 4);
  for (int i = 0; i < run.samples; i++)
    at_sample(run, i, [&] {
      SampleView views[2];
      input_views(here, i, views);
      sequences.push_back(sequence_of(i, views[0], views[1], request, limits));
      shapes.set(i, sequences[i].shape(request.output_grid));
    });
  std::vector<Data> results;
  Data& out = results.emplace_back(allocate_on_gpu(run.out[0], shapes, stream));
  std::map<FlowSettings, std::vector<const Sequence*>> of_one_size;
  for (Sequence& sequence : sequences) {
    sequence.out = static_cast<float*>(out.at(sequence.sample));
    if (sequence.pairs) of_one_size[sequence.settings].push_back(&sequence);
  }
  for (const auto& [settings, some] : of_one_size) {
    const Sessions::Key key{gpu.device, stream.handle, settings};
    auto session = Sessions::all().take(key);
    if (!session)
      at_sample(run, some[0]->sample, [&] {
        session = with_memory_of_idle_sessions([&] { return open_flow_session(gpu, settings, stream.handle); });
      });
    FlowWork work(run, stream, request, *session, settings);
    for (const Sequence* sequence : some) work.add(*sequence);
    work.flush();
    Sessions::all().give(key, std::move(session));
  }
  // The other stream must not reuse the memory of an input before this stream has read it.
  for (const Data& data : moved) gpu.wait(data.stream, stream.handle);
  return results;
}

}  // namespace avida
