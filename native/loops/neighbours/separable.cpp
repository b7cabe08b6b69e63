#include "loops/neighbours/separable.h"

#include <algorithm>

#include "loops/neighbours/separable_tile.h"
#include "loops/neighbours/stencil.h"
#include "operator/launches.h"

namespace avida {
namespace {

template <class T>
using Weights = std::vector<std::array<HalfWeights<T>, 3>>;  // of each term

template <class T>
Weights<T> weights_of(std::span<const Windows> terms) {
  Weights<T> weights;
  for (const Windows& windows : terms)
    weights.push_back({HalfWeights<T>(windows[0]), HalfWeights<T>(windows[1]), HalfWeights<T>(windows[2])});
  return weights;
}

// Rows are made one by one: a row is summed of rows of neighbouring slices, then of neighbouring rows, then along
// itself. The rows that the next one needs too are kept, so that everything stays in the cache.
template <class T>
class SeparableRows {
 public:
  SeparableRows(const Space& space, const SampleView& in, const Weights<T>& weights)
      : space_(space), in_(in), weights_(weights), n_(space.row_elements()) {
    int64_t height_radius = 0, width_radius = 0, depth_radius = 0;
    for (auto& [depth, height, width] : weights) {
      depth_radius = std::max(depth_radius, depth.radius());
      height_radius = std::max(height_radius, height.radius());
      width_radius = std::max(width_radius, width.radius());
    }
    radius_ = height_radius;
    kept_rows_ = std::min(2 * radius_ + 1, space.size[1]);
    kept_.resize(depth_radius ? weights.size() : 1, std::vector<Row>(kept_rows_));
    line_.resize(n_ + 2 * width_radius * space.inner);
  }

  // Row number `row` of all. Rows are asked for in ascending order.
  void make(int64_t row, T* out) {
    int64_t slice = row / space_.size[1], y = row % space_.size[1], height = space_.size[1];
    if (slice != slice_) slice_ = slice, loaded_ = 0;
    int64_t first = radius_ < height ? std::max<int64_t>(0, y - radius_) : 0;
    int64_t end = radius_ < height ? std::min(height, y + radius_ + 1) : height;
    loaded_ = std::max(loaded_, first);
    for (; loaded_ < end; loaded_++)
      for (size_t term = 0; term < kept_.size(); term++)
        slice_row(loaded_, weights_[term][0], kept_[term][loaded_ % kept_rows_]);
    for (size_t term = 0; term < weights_.size(); term++) {
      const auto& [along_depth, along_height, along_width] = weights_[term];
      T* line = line_.data() + along_width.radius() * space_.inner;
      const T* centre = along_rows(kept_[kept_.size() > 1 ? term : 0], y, along_height, line);
      along_row(centre, along_width, line, out, term > 0);
    }
  }

 private:
  // A row of the input, converted, where it lies or in `place`.
  struct Row {
    const T* at = nullptr;
    std::vector<T> place;
  };

  void input_row(int64_t slice, int64_t y, Row& row) {
    const int64_t bytes = n_ * size_of(in_.dtype);
    const char* from = in_.as<char>() + (slice * space_.size[1] + y) * bytes;
    prefetch_later(from, bytes);
    if constexpr (!std::is_same_v<T, Fixed>) {
      if (in_.dtype == dtype_of<T>) {
        row.at = reinterpret_cast<const T*>(from);
        return;
      }
    }
    row.place.resize(n_);
    row.at = row.place.data();
    if constexpr (std::is_same_v<T, Fixed>)
      fixed_from_bytes(row.place.data(), reinterpret_cast<const uint8_t*>(from), n_);
    else
      load_(row.place.data(), from, n_);
  }

  // A row after the sum along depth.
  void slice_row(int64_t y, const HalfWeights<T>& weights, Row& row) {
    int64_t radius = weights.radius(), depth = space_.size[0];
    if (radius == 0) return input_row(slice_, y, row);
    int64_t part = slice_ / depth * depth, z = slice_ % depth;
    slices_.resize(std::max<size_t>(slices_.size(), 2 * radius + 1));
    neighbours_.resize(2 * radius + 1);
    for (int64_t k = -radius; k <= radius; k++) {
      Row& neighbour = slices_[radius + k];
      input_row(part + border_index<int64_t>(Border::reflect_101, z + k, depth), y, neighbour);
      neighbours_[radius + k] = neighbour.at;
    }
    row.place.resize(n_);
    symmetric_sum(row.place.data(), neighbours_.data(), weights, n_, false);
    row.at = row.place.data();
  }

