#include "loops/elementwise/broadcast.h"

#include <algorithm>
#include <cstring>

#include "loops/elementwise/elementwise.h"
#include "loops/moving/convert_item.h"
#include "loops/moving/convert_run.h"
#include "loops/moving/launch_convert.h"
#include "loops/moving/strided_move.h"

namespace avida {
namespace {

// The part of `shape` that lines up with `ndim` axes, from the last one on.
std::span<const int64_t> last_axes(const Shape& shape, int ndim) {
  return shape.span().last(std::min(shape.size(), ndim));
}

// Calls fn(bits) with a number as an element of the output, in an unsigned type of its size.
template <class Fn>
void with_element(DType dtype, const void* number, DType from, Fn fn) {
  with_size_of(dtype, [&](auto type) {
    typename decltype(type)::type bits;
    rounding_run(dtype, from)(&bits, number, 1);
    fn(bits);
  });
}

template <class Bits>
void fill_elements(const SampleView& out, int64_t begin, int64_t end, Bits bits) {
  std::fill(out.as<Bits>() + begin * kFilledRow, out.as<Bits>() + std::min(end * kFilledRow, out.elements()), bits);
}

// The array is converted, then repeated.
void launch_broadcast(Launches& launches, const SampleView& out, const SampleView& from) {
  const void* elements = from.data;
  if (from.dtype != out.dtype) {
    void* converted = launches.scratch(from.elements() * size_of(out.dtype));
    launch_convert(launches, converted, out.dtype, from.data, from.dtype, from.elements());
    launches.then();
    elements = converted;
  }
  const Shape dense = dense_strides(from.shape);
  Shape strides;
  strides.resize(out.ndim(), 0);
  const int lead = out.ndim() - from.ndim();
  for (int d = 0; d < from.ndim(); d++) strides[lead + d] = from.shape[d] == 1 ? 0 : dense[d];
  StridedMove(size_of(out.dtype), out.shape, strides).launch(launches, out.data, elements);
}

}  // namespace

void fill_rows(const SampleView& out, int64_t begin, int64_t end, Launches* launches, int number) {
  with_element(out.dtype, &number, DType::int32, [&](auto bits) {
    using Bits = decltype(bits);
    if (launches)
      launches->add<FillItem<Bits>>(0, out.elements(), {out.as<Bits>(), bits});
    else
      fill_elements(out, begin, end, bits);
  });
}

void broadcast_rows(const SampleView& out, int64_t begin, int64_t end, Launches* launches, SampleView from) {
  from.shape = Shape(last_axes(from.shape, out.ndim()));
  if (launches) return launch_broadcast(*launches, out, from);
  if (from.elements() == 1)
    return with_element(out.dtype, from.data, from.dtype, [&](auto bits) { fill_elements(out, begin, end, bits); });
  const TilePlan plan = plan_tiles({&from, 1}, out.shape);
  const TiledInput& input = plan.inputs[0];
  const int64_t first = begin * kFilledRow, last = std::min(end * kFilledRow, plan.elements);
  const int64_t size = size_of(out.dtype);
  for (int64_t i = first; i < last; i += plan.tile) {
    char* to = out.as<char>() + i * size;
    const int64_t n = std::min(plan.tile, last - i);
    if (i > first && input.kind == TiledInput::Kind::periodic)
      std::memcpy(to, out.as<char>() + first * size, n * size);
    else
      load_tile(plan, input, from.data, from.dtype, i, n, out.dtype, to);
  }
}

void check_broadcast(const Shape& from, const Shape& shape) {
  bool fits = true;
  auto last = last_axes(from, shape.size());
  for (size_t k = 0; k < last.size(); k++) {
    int64_t extent = last[last.size() - 1 - k];
    fits &= extent == 1 || extent == shape[shape.size() - 1 - static_cast<int>(k)];
  }
  for (int64_t extent : from.span().first(from.size() - last.size())) fits &= extent == 1;
  if (!fits) refuse("a fill value of the shape ", from, " cannot be repeated to the shape ", shape);
}

}  // namespace avida
