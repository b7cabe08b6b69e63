// JPEG files decoded by a GPU's engine for them, through nvJPEG, which is opened at run time.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cuda/gpu.h"

namespace avida {

// Used by one thread at a time; a GPU may have several. Starting keeps a thread busy: it takes two to keep the engine so.
class JpegEngine {
 public:
  virtual ~JpegEngine() = default;

  // Null where the GPU has none, or nvJPEG is not installed.
  static std::unique_ptr<JpegEngine> open(Gpu& gpu);
  // A library to try first when nvJPEG is opened.
  static void set_library(std::string path);

  using File = std::span<const uint8_t>;
  struct Planes {  // Y, Cb, Cr as they are stored
    uint8_t* at[3];
    int64_t stride[3];
  };
  // What is decoded from here on comes after the work that `stream` has now.
  virtual void begin_after(StreamHandle stream) = 0;
  // Starts to decode baseline files of three planes in one scan, when what was started before is done. The files must
  // stay until they are. Broken ones give some picture. False: one of them was too much for it.
  virtual bool decode(std::span<const File> files, std::span<const Planes> out) = 0;
  // Lets `stream` go on when all that was started is done.
  virtual void end_before(StreamHandle stream) = 0;
};

}  // namespace avida
