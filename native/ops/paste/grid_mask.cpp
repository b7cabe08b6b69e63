#include "ops/paste/grid_mask.h"

#include <cmath>

#include "core/clones.h"
#include "core/rows.h"
#include "loops/items/each_piece.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

// A number less the next integer below. Conversion to int and back vectorises, floor does not.
AVIDA_INLINE float fraction(float x) {
  const float whole = static_cast<float>(static_cast<int>(x));
  return x - (x < whole ? whole - 1 : whole);
}

// 255 for pixels that are kept, 0 for others.
AVIDA_CLONES void find_kept(uint8_t* kept, int width, int y, const Grid& given) {
  const Grid grid = given;  // which stores of bytes cannot change
  bool all_fit = true;      // into an int
  for (int x : {0, width - 1}) {
    const auto [u, v] = grid.place(x, y);
    all_fit &= std::fabs(u) < 0x1p30f && std::fabs(v) < 0x1p30f;
  }
  if (!all_fit) {
    for (int x = 0; x < width; x++) kept[x] = grid.masks(x, y) ? 0 : 255;
    return;
  }
  for (int x = 0; x < width; x++) {
    const auto [u, v] = grid.place(x, y);
    kept[x] = (fraction(u) < grid.ratio) & (fraction(v) < grid.ratio) ? 0 : 255;
  }
}

AVIDA_CLONES void keep_bytes(uint8_t* __restrict out, const uint8_t* __restrict in, const uint8_t* __restrict kept,
                             int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = in[i] & kept[i];
}

template <class T>
void keep(T* __restrict out, const T* __restrict in, const uint8_t* kept, int64_t width, int64_t channels) {
  for (int64_t x = 0; x < width; x++)
    for (int64_t c = 0; c < channels; c++) out[x * channels + c] = kept[x] ? in[x * channels + c] : T(0);
}

class GridMaskPlan {
 public:
  explicit GridMaskPlan(const Sample<GridMaskArgs>& sample) : in_(sample.in[0]), grid_(sample.args) {
    if (sample.args.tile <= 0) refuse("expected a positive number for \"tile\", got ", sample.args.tile);
    const int w = in_.layout.find('W');
    width_ = in_.shape[w];
    height_ = in_.shape[w - 1];
    channels_ = w + 1 < in_.ndim() ? in_.shape[w + 1] : 1;
    for (int d = 0; d < w; d++) rows_ *= in_.shape[d];
  }

  Shape shape() const { return in_.shape; }
  int64_t rows() const { return rows_; }
  void run(const Sample<GridMaskArgs>& sample) const {
    with_size_of(in_.dtype, [&](auto type) { mask<typename decltype(type)::type>(sample); });
  }

 private:
  template <class T>
  void mask(const Sample<GridMaskArgs>& sample) const {
    T* out = sample.out[0].template as<T>();
    const T* in = in_.as<T>();
    const int64_t length = width_ * channels_, begin = sample.begin, end = sample.end;
    each_piece<GridMask<T>, sizeof(T)>(
        sample, begin * length, end * length,
        {out, in, grid_, width_, height_, channels_, Divisor::of(length), Divisor::of(height_), Divisor::of(channels_)},
        [&] {
          const bool triples = sizeof(T) == 1 && channels_ == 3;
          std::vector<uint8_t> pixels(width_), bytes(triples ? length : 0);
          for (int64_t row = begin; row < end; row++) {
            uint8_t* kept = pixels.data();
            find_kept(kept, static_cast<int>(width_), static_cast<int>(row % height_), grid_);
            if (triples) interleave(bytes.data(), kept, kept, kept, width_);
            T* to = out + row * length;
            const T* from = in + row * length;
            if constexpr (sizeof(T) == 1)
              if (triples || channels_ == 1) {
                keep_bytes(to, from, triples ? bytes.data() : kept, length);
                continue;
              }
            keep(to, from, kept, width_, channels_);
          }
        });
  }

  const SampleView& in_;
  const Grid grid_;
  int64_t width_, height_, channels_, rows_ = 1;
};

}  // namespace

AVIDA_OP(grid_mask, GridMaskArgs) {
  using Args = GridMaskArgs;
  op.doc("Sets pixels to 0 in the squares of a regular grid.")
      .input("input", "Images, videos or volumes, of which each slice is an image.",
             {"HWC", "CHW", "HW", "FHWC", "FCHW", "CFHW", "DHWC", "CDHW", "DHW", "FDHWC", "FCDHW", "CFDHW"})
      .arg("angle", &Args::angle, "The angle of the grid, in radians.")
      .arg("ratio", &Args::ratio, "The side of a square divided by the side of a tile.")
      .arg("shift_x", &Args::shift_x, "The offset of the grid to the right, in pixels.")
      .arg("shift_y", &Args::shift_y, "The offset of the grid downwards, in pixels.")
      .arg("tile", &Args::tile, "The side of a tile, which is the distance between squares, in pixels.")
      .example("avida.grid_mask(image, tile=4, ratio=0.5)")
      .each_sample<GridMaskPlan>()
      .cost(3);
}

}  // namespace avida::ops
