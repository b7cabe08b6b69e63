#include "ops/filter/filter.h"

#include <cmath>

#include "loops/neighbours/byte_sums.h"
#include "loops/neighbours/each_window.h"
#include "loops/neighbours/row_sums.h"
#include "loops/neighbours/stencil.h"
#include "loops/neighbours/window_sum.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

enum class FilterMode { same, valid };
AVIDA_CHOICES_WITH(FilterMode, kAnyCase, "same", "valid")

struct FilterArgs {
  std::vector<int> anchor = {-1};
  Border border = Border::reflect_101;
  DType dtype = DType::none;
  FilterMode mode = FilterMode::same;
};

// The spaces, reach and border of a filter on one sample.
struct FilterWindow {
  explicit FilterWindow(const Sample<FilterArgs>& sample)
      : space(space_of(sample.in[0].shape, sample.in[0].layout)),
        out(space),
        border(sample.args.border),
        valid(sample.args.mode == FilterMode::valid) {
    const SampleView& filter = sample.in[1];
    int extra = filter.ndim() - space.axes;  // one more: a filter for each frame
    filters = extra > 0 ? filter.shape[0] : 1;
    if (extra > 0 && filters != space.frames)
      refuse("expected one filter or ", space.frames, ", one for each frame, got ", filters);
    for (int i = 0; i < space.axes; i++) {
      int64_t size = filter.shape[extra + i], anchor = for_axis(sample.args.anchor, i, space.axes, "anchor");
      if (size == 0) refuse("expected a filter with elements, got the shape ", filter.shape);
      if (anchor == -1) anchor = size / 2;
      if (anchor < 0 || anchor >= size) refuse("expected an anchor from 0 to ", size - 1, ", or -1, got ", anchor);
      int d = space.first() + i;
      if (valid) {
        anchor = 0;
        out.size[d] = space.size[d] - size + 1;
        if (out.size[d] < 1)
          refuse("expected a sample no smaller than the filter of shape ", filter.shape, ", got the shape ",
                 sample.in[0].shape);
      }
      reach.before[d] = anchor;
      reach.after[d] = size - 1 - anchor;
    }
  }

  int64_t parts_of_frame() const { return space.parts / space.frames; }
  int64_t taps() const { return reach.size(0) * reach.size(1) * reach.size(2); }
  int64_t weights_of_frame() const { return filters > 1 ? taps() : 0; }  // 0: all frames have the same

  Space space, out;
  Border border;
  bool valid;
  int64_t filters;
  Reach reach;
};

// The numbers of an optional input: one for all frames, or one for each.
std::vector<float> fill_values(const SampleView& fill, int64_t frames) {
  if (!fill.data) return {0};
  if (fill.elements() != 1 && fill.elements() != frames)
    refuse("expected one fill_value or ", frames, ", one for each frame, got the shape ", fill.shape);
  std::vector<float> values(fill.elements());
  rounding_run(DType::float32, fill.dtype)(values.data(), fill.data, fill.elements());
  return values;
}

// Weights of bytes in 16 bits, of which `bits` are fraction.
struct ByteWeights {
  std::vector<int16_t> weights;
  int bits;
};

// None where sums would not fit 32 bits, or the rounding of weights would be seen.
std::optional<ByteWeights> byte_weights(std::span<const float> weights, std::span<const float> fill, int64_t taps) {
  for (float value : fill)
    if (!(value >= 0 && value <= 255) || value != std::floor(value)) return {};
  double largest = 0, sum = 0, lost = 0;
  for (float weight : weights) {
    if (!std::isfinite(weight)) return {};
    largest = std::max<double>(largest, std::abs(weight));
  }
  int bits = 20;
  while (bits > 0 && std::ldexp(largest, bits) > 32767) bits--;
  ByteWeights made{{}, bits};
  for (size_t i = 0; i < weights.size(); i++) {
    if (i % taps == 0) sum = lost = 0;
    double scaled = std::ldexp(static_cast<double>(weights[i]), bits), whole = std::round(scaled);
    sum += 255 * std::abs(whole);
    lost += std::ldexp(255 * std::abs(scaled - whole), -bits);
    if (sum > (1 << 30) || lost > 0.3) return {};
    made.weights.push_back(static_cast<int16_t>(whole));
  }
  return made;
}

