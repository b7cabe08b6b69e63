// The optical flow engine of a GPU: motion from one image to another, as a vector for each cell of a grid.
#pragma once
#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/gpu.h"

namespace avida {

enum class FlowQuality { best, medium, fastest };

struct FlowSettings {
  int width = 0, height = 0;
  bool gray = false;  // a byte for each pixel; else four: R, G, B and one that is ignored
  int output_grid = 4;
  int hint_grid = 0;  // 0: no hints
  FlowQuality quality = FlowQuality::best;

  auto operator<=>(const FlowSettings&) const = default;
};

// Cells of a grid along an axis; the last one may be cut off.
inline int64_t flow_cells(int64_t extent, int grid) { return (extent + grid - 1) / grid; }

// What an engine accepts.
struct FlowLimits {
  std::vector<int> output_grids, hint_grids;  // no hint_grids: it takes no hints
  int least_width, least_height, most_width, most_height;
};

// Rows of an image, or of vectors: two signed 16-bit numbers, x and y, in 1/32 of a pixel.
struct FlowBuffer {
  void* memory;
  int64_t pitch;  // bytes from one row to the next
};

// The engine, prepared for images of one size. Its buffers are its own. Used by one thread at a time; work is queued in
// the stream for which the session was opened.
class FlowSession {
 public:
  virtual ~FlowSession() = default;

  // Buffers are numbered from 0 and made on first use.
  virtual FlowBuffer frame(int i) = 0;
  virtual FlowBuffer hints(int i) = 0;
  virtual FlowBuffer flow(int i) = 0;

  struct Pair {
    int from, to;  // numbers of frames
    int made;      // of hints, if there are any, and of the flow that is written
    bool follows;  // the vectors of the pair before help to find these
  };
  virtual void find(const Pair& pair) = 0;
  // To be called after work that reads or writes buffers was queued.
  virtual void used() = 0;
};

// Raise an error that names what is missing where there is no engine.
const FlowLimits& flow_limits(Gpu& gpu);
std::unique_ptr<FlowSession> open_flow_session(Gpu& gpu, const FlowSettings& settings, StreamHandle stream);

// The same for an emulated GPU: a search for the best whole-pixel shift of each cell. It finds plain motion, so that
// everything around the engine can be tested, but not the vectors that an engine would give.
const FlowLimits& emulated_flow_limits();
std::unique_ptr<FlowSession> open_emulated_flow_session(const FlowSettings& settings);

}  // namespace avida
