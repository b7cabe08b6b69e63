#include "loops/warping/warp.h"

#include <climits>
#include <cmath>
#include <cstring>

#include "core/rows.h"
#include "loops/moving/convert_run.h"
#include "loops/warping/staged_warp.h"
#include "loops/warping/warp_loops.h"

namespace avida {

WarpOptions warp_options(const WarpArgs& args) {
  return {args.interp_type, args.fill_value ? Border::fill : Border::clamp, {args.fill_value.value_or(0)}};
}

void infer_warp(const WarpArgs& args, Meta& out) {
  if (args.dtype != DType::none && args.output_dtype != DType::none)
    type_error("\"output_dtype\" is the old name of \"dtype\"; expected one of them, got both");
  if (args.dtype != DType::none) out.dtype = args.dtype;
  if (args.output_dtype != DType::none) out.dtype = args.output_dtype;
}

void set_size(Shape& shape, const Layout& layout, const Vec<float>& size) {
  Vec<int> axes;
  for (char letter : {'D', 'H', 'W'})
    if (layout.find(letter) >= 0) axes.push_back(layout.find(letter));
  if (size.size() != axes.size()) refuse("expected ", axes.size(), " numbers in \"size\", got ", size.size());
  for (int d = 0; d < axes.size(); d++) {
    if (!(size[d] >= 0 && size[d] < 0x1p31f)) refuse("expected an output size from 0 to below 2^31, got ", size[d]);
    shape[axes[d]] = static_cast<int64_t>(size[d]);
  }
}

WarpSample::WarpSample(const SampleView& in, const SampleView& out, const WarpOptions& options, int64_t begin,
                       int64_t end, Launches* launches)
    : in_(in),
      out_(out),
      begin_(begin),
      end_(end),
      launches_(launches),
      linear_(options.interpolation == Interpolation::linear),
      border_(options.border),
      dims_(in.layout.find('D') < 0 ? 2 : 3) {
  for (int d = 0; d < dims_; d++) {
    int axis = in.layout.find("WHD"[d]);
    if (in.shape[axis] > 0x3fffffff) value_error("expected extents below 2^30, got the shape ", in.shape);
    in_size_[d] = static_cast<int>(in.shape[axis]);
    out_size_[d] = out.shape[axis];
  }
  int c = in.layout.find('C'), w = in.layout.find('W');
  if (c > w) channels_ = in.shape[c];
  if (c >= 0 && c < w) planes_ = in.shape[c];
  if (in.elements() == 0) border_ = Border::fill;
  int64_t n = channels_ * planes_, given = std::ssize(options.fill);
  if (given != 1 && given != n) refuse("expected one or ", n, " numbers to fill with, got ", given);
  std::vector<float> fill(n);
  for (int64_t i = 0; i < n; i++) fill[i] = options.fill[given == 1 ? 0 : i];
  fill_.resize(n);
  rounding_run(in.dtype, DType::float32)(fill_.data(), fill.data(), n);
  if (launches_) fill_on_gpu_ = launches_->upload(std::span<const uint64_t>(fill_));
  set_axes();
}

void WarpSample::set_axes() {
  const int64_t size = size_of(in_.dtype);
  int64_t stride = channels_ * size;
  for (int d = 0; d < dims_; d++) {
    const int n = in_size_[d], inner = linear_ ? n - 1 : n;
    TileAxis& axis = axes_[d];
    axis = {.shift = linear_ ? 0.5f : 0, .inner = inner, .size = n, .stride = static_cast<unsigned>(stride)};
    const bool clamps = border_ == Border::clamp && inner > 0;
    // So far outside that nothing changes any more, unless the borders repeat the image without end.
    const bool repeats = border_ != Border::fill && border_ != Border::clamp;
    axis.low = clamps ? 0 : repeats ? -0x1p30f : -2;
    axis.high = clamps ? static_cast<float>(inner) : repeats ? 0x1p30f : static_cast<float>(n) + 1;
    axis.most = clamps ? inner - 1 : INT_MAX;
    axis.least = linear_ ? -1 : 0;
    axis.last = std::nextafter(static_cast<float>(inner), 0.0f);
    stride *= n;
  }
  // Pixels of three elements are read as four, and two neighbours as eight; so are pixels of as many bytes, alone.
  const int64_t pixel = channels_ * size;
  const bool reads_more = linear_ ? channels_ == 3 : pixel == 3 || pixel == 6 || pixel == 12;
  const int64_t reads = linear_ ? (in_size_[0] * channels_ + 8) * size : pixel / 3 * 4;
  plane_bytes_ = stride;
  bool has_inner = stride <= INT_MAX;
  for (int d = 0; d < dims_; d++) has_inner &= axes_[d].inner > 0;
  last_offset_ = !has_inner ? -1 : reads_more ? static_cast<int>(stride - reads) : INT_MAX;
}

int64_t WarpSample::rows(const SampleView& out) {
  int64_t rows = 1;
  for (int d = 0; d < out.layout.find('W'); d++) rows *= out.shape[d];
  return rows;
}

void WarpSample::run(const AnyAffine& map) const {
  std::visit([&](const auto& affine) { run_planes([&](int64_t) -> const auto& { return affine; }); }, map);
}

void WarpSample::each_tile(const std::function<void(Tile& tile, int64_t plane, int x, int y, int z)>& find) const {
  if (channels_ == 0) return;
  const int64_t height = out_size_[1], depth = out_size_[2];
  const auto locate = dims_ == 3 ? locate_3d : linear_ ? locate_2d : locate_nearest_2d;
  Tile tile;
  // What a part of a row reads comes to the cache while those before are looked up.
  constexpr int kAhead = 4;
  struct {
    int64_t row, x;
    Located located;
  } parts[kAhead];
  int64_t found = 0, made = 0;
  auto look_up_next = [&] {
    const auto& part = parts[made++ % kAhead];
    look_up(part.located, part.row, part.x);
  };
  // Some rows of a tile, then those of the next: images that are turned are read across their rows.
  for (int64_t first = begin_; first < end_; first += kTileRows)
    for (int64_t x = 0; x < out_size_[0]; x += kTileSize)
      for (int64_t row = first, end = std::min(end_, first + kTileRows); row < end; row += tile.rows) {
        const int64_t y = row % height, plane = row / (height * depth);
        tile.n = static_cast<int>(std::min<int64_t>(kTileSize, out_size_[0] - x));
        tile.rows = static_cast<int>(std::min({int64_t{Tile::kRows}, end - row, height - y}));
        find(tile, plane, static_cast<int>(x), static_cast<int>(y), static_cast<int>(row / height % depth));
        for (int i = 0; i < tile.rows; i++) {
          if (found - made == kAhead) look_up_next();
          auto& part = parts[found++ % kAhead];
          part.row = row + i, part.x = x;
          locate(part.located, tile.at[i], tile.n, axes_, last_offset_, border_ == Border::fill);
          prefetch(part.located, plane);
        }
      }
  while (made < found) look_up_next();
}

void WarpSample::prefetch(const Located& found, int64_t plane) const {
  const char* data = in_.as<char>() + plane * plane_bytes_;
  constexpr int kStep = 4;  // neighbours mostly lie in one line of the cache
  for (int i = 0; i < found.n; i += kStep)
    if (found.is_inside(i)) {
      asm volatile("");  // GCC 12 drops a loop that does nothing else
      __builtin_prefetch(data + found.offset[i]);
      if (linear_) __builtin_prefetch(data + found.offset[i] + axes_[1].stride);
    }
}

template <class T, int N>
Texture<T, N> WarpSample::texture(int64_t plane) const {
  Texture<T, N> texture{
      nullptr, reinterpret_cast<const T*>(fill_.data()) + plane % planes_ * channels_, {}, {}, border_};
  int64_t stride = channels_;
  for (int d = 0; d < N; d++) {
    texture.size[d] = in_size_[d];
    texture.stride[d] = stride;
    stride *= in_size_[d];
  }
  texture.data = in_.as<const T>() + plane * stride;
  return texture;
}

namespace {

template <size_t n>
constexpr std::integral_constant<size_t, n> kSize;

template <class T>
constexpr bool is_common =
    same_type<T, uint8_t> || same_type<T, int16_t> || same_type<T, uint16_t> || same_type<T, float>;

template <class T, int N>
void look_up_linear(const Texture<T, N>& in, int64_t channels, const Located& found, float* out) {
  auto mix_all = [&](auto count) {
    for (int i = 0; i < found.n; i++, out += count) {
      float part[N];
      for (int d = 0; d < N; d++) part[d] = found.part[d][i];
      const T* corner[1 << N];
      if (found.is_inside(i)) {
        find_inner_corners<N>(in, found.offset[i] / static_cast<long>(sizeof(T)), corner);
      } else {
        int first[N];
        for (int d = 0; d < N; d++) first[d] = found.index[d][i];
        find_corners<N>(in, first, corner);
      }
      for (int64_t c = 0; c < count; c++) out[c] = interpolate<N>(corner, part, c);
    }
  };
  channels == 1 ? mix_all(std::integral_constant<int64_t, 1>()) : mix_all(channels);
}

// Pixels of `bytes`, where `moved` of them can be read and written at once; they lie `step` apart in the output.
template <int N>
void look_up_nearest(const Texture<uint8_t, N>& in, int64_t pixel_bytes, const Located& found, uint8_t* out) {
  auto copy = [&](uint8_t* made, auto bytes, auto moved, auto step) {
    const uint8_t* data = in.data;
    auto to = [&](int i) { return made + static_cast<int64_t>(i) * static_cast<int64_t>(step); };
    auto move_run = [&](int begin, int end, const auto& from) {
      const bool is_last = end == found.n;
#pragma GCC unroll 4
      for (int i = begin; i < end - is_last; i++) std::memcpy(to(i), from(i), moved);
      if (is_last) std::memcpy(to(end - 1), from(end - 1), bytes);
    };
    found.runs([&](int begin, int end) { move_run(begin, end, [&](int i) { return data + found.offset[i]; }); },
               [&](int i) {
                 int index[N];
                 for (int d = 0; d < N; d++) index[d] = found.index[d][i];
                 std::memcpy(to(i), in.element(index), bytes);
               },
               [&](int begin, int end) { move_run(begin, end, [&](int) { return in.fill; }); });
  };
  uint32_t words[kTileSize];  // stores side by side are faster than those that overlap
  switch (pixel_bytes) {
    case 1:
      return copy(out, kSize<1>, kSize<1>, kSize<1>);
    case 3:
      copy(reinterpret_cast<uint8_t*>(words), kSize<3>, kSize<4>, kSize<4>);
      return take_triples(out, words, found.n);
    case 4:
      return copy(out, kSize<4>, kSize<4>, kSize<4>);
    case 6:
      return copy(out, kSize<6>, kSize<8>, kSize<6>);
    case 12:
      return copy(out, kSize<12>, kSize<16>, kSize<12>);
    default: {
      const auto bytes = static_cast<size_t>(pixel_bytes);
      return copy(out, bytes, bytes, bytes);
    }
  }
}

// The same texture, seen as bytes.
template <int N>
Texture<uint8_t, N> as_bytes(Texture<uint8_t, N> texture, const uint8_t* data, const uint8_t* fill, int size) {
  texture.data = data;
  texture.fill = fill;
  for (int d = 0; d < N; d++) texture.stride[d] *= size;
  return texture;
}

template <class Fn>
void with_dims(int dims, Fn&& fn) {
  dims == 2 ? fn(std::integral_constant<int, 2>()) : fn(std::integral_constant<int, 3>());
}

}  // namespace

void WarpSample::look_up(const Located& found, int64_t row, int64_t x) const {
  const int64_t plane = row / (out_size_[1] * out_size_[2]), first = (row * out_size_[0] + x) * channels_;
  const int64_t n = found.n * channels_;
  char* out = out_.as<char>() + first * size_of(out_.dtype);
  thread_local std::vector<float> line;

  if (linear_ && dims_ == 2 && in_.dtype == DType::uint8 && out_.dtype == DType::uint8 &&
      look_up_bytes(texture<uint8_t, 2>(plane), channels_, found, reinterpret_cast<uint8_t*>(out)))
    return;
  with_dims(dims_, [&](auto dims) {
    if (linear_) {
      bool in_place = out_.dtype == DType::float32;
      if (!in_place) line.resize(n);
      float* to = in_place ? reinterpret_cast<float*>(out) : line.data();
      with_dtype(in_.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const auto in = texture<T, dims>(plane);
        if constexpr (dims == 2 && is_common<T>)
          if (look_up_floats(in, channels_, found, to)) return;
        look_up_linear(in, channels_, found, to);
      });
      if (!in_place) rounding_run(out_.dtype, DType::float32)(out, to, n);
    } else {
      int size = size_of(in_.dtype);
      bool in_place = out_.dtype == in_.dtype;
      if (!in_place) line.resize(n * size);
      auto* to = in_place ? reinterpret_cast<uint8_t*>(out) : reinterpret_cast<uint8_t*>(line.data());
      auto elements = texture<uint8_t, dims>(plane);
      int64_t plane_bytes = (elements.data - in_.as<uint8_t>()) * size, fill = (plane % planes_) * channels_ * size;
      look_up_nearest(as_bytes<dims>(elements, in_.as<uint8_t>() + plane_bytes,
                                     reinterpret_cast<const uint8_t*>(fill_.data()) + fill, size),
                      channels_ * size, found, to);
      if (!in_place) rounding_run(out_.dtype, in_.dtype)(out, to, n);
    }
  });
}

