// Optical flow of sequences on the engine of a GPU.
#pragma once
#include "gpu/engines/optical_flow.h"
#include "operator/gpu_call.h"

namespace avida {

struct FlowRequest {
  bool gray = false;     // one channel, else three
  bool swapped = false;  // B, G, R
  int output_grid = 4;   // pixels
  int hint_grid = 0;     // 0: there are no hints
  bool temporal_hints = false;
  FlowQuality quality = FlowQuality::best;
};

// The motion from each frame back to the one before, in pixels. The inputs are sequences of frames and, optionally, of
// hints.
std::vector<Data> find_flow(const Run& run, const GpuStream& stream, const FlowRequest& request);

}  // namespace avida
