#include "ops/generic/reshape.h"

#include <cmath>

namespace avida::ops {
namespace {

void infer_reshape(Infer<ReshapeArgs>& call) {
  auto& args = call.args;
  Meta& out = call.out[0];
  bool shape_input = call.in[1].dtype != DType::none;
  bool shape = args.shape || call.call.per_sample("shape");
  bool rel_shape = args.rel_shape || call.call.per_sample("rel_shape");
  bool src_dims = args.src_dims || call.call.per_sample("src_dims");
  if (shape_input + shape + rel_shape > 1)
    refuse("expected one of \"shape\", \"rel_shape\" and a second input, got several");
  if (!shape_input && !shape && !rel_shape && !src_dims && !args.layout && args.dtype == DType::none)
    refuse("nothing to do: neither a shape nor a layout nor a data type is given");
  if (shape_input && !is_integer(call.in[1].dtype)) refuse("expected integers as the shape, got ", call.in[1].dtype);

  if (args.dtype != DType::none) out.dtype = args.dtype;
  if (args.layout) out.layout = *args.layout;
  if (args.shape)
    out.ndim = args.shape->size();
  else if (args.rel_shape)
    out.ndim = args.rel_shape->size();
  else if (shape_input || shape || rel_shape)
    out.ndim = -1;
  else if (args.src_dims)
    out.ndim = args.src_dims->size();
  else if (src_dims)
    out.ndim = -1;
  if (args.layout && !args.layout->empty() && out.ndim >= 0 && args.layout->size() != out.ndim)
    refuse("the layout ", *args.layout, " does not fit ", out.ndim, " axes");
  if (!args.layout && out.layout.size() != out.ndim) out.layout = Layout();
}

// rel_shape: multiples of the input's extents, or of those that src_dims picks.
Shape relative_shape(const Vec<float>& factors, const Shape& in) {
  if (factors.size() > in.size() + 1 || (factors.size() == in.size() + 1 && factors[in.size()] >= 0))
    refuse("\"rel_shape\" has ", factors.size(), " numbers for ", in.size(),
           " axes; \"src_dims\" can tell which axes they are multiples of");
  Shape out;
  for (int d = 0; d < factors.size(); d++) {
    float extent = factors[d] < 0 ? -1 : std::round(factors[d] * static_cast<float>(in[d]));
    if (!(extent < 9e18f)) refuse("the extent of axis ", d, " is not a number or too large");
    out.push_back(static_cast<int64_t>(extent));
  }
  return out;
}

Shape pick_extents(const Vec<int64_t>& src_dims, const Shape& in) {
  Shape out;
  for (int64_t d : src_dims) {
    if (d < -1 || d >= in.size()) refuse("expected \"src_dims\" from -1 to ", in.size() - 1, ", got ", d);
    out.push_back(d < 0 ? 1 : in[static_cast<int>(d)]);
  }
  return out;
}

Shape wanted_shape(const Sample<ReshapeArgs>& sample, int64_t in_size, int64_t out_size) {
  auto& args = sample.args;
  if (sample.in[1].dtype != DType::none) {
    const SampleView& given = sample.in[1];
    if (given.ndim() != 1) refuse("expected a list of numbers as the shape, got the shape ", given.shape);
    Shape shape;
    for (int64_t i = 0; i < given.elements(); i++) shape.push_back(arg::element<int64_t>(given.data, given.dtype, i));
    return shape;
  }
  if (args.shape) return Shape(std::span(args.shape->begin(), args.shape->end()));
  Shape shape = args.src_dims ? pick_extents(*args.src_dims, sample.in[0].shape) : sample.in[0].shape;
  if (args.rel_shape) {
    if (args.src_dims && args.src_dims->size() != args.rel_shape->size())
      refuse("\"src_dims\" and \"rel_shape\" differ in length: ", args.src_dims->size(), " and ",
             args.rel_shape->size());
    return relative_shape(*args.rel_shape, shape);
  }
  if (in_size != out_size) {  // the elements of another size change the last extent
    if (shape.empty()) refuse("a single element cannot become elements of another size without a shape");
    int64_t bytes = shape[shape.size() - 1] * in_size;
    if (bytes % out_size != 0)
      refuse("the last axis takes ", bytes, " bytes, which elements of ", out_size, " bytes do not fill");
    shape[shape.size() - 1] = bytes / out_size;
  }
  return shape;
}

// Replaces a negative extent by what is left of the volume.
void resolve_wildcard(Shape& shape, int64_t volume) {
  int wildcard = -1;
  int64_t rest = 1;
  for (int d = 0; d < shape.size(); d++) {
    if (shape[d] >= 0) {
      if (__builtin_mul_overflow(rest, shape[d], &rest)) refuse("the shape ", shape, " is too large");
    } else {
      if (wildcard >= 0) refuse("only one extent can be negative, got the shape ", shape);
      wildcard = d;
    }
  }
  if (wildcard < 0) return;
  if (rest == 0) refuse("cannot infer the negative extent of ", shape, " beside an extent of 0");
  shape[wildcard] = volume / rest;
}

void set_shape(Sample<ReshapeArgs>& sample) {
  const SampleView& in = sample.in[0];
  SampleView& out = sample.out[0];
  int64_t out_size = size_of(out.dtype);
  out.shape = wanted_shape(sample, size_of(in.dtype), out_size);
  resolve_wildcard(out.shape, in.bytes() / out_size);
  if (checked_volume(out.shape) * out_size != in.bytes())
    refuse("the shapes ", in.shape, " of ", in.dtype, " and ", out.shape, " of ", out.dtype, " differ in size");
  if (sample.args.layout && !sample.args.layout->empty() && sample.args.layout->size() != out.ndim())
    refuse("the layout ", *sample.args.layout, " does not fit ", out.ndim(), " axes");
  if (!sample.args.layout && in.layout.size() == out.ndim()) out.layout = in.layout;
}

}  // namespace

Op<ReshapeArgs>& declare_new_shape(Op<ReshapeArgs>& op) {
  return op
      .arg("layout", &ReshapeArgs::layout,
           "The new layout. Without it, the layout stays as long as the number of axes does.")
      .arg("rel_shape", &ReshapeArgs::rel_shape,
           "The new shape in multiples of the old one. One number can be negative: that axis takes what is left.")
      .arg("shape", &ReshapeArgs::shape, "The new shape. One extent can be negative: that axis takes what is left.")
      .arg("src_dims", &ReshapeArgs::src_dims,
           "The old axes that the new ones take their extents from, for use alone or with rel_shape; -1 means an "
           "extent of 1.")
      .takes_enums()
      .infer(infer_reshape)
      .view(set_shape);
}

AVIDA_OP(reshape, ReshapeArgs) {
  op.doc("Gives the same elements, in the same order, another shape or layout. Nothing is copied.")
      .input("data", "The samples to reshape.")
      .optional_input("shape_input", "The new shape, as with the argument shape.")
      .on_host()
      .example("avida.reshape(image, shape=[4, -1])");
  declare_new_shape(op);
}

}  // namespace avida::ops
