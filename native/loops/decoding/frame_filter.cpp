#include "loops/decoding/frame_filter.h"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/fork.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace avida {
namespace {

class OperatorFilter {
 public:
  using Extents = codecs::FrameFilter::Extents;

  OperatorFilter(const OpSpec& spec, std::shared_ptr<void> args) : spec_(spec), args_(std::move(args)) {
    Meta in;
    in.dtype = DType::uint8;
    in.ndim = 3;
    in.layout = Layout("HWC");
    out_.push_back(in);
    Inference inference{{&in, 1}, args_.get(), out_, [](std::string_view) { return false; }};
    spec.infer(inference);
  }

  Extents extents(Extents frame) const {
    const std::pair key(frame.height, frame.width);
    {
      std::lock_guard lock(mutex_);
      if (auto known = extents_.find(key); known != extents_.end()) return known->second;
    }
    const Data made = make(allocate(int64_t{3} * frame.height * frame.width), frame);
    const Extents found{static_cast<int>(made.shapes.dims(0)[0]), static_cast<int>(made.shapes.dims(0)[1])};
    std::lock_guard lock(mutex_);
    return extents_.try_emplace(key, found).first->second;
  }

  void run(const uint8_t* frame, Extents extents, uint8_t* out) const {
    const Data made = make(Block(const_cast<uint8_t*>(frame), [](void*) {}), extents);
    std::memcpy(out, made.at(0), static_cast<size_t>(made.bytes(0)));
  }

 private:
  Data make(const Block& frame, Extents extents) const {
    Data in;
    in.dtype = DType::uint8;
    in.layout = Layout("HWC");
    in.shapes = ShapeList(1, 3);
    in.shapes.set(0, {extents.height, extents.width, 3});
    in.place(frame, frame.get(), 0);
    const Data* inputs[] = {&in};
    const CallArgs args(args_, 0);
    return spec_.run({.in = inputs, .samples = 1, .is_batch = false, .args = args, .out = out_, .pool = pool_}).at(0);
  }

  const OpSpec& spec_;
  const std::shared_ptr<void> args_;
  std::pmr::vector<Meta> out_;
  mutable ThreadPool pool_{1};
  mutable ForkSafe<> mutex_{ForkAware::Rank::reader};
  mutable std::map<std::pair<int, int>, Extents> extents_;
};

}  // namespace

std::shared_ptr<const codecs::FrameFilter> frame_filter(const OpSpec& spec, std::shared_ptr<void> args) {
  using Extents = codecs::FrameFilter::Extents;
  const auto made = std::make_shared<const OperatorFilter>(spec, std::move(args));
  return std::make_shared<const codecs::FrameFilter>(codecs::FrameFilter{
      [made](Extents frame) { return made->extents(frame); },
      [made](const uint8_t* frame, Extents extents, uint8_t* out) { made->run(frame, extents, out); }});
}

}  // namespace avida
