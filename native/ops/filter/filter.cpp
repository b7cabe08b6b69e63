#include <cctype>
#include <cmath>

#include "op/op.h"
#include "op/row_sums.h"
#include "op/stencil.h"

namespace avida::ops {
namespace {

struct FilterArgs {
  std::vector<int> anchor = {-1};
  std::string border = "reflect_101";
  DType dtype = DType::none;
  std::string mode = "same";
};

bool is_valid_mode(const FilterArgs& args) {
  std::string mode = args.mode;
  for (char& c : mode) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (mode != "same" && mode != "valid")
    fail(ErrorKind::runtime, "expected \"same\" or \"valid\" as mode, got \"", args.mode, '"');
  return mode == "valid";
}

// One sample: what the filter reaches, and the shape of the result.
struct Plan {
  explicit Plan(const Sample<FilterArgs>& sample)
      : space(space_of(sample.in[0].shape, sample.in[0].layout)),
        filter(sample.in[1]),
        valid(is_valid_mode(sample.args)) {
    int extra = filter.ndim() - space.axes;  // one more: a filter for each frame
    filters = extra > 0 ? filter.shape[0] : 1;
    if (extra > 0 && filters != space.frames)
      fail(ErrorKind::runtime, "expected one filter or ", space.frames, ", one for each frame, got ", filters);
    out = space;
    for (int i = 0; i < space.axes; i++) {
      int64_t size = filter.shape[extra + i], anchor = for_axis(sample.args.anchor, i, space.axes, "anchor");
      if (size == 0) fail(ErrorKind::runtime, "expected a filter with elements, got the shape ", filter.shape);
      if (anchor == -1) anchor = size / 2;
      if (anchor < 0 || anchor >= size)
        fail(ErrorKind::runtime, "expected an anchor from 0 to ", size - 1, ", or -1, got ", anchor);
      int d = space.first() + i;
      if (valid) {
        anchor = 0;
        out.size[d] = space.size[d] - size + 1;
        if (out.size[d] < 1)
          fail(ErrorKind::runtime, "expected a sample no smaller than the filter of shape ", filter.shape,
               ", got the shape ", sample.in[0].shape);
      }
      reach.before[d] = anchor;
      reach.after[d] = size - 1 - anchor;
    }
  }

  Shape out_shape(const Shape& in) const {
    Shape shape = in;
    for (int i = 0; i < space.axes; i++) shape[space.axes_before + i] = out.size[out.first() + i];
    return shape;
  }

