#include "ops/generic/fill.h"

namespace avida::ops {
namespace {

void check_layout(const FillArgs& args, int ndim) {
  if (args.layout && !args.layout->empty() && args.layout->size() != ndim)
    refuse("the layout ", *args.layout, " names ", args.layout->size(), " axes, the shape has ", ndim);
}

}  // namespace

void infer_from_shape(Infer<FillArgs>& call, int ndim_without_shape) {
  Meta& out = call.out[0];
  out.layout = call.args.layout.value_or(Layout());
  if (call.call.per_sample("shape")) {
    out.ndim = -1;
  } else {
    out.ndim = call.args.shape ? call.args.shape->size() : ndim_without_shape;
    if (out.ndim >= 0) check_layout(call.args, out.ndim);
  }
}

Shape shape_from_args(const FillArgs& args) {
  Shape shape;
  if (args.shape)
    for (int64_t extent : *args.shape) shape.push_back(extent);
  if (args.shape) check_layout(args, shape.size());
  for (int64_t extent : shape)
    if (extent < 0) refuse("the shape ", shape, " has a negative extent");
  return shape;
}

}  // namespace avida::ops
