#include "gpu/streams.h"

#include <map>
#include <mutex>

#include "core/made_once.h"
#include "gpu/driver.h"

namespace avida {
namespace {

std::mutex mutex;

std::map<int, std::shared_ptr<GpuStream>>& defaults() {
  static constinit MadeOnce<std::map<int, std::shared_ptr<GpuStream>>> streams;
  return streams.get();
}

}  // namespace

int gpu_of(const Context& context) {
  const int chosen = context.stream           ? context.stream->device
                     : context.device_id >= 0 ? context.device_id
                                              : cuda::current_device();
  return chosen < Gpu::count() ? chosen : 0;
}

std::shared_ptr<GpuStream> stream_of(const Context& context, int device) {
  if (context.stream && context.stream->device == device) return context.stream;
  return default_stream(device);
}

void set_default_stream(int device, std::shared_ptr<GpuStream> stream) {
  std::lock_guard lock(mutex);
  defaults()[device].swap(stream);
}

std::shared_ptr<GpuStream> default_stream(int device) {
  {
    std::lock_guard lock(mutex);
    auto found = defaults().find(device);
    if (found != defaults().end() && found->second) return found->second;
  }
  return Gpu::at(device).default_stream();
}

}  // namespace avida
