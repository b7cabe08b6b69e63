// The driver's interface to the optical flow engine (libnvidia-opticalflow.so.1), as far as it is used: version 5.0.
// Order and sizes of the members are given by the driver; so are the numbers.
#pragma once
#include <cstdint>

#include "gpu/driver.h"

namespace avida::cuda::flow {

using Status = int;  // 0 is success
using Session = void*;
using Buffer = void*;

constexpr uint32_t kVersion = 5 << 4;  // major version, then four bits for the minor one
constexpr Status kNoEngine = 1, kUnsupportedDevice = 2, kInvalidVersion = 7, kNoMemory = 8;

enum Capability : uint32_t {
  kOutputGrids = 0,
  kHintGrids = 1,
  kTakesHints = 2,
  kLeastWidth = 4,
  kLeastHeight = 5,
  kMostWidth = 6,
  kMostHeight = 7,
};
enum Level : uint32_t { kSlow = 5, kMedium = 10, kFast = 20 };
enum Usage : uint32_t { kInput = 1, kOutput = 2, kHint = 3 };
enum Format : uint32_t { kGray = 1, kRgba = 3, kVectors = 5 };
constexpr uint32_t kFindMotion = 1;     // the other mode is stereo
constexpr uint32_t kLinearMemory = 2;   // CUdeviceptr; the other type is CUarray
constexpr uint32_t kErrorLength = 256;  // at least 80

#pragma pack(push, 1)
struct Setup {
  uint32_t width, height, output_grid, hint_grid, mode, level, takes_hints, makes_costs;
  void* reserved;
  uint32_t disparity_range, has_regions, direction, makes_global_flow, input_format;
};
struct BufferSetup {
  uint32_t width, height, usage, format;  // of vectors: in cells
};
struct Input {
  Buffer from, to, hints;
  uint32_t without_temporal_hints, padding;
  void* reserved;
  uint32_t more_padding, region_count;
  void* regions;
};
struct Output {
  Buffer flow, costs;
  void* reserved;
  Buffer backward, backward_costs, global_flow;
};
struct Strides {
  struct {
    uint32_t row_bytes, rows;
  } plane[3];
  uint32_t planes;
};
#pragma pack(pop)
static_assert(sizeof(Setup) == 60 && sizeof(Input) == 56 && sizeof(Output) == 48 && sizeof(Strides) == 28);

// Filled in by the driver.
struct Functions {
  Status (*open)(Context context, Session* session);
  Status (*prepare)(Session session, const Setup* setup);
  Status (*make_buffer)(Session session, const BufferSetup* setup, uint32_t memory_type, Buffer* buffer);
  void* array_of;
  Pointer (*pointer_of)(Buffer buffer);
  Status (*strides_of)(Buffer buffer, Strides* strides);
  Status (*set_streams)(Session session, Stream input, Stream output);
  Status (*execute)(Session session, const Input* input, Output* output);
  Status (*free_buffer)(Buffer buffer);
  Status (*close)(Session session);
  Status (*last_error)(Session session, char* text, uint32_t* size);
  Status (*capabilities)(Session session, Capability what, uint32_t* values, uint32_t* count);
};

}  // namespace avida::cuda::flow
