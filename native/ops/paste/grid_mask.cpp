#include "ops/paste/grid_mask.h"

#include "core/clones.h"
#include "op/each_piece.h"
#include "op/op.h"

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

template <class T>
void make_rows(const Sample<GridMaskArgs>& sample, const typename GridMask<T>::Params& params) {
  const int64_t length = params.width * params.channels, begin = sample.begin, end = sample.end;
  each_piece<GridMask<T>, sizeof(T)>(sample, begin * length, end * length, params, [&] {
    std::vector<uint8_t> masked(params.width);
    for (int64_t row = begin; row < end; row++) {
      mask_row(masked.data(), static_cast<int>(params.width), static_cast<int>(row % params.height), params.grid);
      keep_unmasked(params.out + row * length, params.in + row * length, masked.data(), params.width, params.channels);
    }
  });
}

}  // namespace

AVIDA_OP(grid_mask, GridMaskArgs) {
  using Args = GridMaskArgs;
  op.doc("Sets pixels to 0 in squares that lie on a regular grid.")
      .input("input", "Images or videos.", {"HWC", "CHW", "HW", "FHWC", "FCHW"})
      .arg("angle", &Args::angle, "By how much the grid is turned, in radians.")
      .arg("ratio", &Args::ratio, "The side of a square as a share of the tile's.")
      .arg("shift_x", &Args::shift_x, "By how many pixels the grid is moved to the right.")
      .arg("shift_y", &Args::shift_y, "By how many pixels it is moved down.")
      .arg("tile", &Args::tile, "The distance between squares, in pixels.")
      .example("avida.grid_mask(image, tile=4, ratio=0.5)")
      .each_sample(
          [](Sample<Args>& sample) {
            if (sample.args.tile <= 0)
              fail(ErrorKind::runtime, "expected a positive number for \"tile\", got ", sample.args.tile);
            sample.out[0].shape = sample.in[0].shape;
          },
          [](const Sample<Args>& sample) {
            const SampleView& in = sample.in[0];
            const int w = in.layout.find('W');
            const int64_t width = in.shape[w], height = in.shape[w - 1];
            const int64_t channels = w + 1 < in.ndim() ? in.shape[w + 1] : 1;
            with_size_of(in.dtype, [&](auto type) {
              using T = typename decltype(type)::type;
              make_rows<T>(sample, {sample.out[0].as<T>(), in.as<T>(), Grid(sample.args), width, height, channels});
            });
          })
      .rows([](const Sample<Args>& sample) {
        int64_t rows = 1;
        for (int d = 0; d < sample.in[0].layout.find('W'); d++) rows *= sample.in[0].shape[d];
        return rows;
      })
      .on_gpu()
      .cost(3);
}

}  // namespace avida::ops
