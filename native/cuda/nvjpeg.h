// JPEG files decoded by a GPU's engine for them, through nvJPEG, which is opened at run time.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "cuda/gpu.h"

namespace avida {

class JpegEngine {
 public:
  virtual ~JpegEngine() = default;

  // Null where the GPU has none, or nvJPEG is not installed.
  static JpegEngine* of(Gpu& gpu);
  // A library to try first when nvJPEG is opened.
  static void set_library(std::string path);

  // One batch at a time.
  [[nodiscard]] std::unique_lock<std::mutex> claim() { return std::unique_lock(busy_); }

  using File = std::span<const uint8_t>;
  virtual bool takes(File file) = 0;
  // Starts to decode files to RGB bytes without gaps; pitches[i] is a row of out[i] in bytes. The files must stay until
  // wait() returns. Work that is in the stream `after` may still use the memory.
  virtual void start(std::span<const File> files, std::span<uint8_t* const> out, std::span<const int64_t> pitches,
                     StreamHandle after) = 0;
  // Seconds since start(), when all is done.
  virtual double wait() = 0;
  void wait_quietly() noexcept;

  // The share of the pixels of a batch that the engine gets, beside the CPU's threads; follows from how fast both were.
  double share() const { return share_; }
  void learn(double own_pixels, double own_seconds, double cpu_pixels, double cpu_seconds);

 private:
  std::mutex busy_;
  double share_ = 0.7;
};

}  // namespace avida
