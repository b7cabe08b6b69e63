#include "gpu/engines/optical_flow.h"

#include <map>
#include <mutex>

#include "core/made_once.h"
#include "gpu/engines/optical_flow_api.h"
#include "gpu/entered.h"
#include "gpu/library.h"

namespace avida {
namespace {

using namespace cuda::flow;
using cuda::Entered;

constexpr const char* kLibrary = "libnvidia-opticalflow.so.1";

// The functions of the driver's library; raises an error if it is missing or too old.
const Functions& functions() {
  struct Opened {
    Functions functions = {};
    std::string missing;
  };
  static constinit MadeOnce<const Opened> once;
  const Opened& opened = once.get([] {
    auto made = std::make_unique<Opened>();
    Library library({kLibrary});
    Status (*create)(uint32_t version, Functions* functions);
    library.find(create, "NvOFAPICreateInstanceCuda");
    if (!library.found())
      made->missing = str(kLibrary,
                          ", the part of the NVIDIA driver for optical flow, was not found; install it with the "
                          "driver, and start containers with NVIDIA_DRIVER_CAPABILITIES=compute,utility,video");
    else if (!create || create(kVersion, &made->functions))
      made->missing =
          str(kLibrary, " is too old: expected version 5.0 of its interface; install a newer NVIDIA driver");
    return made;
  });
  if (!opened.missing.empty()) refuse(opened.missing);
  return opened.functions;
}

const char* text_of(Status status) {
  constexpr const char* texts[] = {
      "success",         "no optical flow engine", "unsupported device", "the device is gone",
      "invalid pointer", "invalid parameter",      "invalid call",       "invalid version",
      "out of memory",   "not initialised",        "unsupported feature"};
  return status >= 0 && status < static_cast<int>(std::size(texts)) ? texts[status] : "unknown error";
}

void check(Status status, const char* doing, Session session) {
  if (status == 0) return;
  char text[kErrorLength] = {};
  uint32_t size = sizeof(text) - 1;
  if (session) functions().last_error(session, text, &size);
  fail(status == kNoMemory ? ErrorKind::memory : ErrorKind::runtime, doing, ": the optical flow engine says \"",
       text[0] ? text : text_of(status), "\" (", status, ")");
}

// A session of the driver's library, with the GPU's context.
class Handle {
 public:
  explicit Handle(Gpu& gpu) : context(gpu.context()) {
    const Entered here(context);
    const Status status = functions().open(context, &session);
    if (status == kNoEngine || status == kUnsupportedDevice)
      refuse("GPU ", gpu.device, " (", gpu.name(),
             ") has no optical flow engine; use a GPU of the Turing generation or newer that has one");
    check(status, "opening the optical flow engine", nullptr);
  }
  ~Handle() {
    try {
      const Entered here(context);
      functions().close(session);
    } catch (const Error&) {  // the process is exiting, and the driver is already unloaded
    }
  }
  Handle(const Handle&) = delete;

  const cuda::Context context;
  Session session = nullptr;
};

class EngineSession : public FlowSession {
 public:
  EngineSession(Gpu& gpu, const FlowSettings& settings, StreamHandle stream)
      : settings_(settings), stream_(stream), handle_(gpu) {
    const Entered here(handle_.context);
    Setup setup = {};
    setup.width = static_cast<uint32_t>(settings.width);
    setup.height = static_cast<uint32_t>(settings.height);
    setup.output_grid = static_cast<uint32_t>(settings.output_grid);
    setup.hint_grid = static_cast<uint32_t>(settings.hint_grid);
    setup.mode = kFindMotion;
    setup.level = settings.quality == FlowQuality::best     ? kSlow
                  : settings.quality == FlowQuality::medium ? kMedium
                                                            : kFast;
    setup.takes_hints = settings.hint_grid > 0;
    setup.input_format = format();
    check(functions().prepare(session(), &setup), "preparing the optical flow engine", session());
    check(functions().set_streams(session(), stream, stream), "choosing a stream", session());
  }
  ~EngineSession() override {
    try {
      const Entered here(handle_.context);
      if (last_use_) {
        cuda::driver().event_synchronize(last_use_);
        cuda::driver().event_destroy(last_use_);
      }
      for (auto* buffers : {&frames_, &hints_, &flows_})
        for (const Made& made : *buffers) functions().free_buffer(made.buffer);
    } catch (const Error&) {  // as in ~Handle()
    }
  }

