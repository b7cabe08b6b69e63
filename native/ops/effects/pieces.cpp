// `augment.dithering`, `augment.downscale`, `augment.jigsaw`, `augment.scatter`, `augment.zoom_blur`.
#include "ops/effects/pieces.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "core/clones.h"
#include "loops/items/each_item.h"
#include "ops/augment/colors.h"
#include "ops/random/tiles.h"

namespace avida::ops {
namespace {

struct DownscaleArgs {
  float scale = 0.25f;
};
struct JigsawArgs {
  int columns = 3;
  std::vector<int> order;
  int rows = 3;
};
struct ScatterArgs {
  int reach = 4;
};
struct DitherArgs {
  int bits = 1;
};
struct ZoomArgs {
  int steps = 10;
  float zoom = 1.2f;
};

PlaneGrid plane_grid(const SampleView& in) {
  const int h = in.layout.find('H'), w = in.layout.find('W');
  PlaneGrid grid{1, in.shape[h], in.shape[w], 1};
  if (grid.height >> 31 || grid.width >> 31) refuse("expected extents below 2^31, got the shape ", in.shape);
  for (int d = 0; d < h; d++) grid.planes *= in.shape[d];
  for (int d = w + 1; d < in.ndim(); d++) grid.inner *= in.shape[d];
  return grid;
}
int64_t lines(const PlaneGrid& grid) { return grid.width * grid.inner > 0 ? grid.planes * grid.height : 0; }

// Rows of the output, from `n` rows of the input with the same pixels.
template <int inner, class T>
void pick_columns(T* out, const T* row, const int* columns, int64_t n) {
  for (int64_t x = 0; x < n; x++)
    for (int c = 0; c < inner; c++) out[x * inner + c] = row[int64_t{columns[x]} * inner + c];
}
template <class T>
void pick_row(T* out, const T* plane, const PlaneGrid& grid, const FromPlaces& from, int y) {
  const T* row = plane + from.row(0, y) * grid.width * grid.inner;
  if (grid.inner == 1) return pick_columns<1>(out, row, from.columns, grid.width);
  if (grid.inner == 3) return pick_columns<3>(out, row, from.columns, grid.width);
  for (int64_t x = 0; x < grid.width; x++)
    std::copy_n(row + from.columns[x] * grid.inner, grid.inner, out + x * grid.inner);
}
template <class T>
void pick_row(T* out, const T* plane, const PlaneGrid& grid, const FromPieces& from, int y) {
  for (int k = 0; k < from.columns; k++) {
    const int64_t left = from.lefts[k], n = from.lefts[k + 1] - left;
    if (n == 0) continue;
    const auto x = static_cast<int>(left);
    const int64_t at = from.row(x, y) * grid.width + from.column(x, y);
    std::memcpy(out + left * grid.inner, plane + at * grid.inner, static_cast<size_t>(n * grid.inner) * sizeof(T));
  }
}
template <class T>
AVIDA_TEMPLATE_CLONES static void pick_row(T* out, const T* plane, const PlaneGrid& grid, const FromAround& from,
                                           int y) {
  for (int64_t x = 0; x < grid.width;) {
    const int64_t pixel = y * grid.width + x, tile = pixel / 64;
    const PhiloxTile words(from.key, tile);
    for (; x < grid.width && (y * grid.width + x) / 64 == tile; x++) {
      const int64_t at = (y * grid.width + x) % 64;
      const unsigned word = words.word[at / 16][at % 16];
      const int64_t row = FromAround::inside(y + from.move(word & 0xffff), from.height),
                    column = FromAround::inside(static_cast<int>(x) + from.move(word >> 16), from.width);
      const T* source = plane + (row * grid.width + column) * grid.inner;
      for (int64_t c = 0; c < grid.inner; c++) out[x * grid.inner + c] = source[c];
    }
  }
}
// Whether a row of the output is the one above again.
bool repeats(const FromPlaces& from, int y) { return y > 0 && from.rows[y] == from.rows[y - 1]; }
bool repeats(const auto&, int) { return false; }

template <class From, class Work>
void pick_pixels(const Work& work, const PlaneGrid& grid, const From& from) {
  with_size_of(work.in[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    auto *out = work.out[0].template as<T>(), *in = work.in[0].template as<T>();
    const int64_t line = grid.width * grid.inner;
    each_item<PickPixel<T, From>>(work, work.begin * line, work.end * line, {out, in, grid, from}, [&] {
      for (int64_t i = work.begin; i < work.end; i++) {
        const auto y = static_cast<int>(i % grid.height);
        if (i > work.begin && repeats(from, y))
          std::memcpy(out + i * line, out + (i - 1) * line, static_cast<size_t>(line) * sizeof(T));
        else
          pick_row(out + i * line, in + (i - y) * line, grid, from, y);
      }
    });
  });
}

class DownscaleParameters {
 public:
  DownscaleParameters(const Sample<DownscaleArgs>& sample, const PlaneGrid& grid)
      : rows_(places(grid.height, sample.args.scale)), columns_(places(grid.width, sample.args.scale)) {}
  template <class Work>
  FromPlaces from(const Work& work) const {
    return {readable(work, rows_), readable(work, columns_)};
  }

