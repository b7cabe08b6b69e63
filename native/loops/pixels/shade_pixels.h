// The family of operators that make pixels brighter, darker or of another colour, by a level that follows from their
// place, on either device: light, shadows, fog, rain.
//
//   struct Glow { static constexpr const char* header = "...";
//                 AVIDA_HD float operator()(int x, int y) const;               // of a pixel
//                 void row(float* level, int n, int y) const; };               // the same of a row, for CPUs
#pragma once
#include <vector>

#include "core/clones.h"
#include "loops/pixels/shade_item.h"
#include "operator/launches.h"
#include "operator/sample.h"

namespace avida {

// A sample as rows of pixels, whose channels are interleaved or planes.
struct ShadeGrid {
  int64_t width = 1, height = 1, frames = 1, channels = 1, plane = 0;

  explicit ShadeGrid(const SampleView& in) {
    const int h = in.layout.find('H'), w = in.layout.find('W'), c = in.layout.find('C'), f = in.layout.find('F');
    width = in.shape[w], height = in.shape[h];
    if (f >= 0) frames = in.shape[f];
    if (c >= 0) channels = in.shape[c];
    if (c >= 0 && c < w) plane = width * height;
    if (width >> 31 || height >> 31) refuse("expected extents below 2^31, got the shape ", in.shape);
  }
  int64_t rows() const { return width * channels > 0 ? frames * height : 0; }
};

template <class T>
AVIDA_TEMPLATE_CLONES static void shade_run(T* __restrict out, const T* __restrict in, int64_t n,
                                            const float* __restrict factor, const float* __restrict addend) {
  for (int64_t i = 0; i < n; i++) out[i] = shaded(in[i], factor[i], addend[i]);
}

// Factors and addends of a row, each repeated for `channels` interleaved channels.
template <int channels>
AVIDA_TEMPLATE_CLONES static void spread_levels(const float* __restrict level, int64_t n, const Shading& shading,
                                                float* __restrict factor, float* __restrict addend) {
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < channels; c++) {
      factor[channels * i + c] = shading.factor(level[i]);
      addend[channels * i + c] = shading.addend(level[i], c);
    }
}
inline void spread_any(const float* level, int64_t n, int64_t channels, const Shading& shading, float* factor,
                       float* addend) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t c = 0; c < channels; c++) {
      factor[channels * i + c] = shading.factor(level[i]);
      addend[channels * i + c] = shading.addend(level[i], c);
    }
}

template <class Field>
AVIDA_TEMPLATE_CLONES static void make_levels(const Field& field, float* level, int n, int y) {
  field.row(level, n, y);
}

// The rows [work.begin, work.end) of all frames. All planes and frames of an image have the same levels.
template <class T, class Field, class Work>
void shade_rows(const Work& work, const ShadeGrid& grid, const Shading& shading, const Field& field) {
  const int64_t inner = grid.plane ? 1 : grid.channels, planes = grid.plane ? grid.channels : 1, n = grid.width;
  std::vector<float> numbers(static_cast<size_t>(n + 2 * n * inner));
  float *level = numbers.data(), *factor = level + n, *addend = factor + n * inner;
  for (int64_t row = work.begin; row < work.end; row++) {
    const int64_t frame = row / grid.height, y = row % grid.height;
    make_levels(field, level, static_cast<int>(n), static_cast<int>(y));
    if (inner == 3) spread_levels<3>(level, n, shading, factor, addend);
    if (inner != 3 && planes == 1) spread_any(level, n, inner, shading, factor, addend);
    for (int64_t p = 0; p < planes; p++) {
      if (planes > 1) {
        Shading of_plane = shading;
        of_plane.color[0] = shading.color[p < kShadeColors ? p : 0];
        spread_levels<1>(level, n, of_plane, factor, addend);
      }
      const int64_t first = ((frame * planes + p) * grid.height + y) * n * inner;
      shade_run(work.out[0].template as<T>() + first, work.in[0].template as<const T>() + first, n * inner, factor,
                addend);
    }
  }
}

template <class Field, class Work>
void shade_pixels(const Work& work, const ShadeGrid& grid, const Shading& shading, const Field& field) {
  with_dtype(work.in[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (same_type<T, uint8_t> || same_type<T, uint16_t> || (TypeTraits<T>::is_float && sizeof(T) < 8)) {
      if (!work.launches) return shade_rows<T>(work, grid, shading, field);
      work.launches->template add<ShadePixel<T, Field>>(
          0, grid.rows() * grid.width,
          {work.out[0].template as<T>(), work.in[0].template as<T>(), grid.width, grid.height, grid.channels,
           grid.plane, shading, field});
    }
  });
}

}  // namespace avida
