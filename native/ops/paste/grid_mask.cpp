#include "ops/paste/grid_mask.h"

#include "core/clones.h"
#include "loops/items/each_piece.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

AVIDA_CLONES void mask_row(uint8_t* masked, int width, int y, const Grid& grid) {
  for (int x = 0; x < width; x++) masked[x] = grid.masks(x, y);
}

template <class T>
AVIDA_INLINE void keep(T* __restrict out, const T* __restrict in, const uint8_t* masked, int64_t width,
                       int64_t channels) {
  for (int64_t x = 0; x < width; x++)
    for (int64_t c = 0; c < channels; c++) out[x * channels + c] = masked[x] ? T(0) : in[x * channels + c];
}
template <class T>
void keep_unmasked(T* out, const T* in, const uint8_t* masked, int64_t width, int64_t channels) {
  if (channels == 1) return keep(out, in, masked, width, 1);
  if (channels == 3) return keep(out, in, masked, width, 3);
  keep(out, in, masked, width, channels);
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
          std::vector<uint8_t> masked(width_);
          for (int64_t row = begin; row < end; row++) {
            mask_row(masked.data(), static_cast<int>(width_), static_cast<int>(row % height_), grid_);
            keep_unmasked(out + row * length, in + row * length, masked.data(), width_, channels_);
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
      .input("input", "Images or videos.", {"HWC", "CHW", "HW", "FHWC", "FCHW"})
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
