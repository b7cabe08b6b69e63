#include <cmath>
#include <vector>

#include "core/clones.h"
#include "op/op.h"
#include "ops/color/histogram.h"
#include "ops/color/lab_rows.h"

namespace avida::ops {
namespace {

struct ClaheArgs {
  int bins = 256;
  float clip_limit = 0;
  bool luma_only = true;
  int tiles_x = 0, tiles_y = 0;
};

constexpr int64_t kMostTiles = 1 << 14;

// An axis cut into equal tiles. Where they do not fit, the image goes on beyond its border, mirrored.
struct Tiles {
  int64_t size, count, tile;

  Tiles(int64_t size, int64_t count, bool fits)
      : size(size), count(count), tile(fits ? size / count : size / count + 1) {}
  int64_t source(int64_t i) const {
    if (size == 1) return 0;
    i %= 2 * (size - 1);
    return i < size ? i : 2 * (size - 1) - i;
  }
};

// Where element i lies among the middles of tiles: between tile cell - 1 and tile cell.
struct Between {
  int64_t cell;
  float weight;  // of tile `cell`
};
Between between(const Tiles& tiles, int64_t i) {
  float place = static_cast<float>(i) * (1.0f / static_cast<float>(tiles.tile)) - 0.5f, low = std::floor(place);
  return {static_cast<int64_t>(low) + 1, place - low};
}

// What the four tiles around a cell give for a value: one byte each, left and right above, left and right below.
struct Cell {
  uint32_t value[kByteValues];
};

// `four` has the four bytes of every pixel.
template <int step>
AVIDA_INLINE void mix(uint8_t* __restrict out, const uint32_t* four, int64_t n, const float* right, float below) {
  for (int64_t i = 0; i < n; i++) {
    auto byte = [&](int k) { return static_cast<float>(static_cast<int>(four[i] >> 8 * k & 255)); };
    float upper = byte(0) * (1 - right[i]) + byte(1) * right[i], lower = byte(2) * (1 - right[i]) + byte(3) * right[i];
    out[i * step] = round_to_even(upper * (1 - below) + lower * below);
  }
}
AVIDA_CLONES void mix_row(uint8_t* out, int step, const uint32_t* four, int64_t n, const float* right, float below) {
  step == 1 ? mix<1>(out, four, n, right, below) : mix<3>(out, four, n, right, below);
}

// One image of one channel, whose bytes are `step` apart: 1 or 3.
class Equalizer {
 public:
  Equalizer(const ClaheArgs& args, const uint8_t* in, int64_t height, int64_t width, int step)
      : in_(in),
        width_(width),
        step_(step),
        y_(height, args.tiles_y, height % args.tiles_y == 0 && width % args.tiles_x == 0),
        x_(width, args.tiles_x, height % args.tiles_y == 0 && width % args.tiles_x == 0) {
    int64_t area = y_.tile * x_.tile;
    double limit = std::min(static_cast<double>(args.clip_limit) * static_cast<double>(area) / kByteValues, 2e9);
    int most = args.clip_limit > 0 ? std::max(static_cast<int>(limit), 1) : 0;
    std::vector<ByteTable> tables;
    tables.reserve(y_.count * x_.count);
    for (int64_t ty = 0; ty < y_.count; ty++)
      for (int64_t tx = 0; tx < x_.count; tx++) tables.push_back(limited_table(count(ty, tx), area, most));
    make_cells(tables);
    four_.resize(width);
    for (int64_t x = 0; x < width; x++) {
      Between at = between(x_, x);
      columns_.push_back(at.weight);
      if (spans_.empty() || spans_.back().cell != at.cell) spans_.push_back({x, at.cell});
    }
  }

  void row(uint8_t* out, int64_t y) {
    Between at = between(y_, y);
    const Cell* cells = &cells_[at.cell * (x_.count + 1)];
    const uint8_t* in = in_ + y * width_ * step_;
    for (size_t i = 0; i < spans_.size(); i++) {
      const Cell& cell = cells[spans_[i].cell];
      int64_t end = i + 1 < spans_.size() ? spans_[i + 1].begin : width_;
      for (int64_t x = spans_[i].begin; x < end; x++) four_[x] = cell.value[in[x * step_]];
    }
    mix_row(out, step_, four_.data(), width_, columns_.data(), at.weight);
  }

 private:
  struct Span {  // columns that lie between the same tiles
    int64_t begin, cell;
  };

  void make_cells(const std::vector<ByteTable>& tables) {
    cells_.resize((y_.count + 1) * (x_.count + 1));
    for (int64_t cy = 0; cy <= y_.count; cy++)
      for (int64_t cx = 0; cx <= x_.count; cx++) {
        const ByteTable* above = &tables[std::max<int64_t>(cy - 1, 0) * x_.count];
        const ByteTable* below = &tables[std::min(cy, y_.count - 1) * x_.count];
        int64_t left = std::max<int64_t>(cx - 1, 0), right = std::min(cx, x_.count - 1);
        for (int v = 0; v < kByteValues; v++)
          cells_[cy * (x_.count + 1) + cx].value[v] = above[left].value[v] | above[right].value[v] << 8 |
                                                      below[left].value[v] << 16 |
                                                      static_cast<uint32_t>(below[right].value[v]) << 24;
      }
  }

