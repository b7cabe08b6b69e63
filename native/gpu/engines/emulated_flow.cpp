// The optical flow engine of an emulated GPU.
#include <atomic>
#include <cstdlib>
#include <deque>

#include "core/made_once.h"
#include "gpu/engines/optical_flow.h"

namespace avida {
namespace {

constexpr int kFarthest = 4;       // pixels around a hint, or around no motion
constexpr int kUnit = 32;          // vectors are in 1/32 of a pixel
constexpr int kBlock = 8;          // pixels that are compared, around the middle of a cell
constexpr int kMostBuffers = 512;  // of all sessions, so that tests can use up the memory

std::atomic<int> buffers;

class EmulatedSession : public FlowSession {
 public:
  explicit EmulatedSession(const FlowSettings& settings) : settings_(settings) {}
  ~EmulatedSession() override { buffers -= static_cast<int>(frames_.size() + hints_.size() + flows_.size()); }

  FlowBuffer frame(int i) override { return at(frames_, i, pixel_bytes() * settings_.width, settings_.height); }
  FlowBuffer hints(int i) override { return vectors(hints_, i, settings_.hint_grid); }
  FlowBuffer flow(int i) override { return vectors(flows_, i, settings_.output_grid); }
  void used() override {}

  void find(const Pair& pair) override {
    const FlowBuffer from = frame(pair.from), to = frame(pair.to), made = flow(pair.made);
    for (int row = 0; row < flow_cells(settings_.height, settings_.output_grid); row++)
      for (int column = 0; column < flow_cells(settings_.width, settings_.output_grid); column++) {
        const int y = row * settings_.output_grid, x = column * settings_.output_grid;
        int around_x = 0, around_y = 0;
        if (settings_.hint_grid) {
          const int16_t* hint = vector(hints(pair.made), y / settings_.hint_grid, x / settings_.hint_grid);
          around_x = hint[0] / kUnit, around_y = hint[1] / kUnit;
        }
        int best_x = around_x, best_y = around_y;
        int64_t least = difference(from, to, x, y, best_x, best_y);
        for (int dy = around_y - kFarthest; dy <= around_y + kFarthest; dy++)
          for (int dx = around_x - kFarthest; dx <= around_x + kFarthest; dx++)
            if (const int64_t found = difference(from, to, x, y, dx, dy); found < least)
              least = found, best_x = dx, best_y = dy;
        int16_t* out = vector(made, row, column);
        out[0] = static_cast<int16_t>(best_x * kUnit), out[1] = static_cast<int16_t>(best_y * kUnit);
      }
  }

 private:
  int64_t pixel_bytes() const { return settings_.gray ? 1 : 4; }

  static int16_t* vector(const FlowBuffer& buffer, int64_t row, int64_t column) {
    return reinterpret_cast<int16_t*>(static_cast<char*>(buffer.memory) + buffer.pitch * row) + 2 * column;
  }
  int brightness(const FlowBuffer& frame, int y, int x) const {
    y = std::min(std::max(y, 0), settings_.height - 1), x = std::min(std::max(x, 0), settings_.width - 1);
    const auto* pixel = static_cast<const uint8_t*>(frame.memory) + frame.pitch * y + pixel_bytes() * x;
    return settings_.gray ? 10 * pixel[0] : 3 * pixel[0] + 6 * pixel[1] + pixel[2];
  }
  int64_t difference(const FlowBuffer& from, const FlowBuffer& to, int x, int y, int dx, int dy) const {
    int64_t sum = 0;
    const int first = settings_.output_grid / 2 - kBlock / 2;
    for (int i = first; i < first + kBlock; i++)
      for (int j = first; j < first + kBlock; j++)
        sum += std::abs(brightness(from, y + i, x + j) - brightness(to, y + i + dy, x + j + dx));
    return sum;
  }

  using Memory = std::vector<char>;
  FlowBuffer vectors(std::deque<Memory>& all, int i, int grid) {
    return at(all, i, 2 * int64_t{sizeof(int16_t)} * flow_cells(settings_.width, grid),
              flow_cells(settings_.height, grid));
  }
  // With a gap after each row, as an engine has.
  static FlowBuffer at(std::deque<Memory>& all, int i, int64_t row_bytes, int64_t rows) {
    const int64_t pitch = (row_bytes + 64) / 64 * 64;
    while (static_cast<int>(all.size()) <= i) {
      if (++buffers > kMostBuffers) {
        buffers--;
        fail(ErrorKind::memory, "allocating a buffer: the emulated engine has memory for ", kMostBuffers);
      }
      all.emplace_back(static_cast<size_t>(pitch * rows));
    }
    return {all[i].data(), pitch};
  }

  const FlowSettings settings_;
  std::deque<Memory> frames_, hints_, flows_;
};

}  // namespace

const FlowLimits& emulated_flow_limits() {
  static constinit MadeOnce<const FlowLimits> limits;
  return limits.get(
      [] { return std::make_unique<const FlowLimits>(FlowLimits{{1, 2, 4}, {1, 2, 4, 8}, 32, 32, 8192, 8192}); });
}

std::unique_ptr<FlowSession> open_emulated_flow_session(const FlowSettings& settings) {
  return std::make_unique<EmulatedSession>(settings);
}

}  // namespace avida
