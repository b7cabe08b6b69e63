// NVDEC: the engines of a GPU that decode video, through libnvcuvid, which is loaded at run time.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/gpu.h"

namespace avida {

// The codecs that an engine decodes to the same bits as every other decoder. It has others, such as MPEG-4, whose
// standards leave the IDCT open.
enum class NvdecCodec { h264, hevc, vp8, vp9, av1 };

// A decoded picture in memory of the GPU.
struct NvdecPicture {
  // Luma, then interleaved chroma of 4:2:0 in planes[1], or two planes of 4:4:4.
  const uint8_t* planes[3];
  int64_t stride;  // of all planes, in bytes
  bool is_444;
  bool is_wide;  // 16-bit words, with the value in their high bits; otherwise bytes
};

// The engine does not take this video, or found it damaged: another decoder may do better.
struct NvdecRefused : std::exception {
  explicit NvdecRefused(std::string reason);
  const char* what() const noexcept override { return reason.c_str(); }
  std::string reason;
};

// Decodes the packets of one video. What the engine cannot do raises NvdecRefused. Not thread-safe; several may work at
// once, and share the engines.
class Nvdec {
 public:
  struct Format {
    NvdecCodec codec;
    int height, width;
    std::vector<uint8_t> header;  // parameter sets, which packets need not repeat
  };

  Nvdec(Gpu& gpu, Format format);
  ~Nvdec();

  // What becomes of decoded frames: those that are wanted are shown. read() queues the work in stream() that reads all
  // pictures shown so far, after which the engine has them back: some at a time, since it lends only a few.
  struct Viewer {
    std::function<bool(int64_t frame)> wants;
    std::function<void(const NvdecPicture& picture)> show;
    std::function<void()> read;
  };

  // Forgets all pictures: the next packet is that of a keyframe.
  void restart();
  // Decodes a packet that holds one frame, and shows frames that are due, in the order of presentation. Without
  // `needed` it is left out if no other frame depends on it.
  void send(std::span<const uint8_t> packet, int64_t frame, bool needed, const Viewer& viewer);
  // Shows the frames that are still held back. restart() comes next.
  void flush(const Viewer& viewer);
  // Has the last pictures read, and waits until that is done.
  void finish(const Viewer& viewer);
  // The last frame that was due, wanted or not; -1 after a restart.
  int64_t last_due() const;

  const GpuStream& stream() const;

  // The frames that engines have shown in this process, and why they refused a video the last time.
  static std::pair<int64_t, std::string> history();

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

}  // namespace avida
