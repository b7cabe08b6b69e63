#include "ops/color/clahe.h"

#include <array>
#include <vector>

#include "core/clones.h"
#include "core/made_once.h"
#include "operator/declare.h"
#include "operator/launches.h"
#include "ops/color/lab_rows.h"

namespace avida::ops {
namespace {

struct ClaheArgs {
  float clip_limit = 0;
  bool luma_only = true;
  int tiles_x = 0, tiles_y = 0;
};

constexpr int64_t kMostTiles = 1 << 14;

bool tiles_fit(const ClaheArgs& args, int64_t height, int64_t width) {
  return height % args.tiles_y == 0 && width % args.tiles_x == 0;
}

// How often a value may count in a tile; 0: without limit.
int count_limit(const ClaheArgs& args, int64_t area) {
  double limit = std::min(static_cast<double>(args.clip_limit) * static_cast<double>(area) / kByteValues, 2e9);
  return args.clip_limit > 0 ? std::max(static_cast<int>(limit), 1) : 0;
}

// See mix_four().
struct Cell {
  uint32_t value[kByteValues];
};

// `four` has the four bytes of every pixel.
template <int step>
AVIDA_INLINE void mix(uint8_t* __restrict out, const uint32_t* four, int64_t n, const float* right, float below) {
  for (int64_t i = 0; i < n; i++) out[i * step] = mix_four(four[i], right[i], below);
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
        y_(height, args.tiles_y, tiles_fit(args, height, width)),
        x_(width, args.tiles_x, tiles_fit(args, height, width)) {
    int64_t area = y_.tile * x_.tile;
    int most = count_limit(args, area);
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

struct GpuTables {
  const LightnessTables* lightness;
  const ColorTables* colors;
};

// Tables for all samples of a call.
GpuTables upload_tables(Launches& launches) {
  struct Both {
    LightnessTables lightness;
    ColorTables colors;
  };
  static constinit MadeOnce<const Both> once;
  const auto make = [] {
    auto both = std::make_unique<Both>();
    Both& made = *both;
    LabTables tables;
    fill(tables);
    for (int i = 0; i < 256; i++) {
      made.lightness.light[i] = made.colors.light[i] = tables.light[i];
      made.colors.lightness[i] = static_cast<unsigned>(tables.y[i] | tables.y_root[i] << 16);
    }
    for (int i = 0; i < kLightValues; i++) {
      made.lightness.lightness[i] = roots_to_lab(0, tables.root[i], 0).at[0];
      made.colors.root[i] = static_cast<uint16_t>(tables.root[i]);
    }
    for (int i = 0; i < kShadeValues; i++) made.colors.shade[i] = static_cast<uint8_t>(tables.shade[i]);
    return both;
  };
  const Both& both = once.get(make);
  return {launches.upload(std::span(&both.lightness, 1)), launches.upload(std::span(&both.colors, 1))};
}

void launch(const SampleWork& work, const GpuTables& of_call) {
  const auto& args = *static_cast<const ClaheArgs*>(work.args);
  auto [height, width, channels] = std::array{work.in[0].shape[0], work.in[0].shape[1], work.in[0].shape[2]};
  if (height * width == 0) return;
  constexpr int64_t most = 1 << 30;
  if (height > most || width > most) value_error("expected at most 2**30 rows and columns, got ", work.in[0].shape);
  const bool fits = tiles_fit(args, height, width), by_lightness = channels == 3 && args.luma_only;
  TileParts tiles{{height, args.tiles_y, fits}, {width, args.tiles_x, fits}, static_cast<int>(channels), 1};
  const int64_t area = tiles.y.tile * tiles.x.tile;
  constexpr int64_t part_pixels = 16 << 10;
  tiles.parts = static_cast<int>(std::clamp<int64_t>(area / part_pixels, 1, tiles.y.tile));
  const int changed = by_lightness ? 1 : tiles.channels;
  const int64_t count = changed * tiles.y.count * tiles.x.count;
  const int64_t counts_bytes = count * tiles.parts * kByteValues * static_cast<int64_t>(sizeof(int));

  Launches& launches = *work.launches;
  auto* scratch = static_cast<uint8_t*>(launches.scratch(counts_bytes + count * kByteValues));
  auto* counts = reinterpret_cast<int*>(scratch);
  uint8_t* tables = scratch + counts_bytes;
  const auto* in = work.in[0].as<uint8_t>();
  launches.add<CountTile>(0, count * tiles.parts, {counts, in, by_lightness ? of_call.lightness : nullptr, tiles});
  launches.then();
  launches.add<LimitedTable>(0, count, {tables, counts, area, tiles.parts, count_limit(args, area)});
  launches.then();
  const MixTiles::Params params{work.out[0].as<uint8_t>(), in, tables, by_lightness ? of_call.colors : nullptr, tiles};
  int64_t cells = 1;
  for (int64_t extent : params.cells(changed).at) cells *= extent;
  launches.add<MixTiles>(0, cells, params);
}

void equalize_tiles(const SampleWork& work) {
  const auto& args = *static_cast<const ClaheArgs*>(work.args);
  auto [height, width, channels] = std::array{work.in[0].shape[0], work.in[0].shape[1], work.in[0].shape[2]};
  if (height * width == 0) return;
  const uint8_t* in = work.in[0].as<uint8_t>();
  uint8_t* out = work.out[0].as<uint8_t>();
  if (channels == 3 && args.luma_only) return equalize_lightness(args, out, in, height, width);
  for (int64_t c = 0; c < channels; c++) {
    Equalizer equalizer(args, in + c, height, width, static_cast<int>(channels));
    for (int64_t y = 0; y < height; y++) equalizer.row(out + y * width * channels + c, y);
  }
}

std::vector<Data> clahe(const Run& run) {
  SampleLoop loop;
  loop.cost = 30;
  loop.shape = [](SampleWork& work) {
    int64_t channels = work.in[0].shape[2];
    if (channels != 1 && channels != 3) value_error("expected 1 or 3 channels, got ", channels);
    work.out[0].shape = work.in[0].shape;
  };
  loop.body = equalize_tiles;
  if (run.launches) loop.body = [tables = upload_tables(*run.launches)](auto& work) { launch(work, tables); };
  return run_samples(run, loop);
}

}  // namespace

AVIDA_OP(clahe, ClaheArgs) {
  using Args = ClaheArgs;
  op.doc(
        "Applies contrast limited adaptive histogram equalization. The histogram of each tile is equalized, so that "
        "faint structures show everywhere; between the centres of tiles, results are interpolated.")
      .input("input", "Images of bytes, gray or RGB.", {"HWC"})
      .ignored("bins", 256)
      .arg("clip_limit", &Args::clip_limit,
           "How often a value may count, as a multiple of the mean: the larger, the more contrast; 0 is no limit.",
           fixed | required)
      .arg("luma_only", &Args::luma_only, "Change the lightness of colours only, not each channel by itself.", fixed)
      .arg("tiles_x", &Args::tiles_x, "The count of tiles along the width.", fixed | required)
      .arg("tiles_y", &Args::tiles_y, "The count of tiles along the height.", fixed | required)
      .example("avida.clahe(image, tiles_x=2, tiles_y=2, clip_limit=2.0)")
      .infer([](Infer<Args>& call) {
        const Args& args = call.args;
        if (call.in[0].dtype != DType::uint8) value_error("expected uint8, got ", call.in[0].dtype);
        if (args.tiles_x < 1 || args.tiles_y < 1 || int64_t{args.tiles_x} * args.tiles_y > kMostTiles)
          value_error("expected 1 to ", kMostTiles, " tiles, got ", args.tiles_x, " x ", args.tiles_y);
      })
      .custom(clahe)
      .on_gpu();
}

}  // namespace avida::ops
