#include "ops/generic/fill.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "op/convert_item.h"
#include "op/convert_run.h"
#include "op/elementwise.h"
#include "op/launch_convert.h"
#include "op/strided_copy.h"

namespace avida::ops {
namespace {

void check_layout(const FillArgs& args, int ndim) {
  if (args.layout && !args.layout->empty() && args.layout->size() != ndim)
    fail(ErrorKind::runtime, "the layout ", *args.layout, " names ", args.layout->size(), " axes, the shape has ",
         ndim);
}

// The part of `shape` that lines up with `ndim` axes, from the last one on.
std::span<const int64_t> last_axes(const Shape& shape, int ndim) {
  return shape.span().last(std::min(shape.size(), ndim));
}

}  // namespace

void infer_from_shape(Infer<FillArgs>& call) {
  Meta& out = call.out[0];
  out.layout = call.args.layout.value_or(Layout());
  if (call.call.per_sample("shape")) {
    out.ndim = -1;
  } else {
    out.ndim = call.args.shape ? call.args.shape->size() : 0;
    check_layout(call.args, out.ndim);
  }
}

void shape_from_args(Sample<FillArgs>& sample) {
  Shape& shape = sample.out[0].shape;
  if (sample.args.shape)
    for (int64_t extent : *sample.args.shape) shape.push_back(extent);
  check_layout(sample.args, shape.size());
  for (int64_t extent : shape)
    if (extent < 0) fail(ErrorKind::runtime, "the shape ", shape, " has a negative extent");
}

void fill_rows_with(const SampleView& out, int64_t begin, int64_t end, Launches* launches, int number) {
  with_dtype(out.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    T* to = out.as<T>();
    if (launches)
      return with_size_of(out.dtype, [&](auto same_size) {
        using Bits = typename decltype(same_size)::type;
        if constexpr (sizeof(Bits) == sizeof(T))
          launches->add<FillItem<Bits>>(0, out.elements(), {out.as<Bits>(), std::bit_cast<Bits>(convert<T>(number))});
      });
    std::fill(to + begin * kFillRow, to + std::min(end * kFillRow, out.elements()), convert<T>(number));
  });
}

void check_repeatable(const Shape& fill, const Shape& shape) {
  bool fits = true;
  auto last = last_axes(fill, shape.size());
  for (size_t k = 0; k < last.size(); k++) {
    int64_t extent = last[last.size() - 1 - k];
    fits &= extent == 1 || extent == shape[shape.size() - 1 - static_cast<int>(k)];
  }
  for (int64_t extent : fill.span().first(fill.size() - last.size())) fits &= extent > 0;
  if (!fits) fail(ErrorKind::runtime, "a fill value of the shape ", fill, " cannot be repeated to the shape ", shape);
}

namespace {

// The fill value is converted, then repeated.
void launch_fill(Launches& launches, const SampleView& out, const SampleView& fill) {
  const void* elements = fill.data;
  if (fill.dtype != out.dtype) {
    void* converted = launches.scratch(fill.elements() * size_of(out.dtype));
    launch_convert(launches, converted, out.dtype, fill.data, fill.dtype, fill.elements());
    launches.then();
    elements = converted;
  }
  const Shape dense = dense_strides(fill.shape);
  Shape strides;
  strides.resize(out.ndim(), 0);
  const int lead = out.ndim() - fill.ndim();
  for (int d = 0; d < fill.ndim(); d++) strides[lead + d] = fill.shape[d] == 1 ? 0 : dense[d];
  StridedCopy(size_of(out.dtype), out.shape, strides).launch(launches, out.data, elements);
}

}  // namespace

void fill_rows_from(const SampleView& out, int64_t begin, int64_t end, Launches* launches, SampleView fill) {
  fill.shape = Shape(last_axes(fill.shape, out.ndim()));
  if (launches) return launch_fill(*launches, out, fill);
  TilePlan plan = plan_tiles({&fill, 1}, out.shape);
  int64_t last = std::min(end * kFillRow, plan.elements);
  ConvertRun convert_run = rounding_run(out.dtype, fill.dtype);
  if (fill.elements() == 1) {
    uint64_t number = 0;
    convert_run(&number, fill.data, 1);
    with_size_of(out.dtype, [&](auto type) {
      using Bits = typename decltype(type)::type;
      Bits bits;
      std::memcpy(&bits, &number, sizeof(bits));
      std::fill(out.as<Bits>() + begin * kFillRow, out.as<Bits>() + last, bits);
    });
    return;
  }
  // One tile at a time, elements are repeated as they are and then converted.
  with_size_of(fill.dtype, [&](auto type) {
    using Bits = typename decltype(type)::type;
    Bits tile[kTile];
    fill.dtype = dtype_of<Bits>;
    for (int64_t i = begin * kFillRow; i < last; i += kTile) {
      int64_t n = std::min<int64_t>(kTile, last - i);
      load_tile(plan, plan.inputs[0], fill, i, n, tile);
      convert_run(out.as<char>() + i * size_of(out.dtype), tile, n);
    }
  });
}

}  // namespace avida::ops
