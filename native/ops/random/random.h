// The family of operators that draw numbers: their arguments and shapes, and draw() on either device.
#pragma once
#include "operator/declare.h"
#include "operator/launches.h"
#include "ops/random/draw_item.h"
#include "ops/random/tiles.h"

namespace avida::ops {

struct DrawArgs {
  std::optional<DType> dtype;
  std::optional<Vec<int64_t>> shape;
};

constexpr const char* kDTypeText = "The element type; numbers are rounded and clamped to it.";
constexpr const char* kShapeText = "The shape of the output; by default a single number is drawn.";
constexpr const char* kShapeLikeText = "Samples whose shapes the output gets.";

// The rank that `shape` or `shape_like` gives; -1: unknown.
template <class Args>
int drawn_ndim(const Infer<Args>& call, const Meta& shape_like) {
  const bool per_sample = call.call.per_sample("shape"), like = shape_like.dtype != DType::none;
  if (like && (per_sample || call.args.shape)) refuse("expected \"shape\" or a sample of that shape, got both");
  if (like) return shape_like.ndim;
  return per_sample ? -1 : call.args.shape ? call.args.shape->size() : 0;
}

// Element type and rank of an output whose optional input is shape_like.
template <class Args>
void infer_drawn(Infer<Args>& call, DType default_dtype) {
  Meta& out = call.out[0];
  out.ndim = drawn_ndim(call, call.in.empty() ? Meta{} : call.in[0]);
  out.dtype = call.args.dtype.value_or(default_dtype);
  out.layout = Layout();
}

inline Shape drawn_shape(const std::optional<Vec<int64_t>>& extents, const SampleView& shape_like) {
  if (shape_like.dtype != DType::none) return shape_like.shape;
  Shape shape;
  if (extents)
    for (int64_t extent : *extents) {
      if (extent < 0) refuse("expected a shape without negative extents, got ", extent);
      shape.push_back(extent);
    }
  return shape;
}

// For plans: the shape of the output, and the rows of the work.
struct DrawPlan {
  template <class Args>
  static void shape(Sample<Args>& sample) {
    sample.out[0].shape = drawn_shape(sample.args.shape, sample.in[0]);
  }
  template <class Args>
  static int64_t rows(const Sample<Args>& sample) {
    return draw_rows(sample.out[0].elements());
  }
};

// Draws the sample's elements from a distribution: some rows, or all on a GPU.
template <class Args, class Draw>
void draw(const Sample<Args>& sample, const Draw& distribution) {
  using Number = typename Draw::Number;
  const SampleView& out = sample.out[0];
  if (!sample.launches)
    return fill_drawn<Number>(out, sample.begin, sample.end, [&](Number* numbers, int64_t first, int64_t n) {
      draw_numbers(numbers, sample.random, first, n, distribution);
    });
  constexpr bool by_element = requires(long i) { distribution(sample.random, i); };
  auto launch = [&]<class T>() {
    using Body = std::conditional_t<by_element, DrawElement<T, Draw>, DrawItem<T, Draw>>;
    const int64_t items = by_element ? out.elements() : drawn_blocks<kPerBlock<Number>>(out.elements());
    sample.launches->template add<Body>(
        0, items, {out.data, static_cast<int>(out.dtype), out.elements(), sample.random, distribution});
  };
  using Usual = std::conditional_t<by_element, float, Number>;  // the type that most outputs have
  if (out.dtype == dtype_of<Usual>)
    launch.template operator()<Usual>();
  else
    launch.template operator()<AnyElement>();
}

// Whether numbers of this type are drawn as float. Others need the bits of a double, integers too.
inline bool drawn_as_float(DType dtype) { return is_float(dtype) && dtype != DType::float64; }

}  // namespace avida::ops