  Space space, out;
  const SampleView& filter;
  bool valid;
  int64_t filters;
  Reach reach;
};

// The numbers of an optional input: one for all frames, or one for each.
std::vector<float> fill_values(const SampleView& fill, int64_t frames) {
  if (!fill.data) return {0};
  if (fill.elements() != 1 && fill.elements() != frames)
    fail(ErrorKind::runtime, "expected one fill_value or ", frames, ", one for each frame, got the shape ", fill.shape);
  std::vector<float> values(fill.elements());
  rounding_run(DType::float32, fill.dtype)(values.data(), fill.data, fill.elements());
  return values;
}

// How the weights of bytes are kept in 16 bits, so that sums have `bits` bits of fraction; -1: they cannot be.
int fixed_bits(std::span<const float> weights, std::span<const float> fill, int64_t taps) {
  for (float value : fill)
    if (!(value >= 0 && value <= 255) || value != std::floor(value)) return -1;
  double largest = 0, sum = 0;
  for (size_t i = 0; i < weights.size(); i += taps) {
    double magnitude = 0;
    for (float weight : weights.subspan(i, taps)) {
      if (!std::isfinite(weight)) return -1;
      magnitude += std::abs(weight);
      largest = std::max<double>(largest, std::abs(weight));
    }
    sum = std::max(sum, magnitude);
  }
  constexpr double kRange = 32767;
  int bits = kFixedBits;
  auto fits = [&] {
    return std::ldexp(largest, bits + 16 - kFixedBits) < kRange && std::ldexp(255 * sum, bits) + 2 * taps < kRange;
  };
  while (bits > 0 && !fits()) bits--;
  bool precise = std::ldexp(0.5 * taps, -bits) < 0.35;  // what products lose must not be seen
  return fits() && precise ? bits : -1;
}

// All rows of one sample, computed in T.
template <class T, class Store>
void correlate_rows(const Sample<FilterArgs>& sample, const Plan& plan, std::span<const T> weights,
                    std::span<const T> fill, T start, ConvertRun convert, Store&& store) {
  const int64_t n = plan.out.row_elements(), parts_of_frame = plan.space.parts / plan.space.frames;
  const int64_t depth = plan.reach.size(0), height = plan.reach.size(1), width = plan.reach.size(2);
  OutOfBounds border = parse_border(sample.args.border, "border");
  Reach reach = plan.reach;
  if (plan.valid) reach.after[2] = 0;  // no window reaches beyond a row
  std::vector<T> sums(n);
  std::vector<const T*> taps(depth * height * width);

  for (int64_t row = sample.begin; row < sample.end;) {
    int64_t slice = row / plan.out.size[1], part = slice / plan.out.size[0], z = slice % plan.out.size[0];
    int64_t frame = part / parts_of_frame;
    auto filter = weights.subspan(plan.filters > 1 ? frame * taps.size() : 0, taps.size());
    PaddedTile<T> tile(plan.space, sample.in[0], reach, border, fill[fill.size() > 1 ? frame : 0], convert);
    std::vector<PaddedTile<T>> tiles(depth, tile);
    int64_t slice_end = std::min(sample.end, (slice + 1) * plan.out.size[1]);
    while (row < slice_end) {
      int64_t y = row % plan.out.size[1], count = std::min(tile.rows_at_once(), slice_end - row);
      for (int64_t dz = 0; dz < depth; dz++)
        tiles[dz].load(part, z + dz - reach.before[0], y - reach.before[1], count + height - 1);
      for (int64_t i = 0; i < count; i++, row++) {
        for (size_t k = 0; k < taps.size(); k++)
          taps[k] = tiles[k / (height * width)].row(i + k / width % height) + k % width * plan.space.inner;
        weighted_sum(sums.data(), taps, filter, start, n);
        store(row, sums.data(), n);
      }
    }
  }
}

void correlate(const Sample<FilterArgs>& sample) {
  Plan plan(sample);
  const SampleView &in = sample.in[0], &out = sample.out[0];
  if (plan.space.empty()) return;
  std::vector<float> weights(plan.filter.elements());
  rounding_run(DType::float32, plan.filter.dtype)(weights.data(), plan.filter.data, plan.filter.elements());
  std::vector<float> fill = fill_values(sample.in.size() > 2 ? sample.in[2] : SampleView(), plan.space.frames);
  int64_t taps = std::ssize(weights) / plan.filters;

  bool bytes = in.dtype == DType::uint8 && out.dtype == DType::uint8;
  int bits = bytes ? fixed_bits(weights, fill, taps) : -1;
  if (bits >= 0) {
    std::vector<int16_t> fixed_weights, fixed_fill;
    for (float weight : weights)
      fixed_weights.push_back(static_cast<int16_t>(std::lround(std::ldexp(weight, bits + 16 - kFixedBits))));
    for (float value : fill) fixed_fill.push_back(static_cast<int16_t>(static_cast<int>(value) << kFixedBits));
    auto to_fixed = [](void* to, const void* from, int64_t n) {
      fixed_from_bytes(static_cast<Fixed*>(to), static_cast<const uint8_t*>(from), n);
    };
    auto store = [&](int64_t row, const int16_t* sums, int64_t n) {
      bytes_from_fixed(out.as<uint8_t>() + row * n, sums, bits, n);
    };
    int16_t start = static_cast<int16_t>(taps / 2);  // what products lose, on average
    return correlate_rows<int16_t>(sample, plan, fixed_weights, fixed_fill, start, to_fixed, store);
  }
  ConvertRun from_float = rounding_run(out.dtype, DType::float32);
  auto store = [&](int64_t row, const float* sums, int64_t n) {
    from_float(out.as<char>() + row * n * size_of(out.dtype), sums, n);
  };
  correlate_rows<float>(sample, plan, weights, fill, 0, nullptr, store);
}

}  // namespace

AVIDA_OP(filter, FilterArgs) {
  using Args = FilterArgs;
  op.doc(
        "Sums the elements around each element, multiplied by the elements of a filter (a correlation: the filter is "
        "not mirrored), for images, volumes or sequences.")
      .input("data", "The samples; channels (C) come first or last.")
      .input("filter", "The weights: an axis for each spatial axis of the data, perhaps after one for the frames.")
      .optional_input("fill_value", "What lies beyond the \"constant\" border: a number, or one for each frame.")
      .arg(
          "anchor", &Args::anchor,
          "The element of the filter that lies over the element computed: one number, or one for each spatial axis. -1 "
          "is the middle. Without effect in the mode \"valid\".")
      .arg("border", &Args::border,
           "What lies beyond the border: \"reflect_101\", \"reflect_1001\", \"wrap\", \"clamp\" or \"constant\".")
      .arg("dtype", &Args::dtype, "The element type of the output: float32, or the input's.")
      .arg("mode", &Args::mode,
           "\"same\": the output has the input's shape; \"valid\": only where all of the filter lies inside.")
      .per_frame()
      .example("avida.filter(image, np.ones((3, 3), np.float32) / 9)")
      .infer([](Infer<Args>& call) {
        const Meta &data = call.in[0], &filter = call.in[1];
        int axes = spatial_axes(data.ndim, data.layout);
        bool frames = !data.layout.empty() && data.layout[0] == 'F';
        if (filter.ndim != axes && !(frames && filter.ndim == axes + 1))
          fail(ErrorKind::runtime, "expected a filter of ", axes, " axes, as many as the data has spatial ones, got ",
               filter.ndim);
        if (data.dtype == DType::boolean) fail(ErrorKind::runtime, "expected numbers, got bool");
        parse_border(call.args.border, "border");
        is_valid_mode(call.args);
        call.out[0].dtype = filtered_dtype(call.args.dtype, data.dtype);
      })
      .each_sample([](Sample<Args>& sample) { sample.out[0].shape = Plan(sample).out_shape(sample.in[0].shape); },
                   correlate)
      .rows([](const Sample<Args>& sample) { return Plan(sample).out.rows(); })
      .cost(10);
}

}  // namespace avida::ops