namespace {

// The boxes of tiles of `width` by `height` pixels, for StagedWarp; false where they do not fit.
bool find_box(const Affine<2>& map, int width, int height, WarpBox& box) {
  constexpr double one = 1 << WarpBox::kBits;
  int span[2];  // whole pixels between the least and the greatest position in a tile
  for (int d = 0; d < 2; d++) {
    const double right = map.m[d][0], down = map.m[d][1], first = map.m[d][2];
    // With up to 10 pixels around the tile's, positions in a box stay below 2^8 pixels. NaN is refused too.
    if (!(std::fabs(right) * (width - 1) + std::fabs(down) * (height - 1) < 127 && std::fabs(first) < 0x1p24))
      return false;
    const int steps[] = {static_cast<int>(std::lround(right * one)), static_cast<int>(std::lround(down * one))};
    const int across = (width - 1) * steps[0], along = (height - 1) * steps[1];
    // Of the pixel's centre, and half of what weights leave out of a position.
    box.origin[d] = std::lround(((right + down) * 0.5 + first - 0.5) * one) + 128;
    box.step[d][0] = steps[0], box.step[d][1] = steps[1];
    box.low[d] = std::min(across, 0) + std::min(along, 0);
    span[d] = (std::abs(across) + std::abs(along)) >> WarpBox::kBits;
  }
  // From the pixel before the first position to that after the last one, and what comes before in the first chunk.
  box.chunks = static_cast<unsigned>(span[0] + 3 + 2 * (WarpBox::kChunk - 1)) / WarpBox::kChunk;
  box.rows = static_cast<unsigned>(span[1] + 3);
  box.chunks_inverse = inverse_of(box.chunks);
  // Pixels that a warp reads at once mostly lie in different banks of the memory if rows are so far apart.
  box.pitch = box.chunks * WarpBox::kChunk;
  while (box.pitch % 32 != 10 && box.pitch % 32 != 22) box.pitch += 2;
  return box.pitch * box.rows <= WarpBox::kMostWords;
}

}  // namespace