// A filter with weights as T, and fill values as Sum.
template <class T, class Sum>
struct Correlation {
  const Sample<FilterArgs>& sample;
  const FilterWindow& plan;
  std::span<const T> weights;
  std::span<const Sum> fill;
  int bits = 0;

  template <class Out, class In, class HostLoop>
  void run(HostLoop&& host_loop) const {
    using Item = WindowSum<Out, In, Sum, T>;
    using Tile = TileSum<Out, In, Sum, T>;
    const NeighbourWindow window = plan.reach.window(plan.border);
    const T* readable_weights = readable(sample, weights);
    const int64_t per_frame = plan.weights_of_frame();
    const typename Item::Params item = {sample.out[0].as<Out>(),
                                        sample.in[0].as<In>(),
                                        readable_weights,
                                        readable(sample, fill),
                                        plan.space,
                                        plan.out,
                                        window,
                                        plan.parts_of_frame(),
                                        per_frame,
                                        fill.size() > 1,
                                        bits};
    // Tiles need the same element beyond the borders of all frames.
    std::optional<TileWork<Tile>> tile;
    if (const In beyond = convert<In>(fill[0]);
        plan.border != Border::fill ||
        (fill.size() == 1 && static_cast<Sum>(typename ComputeType<In>::type(beyond)) == fill[0]))
      tile = {beyond, {readable_weights, plan.parts_of_frame() * plan.space.size[0], per_frame, bits}};
    each_window<Item, Tile>(sample, {plan.space, plan.out, window}, item, tile, host_loop);
  }

  int64_t rows() const { return plan.reach.size(0) * plan.reach.size(1); }  // of the window

  // Calls load(k, row, pitch) for each padded row, as Element, that the next output rows need, in place of what was row
  // k of the window before; then make(row, frame, order) for a row of output: its window's rows are those of `order`.
  template <class Element, class Load, class Make>
  void each_row(Load&& load, Make&& make) const {
    const int64_t height = plan.reach.size(1), out_bytes = plan.out.row_elements() * size_of(sample.out[0].dtype);
    Reach reach = plan.reach;
    if (plan.valid) reach.after[2] = 0;  // no window reaches beyond a row
    std::vector<int64_t> order(rows());
    for (int64_t row = sample.begin; row < sample.end;) {
      int64_t slice = row / plan.out.size[1], part = slice / plan.out.size[0], z = slice % plan.out.size[0];
      int64_t frame = part / plan.parts_of_frame();
      Element beyond = static_cast<Element>(fill[fill.size() > 1 ? frame : 0]);
      PaddedTile<Element> tile(plan.space, sample.in[0], reach, plan.border, beyond);
      tile.reserve(rows());
      int64_t first = row % plan.out.size[1] - reach.before[1], loaded = 0;
      int64_t slice_end = std::min(sample.end, (slice + 1) * plan.out.size[1]);
      for (int64_t i = 0; row < slice_end; i++, row++) {
        for (; loaded < i + height; loaded++)
          for (int64_t k = loaded % height, dz = 0; k < rows(); k += height, dz++)
            load(k, tile.load_row(k, part, z + dz - reach.before[0], first + loaded), tile.pitch());
        for (int64_t k = 0; k < rows(); k++) order[k] = k / height * height + (i + k % height) % height;
        prefetch_later(sample.out[0].as<char>() + row * out_bytes, out_bytes);
        make(row, frame, order);
      }
    }
  }

  const T* weights_of(int64_t frame) const { return weights.data() + frame * plan.weights_of_frame(); }
};

// Calls fn(k, x, weights) for pairs of taps of row k, at x and x + 1, of which the first one weighs something.
template <class Fn>
void each_pair(const int16_t* weight, int64_t width, std::span<const int64_t> order, Fn&& fn) {
  for (int64_t k : order) {
    for (int64_t x = 0; x < width; x += weight[x] ? 2 : 1)
      if (weight[x]) fn(k, x, pair_weight(weight[x], x + 1 < width ? weight[x + 1] : 0));
    weight += width;
  }
}