 private:
  // Nearest neighbours, of fewer elements and of as many again.
  static std::vector<int> places(int64_t extent, float scale) {
    if (!(scale > 0 && scale <= 1)) refuse("expected a scale above 0, up to 1, got ", scale);
    const auto few = std::max<int64_t>(1, std::llrint(static_cast<double>(extent) * scale));
    std::vector<int> made(extent);
    for (int64_t i = 0; i < extent; i++)
      made[i] =
          static_cast<int>(std::min(extent - 1, static_cast<int64_t>(static_cast<float>(i * few / extent) / scale)));
    return made;
  }
  std::vector<int> rows_, columns_;
};

class JigsawParameters {
 public:
  JigsawParameters(const Sample<JigsawArgs>& sample, const PlaneGrid& grid) : columns_(sample.args.columns) {
    const JigsawArgs& args = sample.args;
    for (int number : {args.rows, args.columns})
      if (number < 1 || number > 4096) refuse("expected from 1 to 4096 rows and columns, got ", number);
    tops_ = ends(args.rows, grid.height, row_of_);
    lefts_ = ends(args.columns, grid.width, column_of_);
    order_.resize(static_cast<size_t>(args.rows) * args.columns);
    std::iota(order_.begin(), order_.end(), 0);
    args.order.empty() ? shuffle(RandomStream(sample.random)) : take(args.order);
  }
  template <class Work>
  FromPieces from(const Work& work) const {
    return {readable(work, row_of_), readable(work, column_of_), readable(work, tops_),
            readable(work, lefts_),  readable(work, order_),     columns_};
  }

 private:
  static std::vector<int> ends(int count, int64_t extent, std::vector<int>& piece_of) {
    std::vector<int> made;
    for (int64_t k = 0; k <= count; k++) made.push_back(static_cast<int>(k * extent / count));
    piece_of.resize(extent);
    for (int k = 0; k < count; k++) std::fill(piece_of.begin() + made[k], piece_of.begin() + made[k + 1], k);
    return made;
  }
  std::pair<int, int> size_of_piece(int k) const {
    const int row = k / columns_, column = k % columns_;
    return {tops_[row + 1] - tops_[row], lefts_[column + 1] - lefts_[column]};
  }
  // Pieces of one size change places among each other.
  void shuffle(RandomStream random) {
    std::map<std::pair<int, int>, std::vector<int>> alike;
    for (int k : order_) alike[size_of_piece(k)].push_back(k);
    for (const auto& [size, pieces] : alike) {
      std::vector<int> drawn = pieces;
      for (size_t left = drawn.size(); left > 1; left--)
        std::swap(drawn[left - 1], drawn[random.below(static_cast<unsigned>(left))]);
      for (size_t i = 0; i < pieces.size(); i++) order_[pieces[i]] = drawn[i];
    }
  }
  void take(const std::vector<int>& given) {
    if (given.size() != order_.size()) refuse("expected ", order_.size(), " numbers as order, got ", given.size());
    for (size_t i = 0; i < given.size(); i++) {
      if (given[i] < 0 || given[i] >= std::ssize(given))
        refuse("expected numbers from 0 to ", given.size() - 1, " as order, got ", given[i]);
      if (size_of_piece(given[i]) != size_of_piece(static_cast<int>(i)))
        refuse("the pieces ", i, " and ", given[i], " are not of one size, as ", tops_.size() - 1, " x ", columns_,
               " pieces of this image cannot be");
    }
    order_ = given;
  }

  const int columns_;
  std::vector<int> tops_, lefts_, row_of_, column_of_, order_;
};

struct ScatterParameters {
  FromAround around;
  ScatterParameters(const Sample<ScatterArgs>& sample, const PlaneGrid& grid)
      : around{sample.random, sample.args.reach, static_cast<int>(grid.height), static_cast<int>(grid.width)} {
    const int64_t most = std::min<int64_t>(1000, std::max<int64_t>(0, std::min(grid.height, grid.width) - 1));
    if (around.reach < 0 || around.reach > most)
      refuse("expected a reach from 0 to ", most, " for this image, got ", around.reach);
  }
  const FromAround& from(const auto&) const { return around; }
};

template <class Parameters, class Args>
class PickPlan {
 public:
  explicit PickPlan(const Sample<Args>& sample) : grid_(plane_grid(sample.in[0])), parameters_(sample, grid_) {}
  int64_t rows() const { return lines(grid_); }
  void run(const Sample<Args>& sample) const { pick_pixels(sample, grid_, parameters_.from(sample)); }