  ByteHistogram count(int64_t ty, int64_t tx) const {
    ByteHistogram histogram{}, odd{};
    int64_t first = tx * x_.tile, inside = std::clamp<int64_t>(width_ - first, 0, x_.tile);
    for (int64_t y = ty * y_.tile; y < (ty + 1) * y_.tile; y++) {
      const uint8_t* line = in_ + y_.source(y) * width_ * step_;
      int64_t x = 0;
      for (; x + 1 < inside; x += 2) {
        histogram.count[line[(first + x) * step_]]++;
        odd.count[line[(first + x + 1) * step_]]++;
      }
      for (; x < x_.tile; x++) odd.count[line[x_.source(first + x) * step_]]++;
    }
    for (int i = 0; i < kByteValues; i++) histogram.count[i] += odd.count[i];
    return histogram;
  }

  const uint8_t* in_;
  const int64_t width_;
  const int step_;
  const Tiles y_, x_;
  std::vector<Cell> cells_;  // one more than tiles along each axis
  std::vector<Span> spans_;
  std::vector<float> columns_;  // weights of the tiles to the right
  std::vector<uint32_t> four_;  // of a row
};

void equalize_lightness(const ClaheArgs& args, uint8_t* out, const uint8_t* in, int64_t height, int64_t width) {
  const int64_t pixels = height * width;
  std::vector<uint8_t> planes(3 * pixels + width);
  uint8_t *lightness = planes.data(), *a = lightness + pixels, *b = a + pixels, *line = b + pixels;
  rows_to_lab(lightness, a, b, in, pixels);
  Equalizer equalizer(args, lightness, height, width, 1);
  for (int64_t y = 0; y < height; y++) {
    equalizer.row(line, y);
    rows_from_lab(out + 3 * y * width, line, a + y * width, b + y * width, width);
  }
}

void equalize_tiles(const Sample<ClaheArgs>& sample) {
  auto [height, width, channels] = std::array{sample.in[0].shape[0], sample.in[0].shape[1], sample.in[0].shape[2]};
  if (height * width == 0) return;
  const uint8_t* in = sample.in[0].as<uint8_t>();
  uint8_t* out = sample.out[0].as<uint8_t>();
  if (channels == 3 && sample.args.luma_only) return equalize_lightness(sample.args, out, in, height, width);
  for (int64_t c = 0; c < channels; c++) {
    Equalizer equalizer(sample.args, in + c, height, width, static_cast<int>(channels));
    for (int64_t y = 0; y < height; y++) equalizer.row(out + y * width * channels + c, y);
  }
}

}  // namespace

AVIDA_OP(clahe, ClaheArgs) {
  using Args = ClaheArgs;
  op.doc(
        "Spreads the values within each of many tiles, so that faint structures show everywhere in an image (contrast "
        "limited adaptive histogram equalization). Between the middles of tiles, what they would give is mixed.")
      .input("input", "Images of bytes, gray or RGB.", {"HWC"})
      .arg("bins", &Args::bins, "Taken for compatibility; bytes are counted one by one.", fixed)
      .arg("clip_limit", &Args::clip_limit,
           "How often a value may count, as a multiple of the mean: the larger, the more contrast; 0 is no limit.",
           fixed | required)
      .arg("luma_only", &Args::luma_only, "Change the lightness of colours only, not each channel by itself.", fixed)
      .arg("tiles_x", &Args::tiles_x, "How many tiles there are side by side.", fixed | required)
      .arg("tiles_y", &Args::tiles_y, "How many tiles there are from top to bottom.", fixed | required)
      .example("avida.clahe(image, tiles_x=2, tiles_y=2, clip_limit=2.0)")
      .infer([](Infer<Args>& call) {
        const Args& args = call.args;
        if (call.in[0].dtype != DType::uint8) value_error("expected uint8, got ", call.in[0].dtype);
        if (args.tiles_x < 1 || args.tiles_y < 1 || int64_t{args.tiles_x} * args.tiles_y > kMostTiles)
          value_error("expected 1 to ", kMostTiles, " tiles, got ", args.tiles_x, " x ", args.tiles_y);
      })
      .each_sample(
          [](Sample<Args>& sample) {
            int64_t channels = sample.in[0].shape[2];
            if (channels != 1 && channels != 3) value_error("expected 1 or 3 channels, got ", channels);
            sample.out[0].shape = sample.in[0].shape;
          },
          equalize_tiles)
      .cost(30);
}

}  // namespace avida::ops