void correlate_bytes(const Correlation<int16_t, int>& work) {
  const FilterWindow& plan = work.plan;
  const int64_t n = plan.out.row_elements(), inner = plan.space.inner, width = plan.reach.size(2);
  struct alignas(64) Line {  // of the cache: what begins within one touches two with each access
    BytePair pairs[16];
  };
  std::vector<std::vector<Line>> rows(work.rows());
  auto pairs_of = [&](int64_t k) { return reinterpret_cast<BytePair*>(rows[k].data()); };
  std::vector<const uint8_t*> bytes(work.rows());
  std::vector<bool> paired(work.rows());
  int64_t bytes_of_row = 0;
  std::vector<TapPair> taps;
  std::vector<const BytePair*> pairs;
  std::vector<int32_t> weights;
  auto load = [&](int64_t k, const uint8_t* row, int64_t pitch) {
    bytes[k] = row;
    paired[k] = false;
    bytes_of_row = pitch;
  };
  work.each_row<uint8_t>(load, [&](int64_t row, int64_t frame, std::span<const int64_t> order) {
    auto* out = work.sample.out[0].as<uint8_t>() + row * n;
    taps.clear();
    each_pair(work.weights_of(frame), width, order,
              [&](int64_t k, int64_t x, int32_t both) { taps.push_back({bytes[k] + x * inner, both}); });
    if (sums_of_bytes(out, taps, inner, work.bits, n)) return;
    pairs.clear();
    weights.clear();
    each_pair(work.weights_of(frame), width, order, [&](int64_t k, int64_t x, int32_t both) {
      if (!paired[k]) {
        rows[k].resize((bytes_of_row + kReadBeyond) / 16 + 1);
        pair_up(pairs_of(k), bytes[k], inner, bytes_of_row);
        paired[k] = true;
      }
      pairs.push_back(pairs_of(k) + x * inner);
      weights.push_back(both);
    });
    byte_sums(out, pairs, weights, work.bits, n);
  });
}

void correlate_floats(const Correlation<float, float>& work) {
  const FilterWindow& plan = work.plan;
  const SampleView& out = work.sample.out[0];
  const int64_t n = plan.out.row_elements(), width = plan.reach.size(2);
  const bool in_place = out.dtype == DType::float32;
  std::vector<float> sums(in_place ? 0 : n);
  std::vector<const float*> rows(work.rows()), elements(plan.taps());
  ConvertRun from_float = rounding_run(out.dtype, DType::float32);
  auto load = [&](int64_t k, const float* row, int64_t) { rows[k] = row; };
  work.each_row<float>(load, [&](int64_t row, int64_t frame, std::span<const int64_t> order) {
    for (int64_t k = 0; k < std::ssize(elements); k++)
      elements[k] = rows[order[k / width]] + k % width * plan.space.inner;
    char* to = out.as<char>() + row * n * size_of(out.dtype);
    float* made = in_place ? reinterpret_cast<float*>(to) : sums.data();
    weighted_sum(made, elements, {work.weights_of(frame), elements.size()}, n);
    if (!in_place) from_float(to, made, n);
  });
}

struct Filter : FilterWindow {
  const SampleView& in;
  std::vector<float> weights, fill;
  std::vector<int> byte_fill;
  std::optional<ByteWeights> bytes;

  explicit Filter(const Sample<FilterArgs>& sample)
      : FilterWindow(sample),
        in(sample.in[0]),
        fill(fill_values(sample.in.size() > 2 ? sample.in[2] : SampleView(), space.frames)) {
    const SampleView& filter = sample.in[1];
    weights.resize(filter.elements());
    rounding_run(DType::float32, filter.dtype)(weights.data(), filter.data, filter.elements());
    if (in.dtype == DType::uint8 && sample.out[0].dtype == DType::uint8)
      bytes = byte_weights(weights, fill, std::ssize(weights) / filters);
    if (bytes) byte_fill.assign(fill.begin(), fill.end());
  }