 private:
  const PlaneGrid grid_;
  const Parameters parameters_;
};

// Calls fn(Type<T>()) with a type of colours.
template <class Fn>
void with_color_type(DType dtype, Fn&& fn) {
  with_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (same_type<T, uint8_t> || same_type<T, uint16_t> || (TypeTraits<T>::is_float && sizeof(T) < 8))
      fn(type);
  });
}

template <class T>
AVIDA_TEMPLATE_CLONES static void dither_row(T* __restrict out, const T* __restrict in, int64_t n,
                                             const float* __restrict thresholds, const Dither by) {
  for (int64_t i = 0; i < n; i++) out[i] = store_channel<T>(by(static_cast<float>(in[i]), thresholds[i]));
}

class DitherPlan {
 public:
  explicit DitherPlan(const Sample<DitherArgs>& sample) : grid_(plane_grid(sample.in[0])) {
    const int bits = sample.args.bits;
    if (bits < 1 || bits > 8) refuse("expected from 1 to 8 bits, got ", bits);
    const float range = range_of_colors(sample.in[0].dtype), most = std::ldexp(1.0f, bits) - 1;
    by_ = {most / range, range / most, most};
  }
  int64_t rows() const { return lines(grid_); }
  void run(const Sample<DitherArgs>& sample) const {
    const int64_t line = grid_.width * grid_.inner;
    with_color_type(sample.in[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      auto *out = sample.out[0].template as<T>(), *in = sample.in[0].template as<T>();
      each_item<DitherElement<T>>(sample, sample.begin * line, sample.end * line, {out, in, grid_, by_}, [&] {
        std::vector<float> thresholds[8];  // of the rows, which repeat
        for (int64_t i = sample.begin; i < sample.end; i++) {
          const auto y = static_cast<int>(i % grid_.height);
          std::vector<float>& row = thresholds[y % 8];
          for (int64_t k = std::ssize(row); k < line; k++) row.push_back(bayer(static_cast<int>(k / grid_.inner), y));
          dither_row(out + i * line, in + i * line, line, row.data(), by_);
        }
      });
    });
  }

 private:
  const PlaneGrid grid_;
  Dither by_;
};

template <class T>
AVIDA_TEMPLATE_CLONES static void mix_rows(float* __restrict out, const T* __restrict a, const T* __restrict b,
                                           float share, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = ZoomElement<T>::mixed(a[i], b[i], share);
}
AVIDA_CLONES void add_places(float* __restrict sum, const float* __restrict row, const int* __restrict at, int right,
                             const float* __restrict share, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const float a = row[at[i]], b = row[at[i] + right];
    sum[i] += a + (b - a) * share[i];
  }
}
template <class T>
AVIDA_TEMPLATE_CLONES static void store_mean(T* __restrict out, const float* __restrict sum, float factor, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = store_channel<T>(sum[i] * factor);
}

class ZoomPlan {
 public:
  explicit ZoomPlan(const Sample<ZoomArgs>& sample) : grid_(plane_grid(sample.in[0])) {
    const auto& [steps, zoom] = sample.args;
    if (steps < 1 || steps > 1000) refuse("expected from 1 to 1000 steps, got ", steps);
    if (!(zoom >= 1 && zoom <= 1000)) refuse("expected a zoom from 1 to 1000, got ", zoom);
    for (int k = 0; k <= steps; k++)
      inverses_.push_back(1 / (1 + (zoom - 1) * static_cast<float>(k) / static_cast<float>(steps)));
  }
  int64_t rows() const { return lines(grid_); }
  void run(const Sample<ZoomArgs>& sample) const {
    with_color_type(sample.in[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const int64_t line = grid_.width * grid_.inner;
      const typename ZoomElement<T>::Params params{sample.out[0].template as<T>(), sample.in[0].template as<T>(), grid_,
                                                   readable(sample, inverses_), static_cast<int>(inverses_.size())};
      each_item<ZoomElement<T>>(sample, sample.begin * line, sample.end * line, params,
                                [&] { make_rows<T>(params, sample.begin, sample.end); });
    });
  }