  FlowBuffer frame(int i) override { return at(frames_, i, settings_.width, settings_.height, kInput, format()); }
  FlowBuffer hints(int i) override { return vectors(hints_, i, settings_.hint_grid, kHint); }
  FlowBuffer flow(int i) override { return vectors(flows_, i, settings_.output_grid, kOutput); }

  void find(const Pair& pair) override {
    const Entered here(handle_.context);
    Input input = {};
    input.from = frames_.at(pair.from).buffer;
    input.to = frames_.at(pair.to).buffer;
    if (settings_.hint_grid) input.hints = hints_.at(pair.made).buffer;
    input.without_temporal_hints = !pair.follows;
    Output output = {};
    output.flow = flows_.at(pair.made).buffer;
    check(functions().execute(session(), &input, &output), "finding motion", session());
  }

  void used() override {
    const Entered here(handle_.context);
    if (!last_use_) cuda::check(cuda::driver().event_create(&last_use_, cuda::kNoTiming), "creating an event");
    cuda::check(cuda::driver().event_record(last_use_, stream_), "recording an event");
  }

 private:
  struct Made {
    Buffer buffer;
    FlowBuffer place;
  };

  Session session() const { return handle_.session; }
  Format format() const { return settings_.gray ? kGray : kRgba; }

  FlowBuffer vectors(std::vector<Made>& all, int i, int grid, Usage usage) {
    return at(all, i, flow_cells(settings_.width, grid), flow_cells(settings_.height, grid), usage, kVectors);
  }
  FlowBuffer at(std::vector<Made>& all, int i, int64_t width, int64_t height, Usage usage, Format format) {
    while (static_cast<int>(all.size()) <= i) {
      const Entered here(handle_.context);
      const BufferSetup setup = {static_cast<uint32_t>(width), static_cast<uint32_t>(height), usage, format};
      Buffer buffer = nullptr;
      check(functions().make_buffer(session(), &setup, kLinearMemory, &buffer), "allocating a buffer", session());
      Strides strides = {};
      const Status status = functions().strides_of(buffer, &strides);
      all.push_back({buffer, {reinterpret_cast<void*>(functions().pointer_of(buffer)), strides.plane[0].row_bytes}});
      check(status, "asking for the rows of a buffer", session());
    }
    return all[i].place;
  }

  const FlowSettings settings_;
  const StreamHandle stream_;
  const Handle handle_;  // closed after the buffers
  std::vector<Made> frames_, hints_, flows_;
  cuda::Event last_use_ = nullptr;
};

std::vector<int> capability(Session session, Capability what) {
  uint32_t count = 0;
  check(functions().capabilities(session, what, nullptr, &count), "asking what the engine can do", session);
  std::vector<uint32_t> values(count);
  check(functions().capabilities(session, what, values.data(), &count), "asking what the engine can do", session);
  return {values.begin(), values.end()};
}

FlowLimits ask_limits(Gpu& gpu) {
  const Handle handle(gpu);
  const Entered here(handle.context);
  auto one = [&](Capability what) { return capability(handle.session, what).at(0); };
  FlowLimits limits{capability(handle.session, kOutputGrids),
                    {},
                    one(kLeastWidth),
                    one(kLeastHeight),
                    one(kMostWidth),
                    one(kMostHeight)};
  if (one(kTakesHints)) limits.hint_grids = capability(handle.session, kHintGrids);
  return limits;
}

}  // namespace

const FlowLimits& flow_limits(Gpu& gpu) {
  if (!gpu.context()) return emulated_flow_limits();
  static constinit std::mutex mutex;
  static constinit MadeOnce<std::map<int, FlowLimits>> all;
  std::lock_guard lock(mutex);
  auto& known = all.get();
  auto found = known.find(gpu.device);
  if (found == known.end()) found = known.emplace(gpu.device, ask_limits(gpu)).first;
  return found->second;
}

std::unique_ptr<FlowSession> open_flow_session(Gpu& gpu, const FlowSettings& settings, StreamHandle stream) {
  if (!gpu.context()) return open_emulated_flow_session(settings);
  return std::make_unique<EngineSession>(gpu, settings, stream);
}

}  // namespace avida
