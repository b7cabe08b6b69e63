// What the operators that draw numbers share: the shape of the output.
#pragma once
#include "op/launches.h"
#include "op/op.h"
#include "ops/random/draw_item.h"
#include "ops/random/tiles.h"

namespace avida::ops {

struct DrawArgs {
  std::optional<DType> dtype;
  std::optional<Vec<int64_t>> shape;
};

constexpr const char* kDTypeText = "The element type; numbers are rounded and clamped to it.";
constexpr const char* kShapeText = "The shape of the output; a single number by default.";
constexpr const char* kShapeLikeText = "Samples of the shape that the output is to have.";

// The rank that `shape` or `shape_like` gives; -1: not known yet.
template <class Args>
int drawn_ndim(const Infer<Args>& call, const Meta& shape_like) {
  const bool per_sample = call.call.per_sample("shape"), like = shape_like.dtype != DType::none;
  if (like && (per_sample || call.args.shape))
    fail(ErrorKind::runtime, "expected \"shape\" or a sample of that shape, got both");
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
      if (extent < 0) fail(ErrorKind::runtime, "expected a shape without negative extents, got ", extent);
      shape.push_back(extent);
    }
  return shape;
}

template <class Args>
int64_t count_draw_rows(const Sample<Args>& sample) {
  return draw_rows(sample.out[0].elements());
}

// The whole output on a GPU.
template <class Args, class Draw>
void launch_draw(const Sample<Args>& sample, const Draw& draw) {
  using Number = typename Draw::Number;
  const SampleView& out = sample.out[0];
  const int64_t blocks = drawn_blocks<kPerBlock<Number>>(out.elements());
  auto launch = [&]<class T>() {
    sample.launches->template add<DrawItem<T, Draw>>(
        0, blocks, {out.data, static_cast<int>(out.dtype), out.elements(), sample.random, draw});
  };
  if (out.dtype == dtype_of<Number>)
    launch.template operator()<Number>();
  else
    launch.template operator()<AnyElement>();
}

// Whether numbers of this type are drawn as float: the rest, integers too, needs the bits of a double.
inline bool drawn_as_float(DType dtype) { return is_float(dtype) && dtype != DType::float64; }

}  // namespace avida::ops
