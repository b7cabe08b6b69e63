#include "cuda/nvjpeg.h"

#include <vector>

#include "cuda/library.h"

namespace avida {
namespace {

using Status = int;
using Handle = void*;
using State = void*;

struct Image {  // nvjpegImage_t
  unsigned char* channel[4];
  size_t pitch[4];
};

constexpr int kHardware = 3;  // nvjpegBackend_t
constexpr int kPlanes = 1;    // nvjpegOutputFormat_t: Y, Cb and Cr as they are stored

struct Nvjpeg {
  Status (*create)(int backend, void* device_allocator, void* pinned_allocator, unsigned flags, Handle*) = nullptr;
  Status (*state_create)(Handle, State*) = nullptr;
  Status (*initialize)(Handle, State, int batch, int cpu_threads, int format) = nullptr;
  Status (*decode)(Handle, State, const unsigned char* const* data, const size_t* lengths, Image* out,
                   void* stream) = nullptr;
  bool complete = false;
};

std::string& first_library() {
  static auto* path = new std::string;
  return *path;
}

const Nvjpeg& nvjpeg() {
  static const auto* opened = [] {
    auto* found = new Nvjpeg;
    Library library({first_library(), "libnvjpeg.so.13", "libnvjpeg.so.12"});
    library.find(found->create, "nvjpegCreateEx");
    library.find(found->state_create, "nvjpegJpegStateCreate");
    library.find(found->initialize, "nvjpegDecodeBatchedInitialize");
    library.find(found->decode, "nvjpegDecodeBatched");
    found->complete = library.missing().empty();
    return found;
  }();
  return *opened;
}

struct Entered {
  explicit Entered(const Gpu& gpu) : gpu(gpu) { gpu.enter(); }
  ~Entered() { gpu.leave(); }
  Entered(const Entered&) = delete;
  const Gpu& gpu;
};

class Engine : public JpegEngine {
 public:
  explicit Engine(Gpu& gpu) : gpu_(gpu), stream_(gpu.create_stream()) {}

  bool start() {
    const Entered here(gpu_);
    return nvjpeg().create(kHardware, nullptr, nullptr, 0, &handle_) == 0 &&
           nvjpeg().state_create(handle_, &state_) == 0;
  }

  void begin_after(StreamHandle stream) override { gpu_.wait(stream_->handle, stream); }
  void end_before(StreamHandle stream) override { gpu_.wait(stream, stream_->handle); }

  bool decode(std::span<const File> files, std::span<const Planes> out) override {
    const Entered here(gpu_);
    gpu_.synchronize(stream_->handle);  // the state is used again
    std::vector<const unsigned char*> data;
    std::vector<size_t> lengths;
    std::vector<Image> images;
    for (size_t i = 0; i < files.size(); i++) {
      data.push_back(files[i].data());
      lengths.push_back(files[i].size());
      Image& image = images.emplace_back();
      for (int c = 0; c < 3; c++) {
        image.channel[c] = out[i].at[c];
        image.pitch[c] = static_cast<size_t>(out[i].stride[c]);
      }
    }
    return nvjpeg().initialize(handle_, state_, static_cast<int>(files.size()), 1, kPlanes) == 0 &&
           nvjpeg().decode(handle_, state_, data.data(), lengths.data(), images.data(), stream_->handle) == 0;
  }

 private:
  Gpu& gpu_;
  const std::shared_ptr<GpuStream> stream_;
  Handle handle_ = nullptr;
  State state_ = nullptr;
};

}  // namespace

std::unique_ptr<JpegEngine> JpegEngine::open(Gpu& gpu) {
  if (gpu.architecture() == "none" || !nvjpeg().complete) return nullptr;
  auto engine = std::make_unique<Engine>(gpu);
  return engine->start() ? std::move(engine) : nullptr;
}

void JpegEngine::set_library(std::string path) { first_library() = std::move(path); }

}  // namespace avida
