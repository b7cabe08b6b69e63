#include "cuda/nvjpeg.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <vector>

namespace avida {
namespace {

using Status = int;
using Handle = void*;
using State = void*;
using Parsed = void*;

struct Image {  // nvjpegImage_t
  unsigned char* channel[4];
  size_t pitch[4];
};

constexpr int kHardware = 3;     // nvjpegBackend_t
constexpr int kInterleaved = 5;  // nvjpegOutputFormat_t: RGB side by side

struct Library {
  Status (*create)(int backend, void* device_allocator, void* pinned_allocator, unsigned flags, Handle*) = nullptr;
  Status (*state_create)(Handle, State*) = nullptr;
  Status (*initialize)(Handle, State, int batch, int cpu_threads, int format) = nullptr;
  Status (*decode)(Handle, State, const unsigned char* const* data, const size_t* lengths, Image* out,
                   void* stream) = nullptr;
  Status (*parsed_create)(Handle, Parsed*) = nullptr;
  Status (*parse)(Handle, const unsigned char* data, size_t length, int metadata, int tables, Parsed) = nullptr;
  Status (*supported)(Handle, Parsed, int* not_supported) = nullptr;
  bool complete = false;
};

std::string& first_library() {
  static auto* path = new std::string;
  return *path;
}

const Library& library() {
  static const auto* opened = [] {
    auto* found = new Library;
    void* file = nullptr;
    for (const char* name : {first_library().c_str(), "libnvjpeg.so.13", "libnvjpeg.so.12"})
      if (*name && (file = dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
    if (!file) return found;
    found->complete = true;
    auto find = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, symbol));
      found->complete &= function != nullptr;
    };
    find(found->create, "nvjpegCreateEx");
    find(found->state_create, "nvjpegJpegStateCreate");
    find(found->initialize, "nvjpegDecodeBatchedInitialize");
    find(found->decode, "nvjpegDecodeBatched");
    find(found->parsed_create, "nvjpegJpegStreamCreate");
    find(found->parse, "nvjpegJpegStreamParse");
    find(found->supported, "nvjpegDecodeBatchedSupported");
    return found;
  }();
  return *opened;
}

void check(Status status, const char* doing) {
  if (status) fail(ErrorKind::runtime, doing, ": nvJPEG returned ", status);
}

class Engine : public JpegEngine {
 public:
  explicit Engine(Gpu& gpu) : gpu_(gpu), stream_(gpu.create_stream()) {}

  bool open() {
    const Library& nvjpeg = library();
    if (nvjpeg.create(kHardware, nullptr, nullptr, 0, &handle_)) return false;
    return nvjpeg.state_create(handle_, &state_) == 0 && nvjpeg.parsed_create(handle_, &parsed_) == 0;
  }

  bool takes(File file) override {
    gpu_.enter();
    int not_supported = 1;
    return library().parse(handle_, file.data(), file.size(), 0, 0, parsed_) == 0 &&
           library().supported(handle_, parsed_, &not_supported) == 0 && not_supported == 0;
  }

  void start(std::span<const File> files, std::span<uint8_t* const> out, std::span<const int64_t> pitches,
             StreamHandle after) override {
    gpu_.enter();
    gpu_.wait(stream_->handle, after);
    started_ = std::chrono::steady_clock::now();
    std::vector<const unsigned char*> data;
    std::vector<size_t> lengths;
    std::vector<Image> images;
    for (size_t i = 0; i < files.size(); i++) {
      data.push_back(files[i].data());
      lengths.push_back(files[i].size());
      images.push_back({{out[i]}, {static_cast<size_t>(pitches[i])}});
    }
    if (files.size() != batch_) {
      check(library().initialize(handle_, state_, static_cast<int>(files.size()), 1, kInterleaved),
            "preparing to decode");
      batch_ = files.size();
    }
    check(library().decode(handle_, state_, data.data(), lengths.data(), images.data(), stream_->handle), "decoding");
  }

  double wait() override {
    gpu_.synchronize(stream_->handle);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }

 private:
  Gpu& gpu_;
  std::shared_ptr<GpuStream> stream_;
  Handle handle_ = nullptr;
  State state_ = nullptr;
  Parsed parsed_ = nullptr;
  size_t batch_ = 0;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace

JpegEngine* JpegEngine::of(Gpu& gpu) {
  static std::mutex mutex;
  static auto* engines = new std::map<int, std::unique_ptr<Engine>>;
  std::lock_guard lock(mutex);
  auto found = engines->find(gpu.device);
  if (found == engines->end()) {
    std::unique_ptr<Engine> engine;
    if (gpu.architecture() != "none" && library().complete) engine = std::make_unique<Engine>(gpu);
    if (engine && !engine->open()) engine.reset();
    found = engines->emplace(gpu.device, std::move(engine)).first;
  }
  return found->second.get();
}

void JpegEngine::wait_quietly() noexcept {
  try {
    wait();
  } catch (const Error&) {
  }
}

void JpegEngine::set_library(std::string path) { first_library() = std::move(path); }

void JpegEngine::learn(double own_pixels, double own_seconds, double cpu_pixels, double cpu_seconds) {
  if (own_pixels == 0 || cpu_pixels == 0 || own_seconds <= 0 || cpu_seconds <= 0) return;
  const double own = own_pixels / own_seconds, cpu = cpu_pixels / cpu_seconds;
  share_ = std::clamp(0.5 * share_ + 0.5 * own / (own + cpu), 0.05, 0.95);
}

}  // namespace avida
