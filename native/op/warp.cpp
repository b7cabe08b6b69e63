#include "op/warp.h"

#include <cmath>
#include <cstring>

#include "op/convert_run.h"
#include "op/warp_tile.h"

namespace avida {

bool is_linear(int interp_type) {
  if (interp_type != 0 && interp_type != 1)
    fail(ErrorKind::runtime, "expected nearest (0) or linear (1) as interp_type, got ", interp_type);
  return interp_type == 1;
}

WarpOptions warp_options(const WarpArgs& args) {
  return {is_linear(args.interp_type), args.fill_value ? Border::fill : Border::clamp, {args.fill_value.value_or(0)}};
}

void infer_warp(const WarpArgs& args, Meta& out) {
  is_linear(args.interp_type);
  if (args.dtype != DType::none && args.output_dtype != DType::none)
    type_error("\"output_dtype\" is the old name of \"dtype\"; expected one of them, got both");
  if (args.dtype != DType::none) out.dtype = args.dtype;
  if (args.output_dtype != DType::none) out.dtype = args.output_dtype;
}

void set_size(Shape& shape, const Layout& layout, const Vec<float>& size) {
  Vec<int> axes;
  for (char letter : {'D', 'H', 'W'})
    if (layout.find(letter) >= 0) axes.push_back(layout.find(letter));
  if (size.size() != axes.size())
    fail(ErrorKind::runtime, "expected ", axes.size(), " numbers in \"size\", got ", size.size());
  for (int d = 0; d < axes.size(); d++) {
    if (!(size[d] >= 0 && size[d] < 0x1p31f))
      fail(ErrorKind::runtime, "expected an output size of 0 or more, got ", size[d]);
    shape[axes[d]] = static_cast<int64_t>(size[d]);
  }
}

WarpSample::WarpSample(const SampleView& in, const SampleView& out, const WarpOptions& options)
    : in_(in),
      out_(out),
      linear_(options.linear),
      summed_(!linear_ || out.dtype != DType::uint8),
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
  if (given != 1 && given != n) fail(ErrorKind::runtime, "expected one or ", n, " numbers to fill with, got ", given);
  std::vector<float> fill(n);
  for (int64_t i = 0; i < n; i++) fill[i] = options.fill[given == 1 ? 0 : i];
  fill_.resize(n);
  rounding_run(in.dtype, DType::float32)(fill_.data(), fill.data(), n);
}

int64_t WarpSample::rows(const SampleView& out) {
  int64_t rows = 1;
  for (int d = 0; d < out.layout.find('W'); d++) rows *= out.shape[d];
  return rows;
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

Located locate(const Tile& tile, int dims, const int* size, bool linear, Border border, int64_t channels) {
  Located found;
  found.n = tile.n;
  std::memset(found.inside, 1, sizeof(found.inside));
  // So far outside that nothing changes any more, unless the borders repeat the image without end.
  bool repeats = border != Border::fill && border != Border::clamp;
  for (int d = 0; d < dims; d++) {
    float low = repeats ? -0x1p30f : -2, high = repeats ? 0x1p30f : static_cast<float>(size[d]) + 1;
    // Pixels of three bytes are read as four.
    int last = size[d] - (linear ? (d == 0 && channels == 3 ? 2 : 1) : 0);
    locate_axis(found, d, tile.at[d], linear ? 0.5f : 0, low, high, last);
  }
  return found;
}

template <class T, int N>
void look_up_linear(const Texture<T, N>& in, int64_t channels, const Located& found, float* out) {
  auto mix_all = [&](auto count) {
    for (int i = 0; i < found.n; i++, out += count) {
      int first[N];
      float part[N];
      for (int d = 0; d < N; d++) first[d] = found.index[d][i], part[d] = found.part[d][i];
      const T* corner[1 << N];
      if (found.inside[i])
        find_inner_corners<N>(in, first, corner);
      else
        find_corners<N>(in, first, corner);
      for (int64_t c = 0; c < count; c++) out[c] = interpolate<N>(corner, part, c);
    }
  };
  constexpr bool common = std::is_same_v<T, float> || std::is_same_v<T, int16_t> || std::is_same_v<T, uint8_t>;
  if (common && channels == 3)
    mix_all(std::integral_constant<int64_t, 3>());
  else if (common && channels == 1)
    mix_all(std::integral_constant<int64_t, 1>());
  else
    mix_all(channels);
}

template <int N>
void look_up_nearest(const Texture<uint8_t, N>& in, int64_t pixel_bytes, const Located& found, uint8_t* out) {
  auto copy = [&](auto bytes) {
    for (int i = 0; i < found.n; i++, out += bytes) {
      int index[N];
      for (int d = 0; d < N; d++) index[d] = found.index[d][i];
      const uint8_t* pixel = in.data;
      if (found.inside[i])
        for (int d = 0; d < N; d++) pixel += index[d] * in.stride[d];
      else
        pixel = in.element(index);
      std::memcpy(out, pixel, bytes);
    }
  };
  switch (pixel_bytes) {
    case 1:
      return copy(std::integral_constant<size_t, 1>());
    case 3:
      return copy(std::integral_constant<size_t, 3>());
    case 4:
      return copy(std::integral_constant<size_t, 4>());
    case 12:
      return copy(std::integral_constant<size_t, 12>());
    default:
      return copy(static_cast<size_t>(pixel_bytes));
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

void WarpSample::look_up(const Tile& tile, int64_t row, int64_t x) const {
  const Located found = locate(tile, dims_, in_size_, linear_, border_, channels_);
  const int64_t plane = row / (out_size_[1] * out_size_[2]), first = (row * out_size_[0] + x) * channels_;
  const int64_t n = tile.n * channels_;
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
        look_up_linear(texture<typename decltype(type)::type, dims>(plane), channels_, found, to);
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

}  // namespace avida