  // The sum of the rows around row y, in `line`, unless it is that row itself.
  const T* along_rows(const std::vector<Row>& rows, int64_t y, const HalfWeights<T>& weights, T* line) {
    int64_t radius = weights.radius();
    if (radius == 0) return rows[y % kept_rows_].at;
    neighbours_.resize(2 * radius + 1);
    for (int64_t k = -radius; k <= radius; k++)
      neighbours_[radius + k] = rows[border_index<int64_t>(Border::reflect_101, y + k, space_.size[1]) % kept_rows_].at;
    symmetric_sum(line, neighbours_.data(), weights, n_, false);
    return line;
  }

  void along_row(const T* row, const HalfWeights<T>& weights, T* line, T* out, bool add) {
    int64_t radius = weights.radius(), inner = space_.inner, width = space_.size[2];
    if (radius == 0) {
      if (add)
        std::transform(out, out + n_, row, out, [](T a, T b) { return static_cast<T>(a + b); });
      else
        std::copy(row, row + n_, out);
      return;
    }
    if (row != line) std::copy(row, row + n_, line);
    auto reflect = [&](int64_t x) {
      const T* from = line + border_index<int64_t>(Border::reflect_101, x, width) * inner;
      std::copy(from, from + inner, line + x * inner);
    };
    for (int64_t k = 1; k <= radius; k++) reflect(-k), reflect(width - 1 + k);
    neighbours_.resize(2 * radius + 1);
    for (int64_t k = -radius; k <= radius; k++) neighbours_[radius + k] = line + k * inner;
    symmetric_sum(out, neighbours_.data(), weights, n_, add);
  }

