// Windows of images on a GPU, in tiles: see kernel/window_tile.h.
#pragma once
#include <algorithm>

#include "kernel/window_tile.h"
#include "op/launches.h"
#include "op/space.h"

namespace avida {

// Whether the windows are those of images, and tiles with all that they reach fit into the memory of a block: then the
// work is taken down.
template <class Inner>
bool launch_window_tiles(Launches& launches, const Space& space, const Space& out_space, const NeighbourWindow& window,
                         const SampleView& in, const SampleView& out, typename Inner::In fill,
                         const typename Inner::Params& inner) {
  using Body = WindowTile<Inner>;
  using In = typename Inner::In;
  using Out = typename Inner::Out;
  constexpr int64_t kMost = int64_t(1) << 31;
  const auto [depth, height, width] = window.size;
  if (depth > 1 || height > Body::kMostRows - Body::kRows + 1) return false;
  if (Inner::kWeights > 1 && height * width > Inner::kWeights) return false;
  if (space.elements() >= kMost || out_space.elements() >= kMost || width * space.inner >= Body::kWords) return false;

  auto up_to = [](int64_t x, int64_t step) { return (x + step - 1) / step * step; };
  const int64_t n = space.row_elements(), out_n = out_space.row_elements(), step = Body::kAlong * space.inner;
  const int64_t margin = up_to(window.before[2] * space.inner, 4);
  const int64_t after = up_to((width - 1 - window.before[2]) * space.inner, 4);
  int64_t in_pitch = 0, out_pitch = 0, out_at = 0;
  auto fits = [&](int64_t elements) {
    const int64_t all = margin + elements + after;  // pitches are odd: then rows lie in different banks
    in_pitch = (sizeof(In) == 1 ? all / 4 : all) | 1;
    out_pitch = (sizeof(Out) == 1 ? elements / 4 : elements) | 1;
    out_at = (Body::kRows + height - 1) * in_pitch;
    return out_at + Body::kRows * out_pitch <= Body::kWords;
  };
  const int64_t runs = (out_n + step - 1) / step;  // of points that a thread makes
  int64_t most = 0;
  while (most < runs && fits((most + 1) * step)) most++;
  if (most == 0) return false;
  const int64_t tiles = (runs + most - 1) / most, elements = (runs + tiles - 1) / tiles * step;
  fits(elements);

  auto in_words = [](const SampleView& view, int64_t row) {
    return row % 4 == 0 && reinterpret_cast<uintptr_t>(view.data) % 4 == 0;
  };
  typename Body::Params params{};
  params.out = out.as<Out>();
  params.source = {in.as<In>(),
                   static_cast<int>(space.size[1]),
                   static_cast<int>(n),
                   static_cast<int>(space.inner),
                   in_words(in, n),
                   window.border,
                   fill};
  params.out_height = static_cast<int>(out_space.size[1]);
  params.out_row_elements = static_cast<int>(out_n);
  params.tiles_down = static_cast<int>((out_space.size[1] + Body::kRows - 1) / Body::kRows);
  params.tiles_along = static_cast<int>(tiles);
  params.tile_elements = static_cast<int>(elements);
  params.before_height = static_cast<int>(window.before[1]);
  params.before_width = static_cast<int>(window.before[2]);
  params.height = static_cast<int>(height);
  params.width = static_cast<int>(width);
  params.margin = static_cast<int>(margin);
  params.margin_after = static_cast<int>(after);
  params.in_pitch = static_cast<int>(in_pitch);
  params.out_pitch = static_cast<int>(out_pitch);
  params.out_at = static_cast<int>(out_at);
  params.out_words = in_words(out, out_n);
  params.inner = inner;
  launches.add<Body>(0, space.parts * space.size[0] * params.tiles_down * params.tiles_along, params);
  return true;
}

}  // namespace avida