WarpImage WarpSample::image_of(int64_t plane) const {
  const int64_t out_pixels = out_size_[0] * out_size_[1] * out_size_[2];
  const int64_t in_pixels = int64_t(in_size_[0]) * in_size_[1] * in_size_[2];
  const int to = size_of(out_.dtype), from = size_of(in_.dtype);
  return {.out = out_.as<char>() + plane * out_pixels * channels_ * to,
          .in = in_.as<char>() + plane * in_pixels * channels_ * from,
          .fill = static_cast<const char*>(fill_on_gpu_) + plane % planes_ * channels_ * from,
          .to = static_cast<int>(out_.dtype),
          .from = static_cast<int>(in_.dtype),
          .element = from,
          .linear = linear_,
          .border = border_,
          .in_size = {in_size_[0], in_size_[1], in_size_[2]},
          .out_size = {out_size_[0], out_size_[1], out_size_[2]},
          .channels = channels_};
}

int64_t WarpSample::set_tiles(WarpTiles& tiles, const WarpImage& image) const {
  if (!has_types(DType::uint8) && !has_types(DType::float32)) return 0;
  if (channels_ != 1 && channels_ != 3 && channels_ != 4) return 0;
  const int element = size_of(in_.dtype), pixel = static_cast<int>(channels_) * element;
  const int height = WarpTiles::height_of(element);
  const int64_t along = (out_size_[0] + WarpTiles::kWidth - 1) / WarpTiles::kWidth;
  const int64_t count = along * ((out_size_[1] + height - 1) / height);
  const int64_t most_pixels = INT32_MAX / pixel;
  if (std::max({int64_t(in_size_[0]), int64_t(in_size_[1]), out_size_[0], out_size_[1]}) > WarpTiles::kMostSize ||
      int64_t(in_size_[0]) * in_size_[1] > most_pixels || out_size_[0] * out_size_[1] > most_pixels ||
      count * along > INT32_MAX)
    return 0;
  auto inner = [&](int d) { return static_cast<unsigned>(std::max(in_size_[d] - linear_, 0)); };
  const auto out_row = static_cast<unsigned>(out_size_[0] * pixel);
  tiles = {.out = static_cast<char*>(image.out),
           .in = static_cast<const char*>(image.in),
           .fill = image.fill,
           .linear = linear_,
           .border = border_,
           .in_size = {in_size_[0], in_size_[1]},
           .out_size = {static_cast<int>(out_size_[0]), static_cast<int>(out_size_[1])},
           .inner = {inner(0), inner(1)},
           .in_row = static_cast<unsigned>(in_size_[0] * pixel),
           .out_row = out_row,
           .tile_row = WarpTiles::tile_row_of(out_row, static_cast<unsigned>(pixel)),
           .tiles = static_cast<unsigned>(along),
           .tiles_inverse = inverse_of(static_cast<unsigned>(along))};
  return count;
}

bool WarpSample::launch_staged(const WarpTiles& tiles, int64_t count, const Affine<2>& map) const {
  WarpBox box;
  if (!linear_ || !has_types(DType::uint8) || !find_box(map, WarpTiles::kWidth, WarpTiles::height_of(1), box))
    return false;
  if (channels_ == 1) launches_->add<StagedWarp<1>>(0, count, {tiles, box});
  if (channels_ == 3) launches_->add<StagedWarp<3>>(0, count, {tiles, box});
  if (channels_ == 4) launches_->add<StagedWarp<4>>(0, count, {tiles, box});
  return true;
}

template struct ItemPixels<2, unsigned char, unsigned char>;
template struct ItemPixels<2, float, float>;
template struct ItemPixels<2, AnyElement, AnyElement>;
template struct TilePixels<unsigned char, 1>;
template struct TilePixels<unsigned char, 3>;
template struct TilePixels<unsigned char, 4>;
template struct TilePixels<float, 1>;
template struct TilePixels<float, 3>;
template struct TilePixels<float, 4>;

}  // namespace avida