  const Space& space_;
  const SampleView& in_;
  const Weights<T>& weights_;
  const int64_t n_;
  const ConvertRun load_ = rounding_run(dtype_of<T>, in_.dtype);
  int64_t radius_, kept_rows_;
  int64_t slice_ = -1, loaded_ = 0;     // rows of this slice before loaded_ were made; the last ones are kept
  std::vector<std::vector<Row>> kept_;  // of each term; or of all, if they are the same
  std::vector<Row> slices_;
  std::vector<const T*> neighbours_;
  std::vector<T> line_;
};

// On a GPU: one axis after the other.
template <class T, class Out, class In>
bool launch_axes(const SeparableWork& work, const Weights<T>& weights) {
  Vec<int> axes;
  for (int d = 0; d < 3; d++)
    if (weights[0][d].radius() > 0) axes.push_back(d);
  if (weights.size() > 1 || axes.empty() || work.scale != 1) return false;
  const int64_t elements = work.out.elements();
  Launches& launches = *work.launches;
  const T* made = nullptr;  // by the axes before
  for (int i = 0; i < axes.size(); i++) {
    const int d = axes[i];
    HalfWindow<T> window = weights[0][d].view();
    window.half = launches.upload(std::span(window.half, window.radius + 1));
    long step = work.space.inner;
    for (int k = d + 1; k < 3; k++) step *= work.space.size[k];
    const bool last = i + 1 == axes.size();
    T* next = last ? nullptr : static_cast<T*>(launches.scratch(elements * int64_t(sizeof(T))));
    const long extent = work.space.size[d];
    if (!made && last)
      launches.add<AxisSum<Out, In, T>>(0, elements, {work.out.as<Out>(), work.in.as<In>(), step, extent, window});
    else if (!made)
      launches.add<AxisSum<T, In, T>>(0, elements, {next, work.in.as<In>(), step, extent, window});
    else if (!last)
      launches.add<AxisSum<T, T, T>>(0, elements, {next, made, step, extent, window});
    else
      launches.add<AxisSum<Out, T, T>>(0, elements, {work.out.as<Out>(), made, step, extent, window});
    launches.then();
    made = next;
  }
  return true;
}

// The window as sums in tiles take it: what bytes and sums are biased by is taken off the start.
template <class T, class Window>
void set_window(Window& to, const HalfWeights<T>& from, bool along_width) {
  const bool nothing = from.radius() == 0;
  double scale = 1, start = from.start, sum = 0;
  if constexpr (std::is_same_v<T, Fixed>) scale = along_width ? 0x1p-16 : 0x1p-9;
  for (int64_t k = 0; k <= from.radius(); k++) {
    double weight = nothing && std::is_same_v<T, Fixed> ? 65536 : static_cast<double>(from.half[k]);
    to.half[k] = static_cast<float>(weight * scale);
    sum += to.half[k] * (k ? 2 : 1);
  }
  if (nothing) start = 0;
  to.radius = static_cast<int>(from.radius());
  to.start = static_cast<float>(start);
  if constexpr (!std::is_same_v<T, float>) {
    constexpr double kRounding = std::is_same_v<T, Fixed> ? 1 << (kFixedBits - 1) : 0;
    // Packed sums are not negative and below 32768: Whole ones along one axis stay within kPackedMiddle, since the
    // final ones fit 16 bits, the weights of derivatives cancel, and smoothing leaves room for the derivative that
    // follows.
    constexpr double kMiddle = std::is_same_v<T, Whole> ? kPackedMiddle : 0;
    if (along_width)
      to.start = static_cast<float>(start + kRounding - sum * (kPackedBias + kMiddle));
    else
      to.start = static_cast<float>(kPackedZero + start + kMiddle - sum * kPackedBias);
  }
}

// On a GPU: along height and width in tiles, where these and their margins fit into the memory of a block.
template <class T, class Out, class In, int terms>
bool launch_tiles(const SeparableWork& work, const Weights<T>& weights) {
  using Body = SeparableTile<Out, In, T, terms>;
  const Space& space = work.space;
  int64_t down = 0, along = 0;
  for (auto& [depth, height, width] : weights) {
    if (depth.radius() > 0) return false;
    down = std::max(down, height.radius());
    along = std::max(along, width.radius());
  }
  const int64_t n = space.row_elements(), inner = space.inner, height = space.size[1];
  if (std::max(down, along) >= Body::kMostWeights) return false;
  if (down + along == 0 || height < Body::kDown || space.elements() >= int64_t(1) << 31) return false;

  auto up_to = [](int64_t x, int64_t step) { return (x + step - 1) / step * step; };
  typename Body::Params params{};
  params.margin = static_cast<int>(up_to(along * inner, 4));
  auto place = [&](int64_t elements) {  // how many words such tiles need
    const int64_t all = elements + 2 * params.margin;
    const int64_t in_pitch = Body::from_bytes ? up_to(all / 4, 2) + 1 : all;  // odd, as words of four
    const int64_t out_pitch = (sizeof(Out) == 1 ? elements / 2 : elements) | 1;
    const int64_t sums_pitch = up_to(all, 32) + 1;
    const int64_t in_words = (Body::kRows + 2 * down) * in_pitch,
                  out_words = 32 * (sizeof(Out) == 1 ? 1 : Body::kDeep) * out_pitch;
    params.tile_elements = static_cast<int>(elements);
    params.in_pitch = static_cast<int>(in_pitch);
    params.out_pitch = static_cast<int>(out_pitch);
    params.sums_pitch = static_cast<int>(sums_pitch);
    params.sums_at = static_cast<int>(std::max(in_words, out_words));
    params.sums_of_term = static_cast<int>(32 * sums_pitch);
    return params.sums_at + terms * params.sums_of_term;
  };
  const int64_t step = Body::kAlong * inner;
  int64_t tiles = (n + step - 1) / step;
  int64_t most = 0;
  while (most < tiles && place((most + 1) * step) <= Body::kWords) most++;
  if (most == 0) return false;
  const int64_t count = (tiles + most - 1) / most;
  place((tiles + count - 1) / count * step);
  params.out = work.out.as<Out>();
  const bool whole_rows = n % 4 == 0;
  params.source = {work.in.as<In>(),
                   static_cast<int>(height),
                   static_cast<int>(n),
                   static_cast<int>(inner),
                   whole_rows && reinterpret_cast<uintptr_t>(work.in.data) % 4 == 0,
                   Border::reflect_101,
                   In()};
  params.tiles_along = static_cast<int>(count);
  params.tiles_down = static_cast<int>((height + Body::kRows - 1) / Body::kRows);
  params.most_radius = static_cast<int>(down);
  params.out_words = whole_rows && reinterpret_cast<uintptr_t>(work.out.data) % 4 == 0;
  params.scale = work.scale;
  for (int term = 0; term < terms; term++) {
    set_window(params.windows[term][0], weights[term][1], false);
    set_window(params.windows[term][1], weights[term][2], true);
  }
  // All sums along width are added to the first one's start.
  float start = std::is_same_v<T, float> ? 0 : kPackedZero;
  for (auto& window : params.windows) start += window[1].start;
  params.windows[0][1].start = start;
  const int64_t images = space.parts * space.size[0];
  work.launches->add<Body>(0, images * params.tiles_down * params.tiles_along, params);
  return true;
}

template <class T, class Out, class In>
bool launch_some_tiles(const SeparableWork& work, const Weights<T>& weights) {
  constexpr bool bytes = std::is_same_v<In, uint8_t>, floats = std::is_same_v<In, float>;
  if constexpr (std::is_same_v<T, Fixed> ||
                (std::is_same_v<T, float> && std::is_same_v<Out, float> && (bytes || floats)))
    if (weights.size() == 1) return launch_tiles<T, Out, In, 1>(work, weights);
  if constexpr (std::is_same_v<T, Whole> ||
                (std::is_same_v<T, float> && std::is_same_v<Out, float> && (bytes || floats)))
    if (weights.size() == 2) return launch_tiles<T, Out, In, 2>(work, weights);
  return false;
}

template <class T, class Out, class In>
void launch(const SeparableWork& work, const Weights<T>& weights) {
  if (launch_some_tiles<T, Out, In>(work, weights) || launch_axes<T, Out, In>(work, weights)) return;
  using Body = SeparableSum<Out, In, T>;
  typename Body::Params params = {
      work.out.as<Out>(), work.in.as<In>(), work.space, static_cast<int>(weights.size()), {}, work.scale};
  for (size_t term = 0; term < weights.size(); term++)
    for (int d = 0; d < 3; d++) {
      HalfWindow<T>& window = params.windows[term][d] = weights[term][d].view();
      window.half = readable(work.launches, window.half, window.radius + 1);
    }
  work.launches->add<Body>(0, work.space.elements(), params);
}

template <class T>
void launch(const SeparableWork& work, const Weights<T>& weights) {
  if constexpr (std::is_same_v<T, Fixed>) {
    launch<T, uint8_t, uint8_t>(work, weights);
  } else if constexpr (std::is_same_v<T, Whole>) {
    if (work.out.dtype == DType::float32)
      launch<T, float, uint8_t>(work, weights);
    else
      launch<T, uint8_t, uint8_t>(work, weights);
  } else {
    with_dtype(work.in.dtype, [&](auto type) {
      using In = typename decltype(type)::type;
      if constexpr (std::is_same_v<In, bool>)
        return;  // refused by the operators
      else if (work.out.dtype == work.in.dtype)
        launch<T, In, In>(work, weights);
      else
        launch<T, float, In>(work, weights);
    });
  }
}

}  // namespace

template <class T>
void sum_separable(const SeparableWork& work) {
  const Weights<T> weights = weights_of<T>(work.terms);
  if (work.launches) return launch(work, weights);

  const SampleView& out = work.out;
  const int64_t n = work.space.row_elements(), step = n * size_of(out.dtype);
  SeparableRows<T> rows(work.space, work.in, weights);
  std::vector<T> made(n);
  std::vector<float> scaled(work.scale == 1 ? 0 : n);
  ConvertRun from_float = rounding_run(out.dtype, DType::float32), from_made = rounding_run(out.dtype, dtype_of<T>);
  for (int64_t y = work.begin; y < work.end; y++) {
    char* to = out.as<char>() + y * step;
    prefetch_later(to, step);
    if (!std::is_same_v<T, Fixed> && out.dtype == dtype_of<T>) {
      rows.make(y, reinterpret_cast<T*>(to));
      continue;
    }
    rows.make(y, made.data());
    if constexpr (std::is_same_v<T, Fixed>) {
      bytes_from_fixed(reinterpret_cast<uint8_t*>(to), made.data(), n);
    } else if (work.scale == 1) {
      from_made(to, made.data(), n);
    } else {
      std::transform(made.begin(), made.end(), scaled.begin(), [&](T x) { return static_cast<float>(x) * work.scale; });
      from_float(to, scaled.data(), n);
    }
  }
}

template void sum_separable<float>(const SeparableWork& work);
template void sum_separable<Fixed>(const SeparableWork& work);
template void sum_separable<Whole>(const SeparableWork& work);

}  // namespace avida