 private:
  // For each factor the places along a row, of each channel.
  template <class T>
  void make_rows(const typename ZoomElement<T>::Params& params, int64_t begin, int64_t end) const {
    const int64_t n = grid_.width * grid_.inner, below = grid_.height > 1 ? n : 0;
    std::vector<int> at(n * params.count);
    std::vector<float> share(n * params.count), row(n), sum(n);
    for (int k = 0; k < params.count; k++)
      for (int64_t i = 0; i < n; i++) {
        const ZoomedAt place =
            ZoomedAt::of(static_cast<int>(i / grid_.inner), static_cast<int>(grid_.width), inverses_[k]);
        at[k * n + i] = place.before * static_cast<int>(grid_.inner) + static_cast<int>(i % grid_.inner);
        share[k * n + i] = place.share;
      }
    const auto right = static_cast<int>(grid_.width > 1 ? grid_.inner : 0);
    for (int64_t i = begin; i < end; i++) {
      const int64_t y = i % grid_.height;
      std::fill(sum.begin(), sum.end(), 0.0f);
      for (int k = 0; k < params.count; k++) {
        const ZoomedAt place = ZoomedAt::of(static_cast<int>(y), static_cast<int>(grid_.height), inverses_[k]);
        const T* from = params.in + (i - y + place.before) * n;
        mix_rows(row.data(), from, from + below, place.share, n);
        add_places(sum.data(), row.data(), at.data() + k * n, right, share.data() + k * n, n);
      }
      store_mean(params.out + i * n, sum.data(), 1 / static_cast<float>(params.count), n);
    }
  }

  const PlaneGrid grid_;
  std::vector<float> inverses_;
};

template <class Args>
Op<Args>& takes_images(Op<Args>& op, const char* text = "Images or videos, with any number of channels.") {
  return op.input("input", text, {"HW", "HWC", "CHW", "FHWC", "FCHW"});
}
template <class Args>
Op<Args>& takes_colors(Op<Args>& op) {
  return takes_images(op, "Images or videos of uint8, uint16 or floats.").infer([](Infer<Args>& call) {
    check_colors(call.in[0].dtype);
  });
}

}  // namespace

AVIDA_OP_IN(augment, dithering, DitherArgs) {
  takes_colors(op)
      .doc("Leaves few colours, and mixes the others of dots. It is ordered dithering, by the matrix of Bayer.")
      .arg("bits", &DitherArgs::bits, "The bits of each channel that are left, from 1 to 8.")
      .example("avida.augment.dithering(image, bits=1)")
      .each_sample<DitherPlan>()
      .cost(3);
}

AVIDA_OP_IN(augment, downscale, DownscaleArgs) {
  takes_images(op)
      .doc("Makes images coarse. They are made smaller and as large again by nearest neighbours.")
      .arg("scale", &DownscaleArgs::scale, "The share of rows and columns that are left.")
      .example("avida.augment.downscale(image, scale=0.2)")
      .each_sample<PickPlan<DownscaleParameters, DownscaleArgs>>();
}

AVIDA_OP_IN(augment, jigsaw, JigsawArgs) {
  takes_images(op)
      .doc("Cuts images into pieces of a grid, which change places. Only pieces of one size do.")
      .arg("columns", &JigsawArgs::columns, "How many columns of pieces.")
      .arg("order", &JigsawArgs::order,
           "For each piece, row by row, the one that takes its place, instead of random ones.")
      .arg("rows", &JigsawArgs::rows, "How many rows of pieces.")
      .random()
      .example("avida.augment.jigsaw(image, rows=2, columns=4)")
      .each_sample<PickPlan<JigsawParameters, JigsawArgs>>();
}

AVIDA_OP_IN(augment, scatter, ScatterArgs) {
  takes_images(op)
      .doc("Takes each pixel from a random place near it, as seen through ground glass.")
      .arg("reach", &ScatterArgs::reach, "How many rows and columns away it may be.")
      .random()
      .example("avida.augment.scatter(image, reach=3)")
      .each_sample<PickPlan<ScatterParameters, ScatterArgs>>()
      .cost(4);
}

AVIDA_OP_IN(augment, zoom_blur, ZoomArgs) {
  takes_colors(op)
      .doc("Blurs images as if the lens zoomed. It is the mean of images that are zoomed more and more.")
      .arg("steps", &ZoomArgs::steps, "How many images there are beside the given one.")
      .arg("zoom", &ZoomArgs::zoom, "The factor of the last one, at least 1; those between are evenly spaced.")
      .example("avida.augment.zoom_blur(image, zoom=1.3)")
      .each_sample<ZoomPlan>()
      .cost(40);
}

}  // namespace avida::ops