  Shape shape() const {
    Shape shape = in.shape;
    for (int i = 0; i < space.axes; i++) shape[space.axes_before + i] = out.size[out.first() + i];
    return shape;
  }
  int64_t rows() const { return out.rows(); }
  void run(const Sample<FilterArgs>& sample) const {
    if (space.empty()) return;
    if (bytes) {
      const Correlation<int16_t, int> work = {sample, *this, bytes->weights, byte_fill, bytes->bits};
      return work.run<uint8_t, uint8_t>([&] { correlate_bytes(work); });
    }
    const Correlation<float, float> work = {sample, *this, weights, fill};
    auto host_loop = [&] { correlate_floats(work); };
    with_dtype(in.dtype, [&](auto type) {
      using In = typename decltype(type)::type;
      sample.out[0].dtype == in.dtype ? work.run<In, In>(host_loop) : work.run<float, In>(host_loop);
    });
  }
};

}  // namespace

struct KernelFilter::Held {
  FilterArgs args;
  std::vector<float> kernel;
  SampleView in[2];
  std::optional<Filter> filter;

  // The work of `filter` itself, with the kernel as its second input.
  Sample<FilterArgs> sample_of(const SampleWork& work) const {
    SampleWork changed = work;
    changed.in = in;
    changed.args = &args;
    return Sample<FilterArgs>(changed);
  }
};

KernelFilter::KernelFilter(const SampleWork& work, std::vector<float> kernel, int64_t height, Border border) {
  auto held = std::make_shared<Held>();
  held->args.border = border;
  held->kernel = std::move(kernel);
  held->in[0] = work.in[0];
  held->in[1] = {held->kernel.data(), {height, std::ssize(held->kernel) / height}, DType::float32, {}};
  held->filter.emplace(held->sample_of(work));
  held_ = held;
}

int64_t KernelFilter::rows() const { return held_->filter->rows(); }
void KernelFilter::run(const SampleWork& work) const { held_->filter->run(held_->sample_of(work)); }

AVIDA_OP(filter, FilterArgs) {
  using Args = FilterArgs;
  op.doc(
        "Filters images, volumes or sequences with given weights. Each element becomes the sum of the elements around "
        "it, multiplied by the weights: a correlation, in which the filter is not mirrored.")
      .input("data", "The samples; channels (C) come first or last.")
      .input("filter", "The weights: an axis for each spatial axis of the data, perhaps after one for the frames.")
      .on_host()
      .optional_input("fill_value", "What lies beyond the \"constant\" border: a number, or one for each frame.")
      .on_host()
      .arg(
          "anchor", &Args::anchor,
          "The element of the filter that lies over the element computed: one number, or one for each spatial axis. -1 "
          "is the middle. Ignored in the mode \"valid\".")
      .arg("border", &Args::border,
           "What lies beyond the border: \"reflect_101\", \"reflect_1001\", \"wrap\", \"clamp\" or \"constant\".")
      .arg("dtype", &Args::dtype, "The element type of the output: float32, or the input's.")
      .arg("mode", &Args::mode,
           "\"same\": the output has the input's shape; \"valid\": only where all of the filter lies inside.")
      .example("avida.filter(image, np.ones((3, 3), np.float32) / 9)")
      .infer([](Infer<Args>& call) {
        const Meta &data = call.in[0], &filter = call.in[1];
        int axes = spatial_axes(data.ndim, data.layout);
        bool frames = !data.layout.empty() && data.layout[0] == 'F';
        if (filter.ndim != axes && !(frames && filter.ndim == axes + 1))
          refuse("expected a filter of ", axes, " axes, as many as the data has spatial ones, got ", filter.ndim);
        check_numbers(data.dtype);
        call.out[0].dtype = filtered_dtype(call.args.dtype, data.dtype);
      })
      .each_sample<Filter>()
      .cost(10);
}

}  // namespace avida::ops
