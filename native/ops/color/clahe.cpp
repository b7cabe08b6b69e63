#include <cmath>
#include <vector>

#include "op/op.h"
#include "ops/color/histogram.h"
#include "ops/color/lab.h"

namespace avida::ops {
namespace {

struct ClaheArgs {
  int bins = 256;
  float clip_limit = 0;
  bool luma_only = true;
  int tiles_x = 0, tiles_y = 0;
};

constexpr int64_t kMostTiles = 1 << 16;

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

// Where element i lies among the middles of tiles: between tile `low` and tile `high`.
struct Between {
  int64_t low, high;
  float to_low, to_high;  // weights
};
Between between(const Tiles& tiles, int64_t i) {
  float place = static_cast<float>(i) * (1.0f / static_cast<float>(tiles.tile)) - 0.5f, low = std::floor(place);
  int64_t first = static_cast<int64_t>(low);
  return {std::max<int64_t>(first, 0), std::min(first + 1, tiles.count - 1), 1 - (place - low), place - low};
}

// One image of one channel, whose bytes are `step` apart.
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
    tables_.reserve(y_.count * x_.count);
    for (int64_t ty = 0; ty < y_.count; ty++)
      for (int64_t tx = 0; tx < x_.count; tx++) tables_.push_back(limited_table(count(ty, tx), area, most));
    columns_.reserve(width);
    for (int64_t x = 0; x < width; x++) columns_.push_back(between(x_, x));
  }

  void row(uint8_t* out, int64_t y) const {
    Between at = between(y_, y);
    const ByteTable *above = &tables_[at.low * x_.count], *below = &tables_[at.high * x_.count];
    const uint8_t* in = in_ + y * width_ * step_;
    for (int64_t x = 0; x < width_; x++) {
      const Between& column = columns_[x];
      int value = in[x * step_];
      float high = above[column.low].value[value] * column.to_low + above[column.high].value[value] * column.to_high;
      float low = below[column.low].value[value] * column.to_low + below[column.high].value[value] * column.to_high;
      out[x * step_] = round_to_even(high * at.to_low + low * at.to_high);
    }
  }

 private:
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
  std::vector<ByteTable> tables_;
  std::vector<Between> columns_;
};

const LabTables& lab_tables() {
  static const LabTables tables = [] {
    LabTables made;
    fill(made);
    return made;
  }();
  return tables;
}

void equalize_lightness(const ClaheArgs& args, uint8_t* out, const uint8_t* in, int64_t height, int64_t width) {
  const LabTables& tables = lab_tables();
  std::vector<Bytes3> lab(height * width);
  for (int64_t i = 0; i < height * width; i++) lab[i] = rgb_to_lab(tables, {{in[3 * i], in[3 * i + 1], in[3 * i + 2]}});
  Equalizer equalizer(args, lab[0].at, height, width, 3);
  for (int64_t y = 0; y < height; y++) {
    Bytes3* line = &lab[y * width];
    equalizer.row(line[0].at, y);
    for (int64_t x = 0; x < width; x++) {
      Bytes3 rgb = lab_to_rgb(tables, line[x]);
      for (int c = 0; c < 3; c++) out[3 * (y * width + x) + c] = rgb.at[c];
    }
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
        if (std::isnan(args.clip_limit)) value_error("expected a number as clip_limit, got NaN");
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
