// The family of operators that look at all elements of a window around each element, on either device.
#pragma once
#include <algorithm>

#include "loops/neighbours/space.h"
#include "loops/neighbours/window_tile.h"
#include "operator/launches.h"

namespace avida {

// The elements of a sample, those of the output, and the window of each.
struct Windowed {
  const Space &space, &out_space;
  NeighbourWindow window;
};

// For a GPU: what lies beyond a filled border, and the parameters of an operator's tiles.
template <class Tile>
struct TileWork {
  typename Tile::In beyond;
  typename Tile::Params params;
};

// Launches tiles if the windows are those of images, and tiles with all that they reach fit into shared memory.
template <class Inner, class Work>
bool launch_window_tiles(const Work& work, const Windowed& windowed, const TileWork<Inner>& tile) {
  const auto& [space, out_space, window] = windowed;
  const SampleView &in = work.in[0], &out = work.out[0];
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
  params.source = {in.as<In>(),         static_cast<int>(space.size[1]),
                   static_cast<int>(n), static_cast<int>(space.inner),
                   in_words(in, n),     window.border,
                   tile.beyond};
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
  params.inner = tile.params;
  work.launches->template add<Body>(0, space.parts * space.size[0] * params.tiles_down * params.tiles_along, params);
  return true;
}

// Makes the output of a sample: on the CPU by host_loop(); on a GPU by `Tile` (see window_tile.h) where that fits, else
// by `Item` (see device/launch.h). Tiles are for bytes and floats only; without `tile` there are none.
template <class Item, class Tile, class Work, class HostLoop>
void each_window(const Work& work, const Windowed& windowed, const typename Item::Params& item,
                 const std::optional<TileWork<Tile>>& tile, HostLoop&& host_loop) {
  if (!work.launches) return host_loop();
  auto fits_word = []<class T>(Type<T>) { return std::is_same_v<T, uint8_t> || std::is_same_v<T, float>; };
  if constexpr (fits_word(Type<typename Tile::In>{}) && fits_word(Type<typename Tile::Out>{}))
    if (tile && launch_window_tiles<Tile>(work, windowed, *tile)) return;
  work.launches->template add<Item>(0, windowed.out_space.elements(), item);
}

}  // namespace avida
