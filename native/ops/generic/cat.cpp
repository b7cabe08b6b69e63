#include "op/axes.h"
#include "ops/generic/join.h"

namespace avida::ops {
namespace {

int joined_axis(const JoinArgs& args, int ndim, const Layout& layout) {
  return args.axis_name ? named_axis(axis_letter(*args.axis_name), layout) : resolve_axis(args.axis.value_or(0), ndim);
}
int joined_axis(const Sample<JoinArgs>& sample) {
  return joined_axis(sample.args, sample.in[0].ndim(), sample.in[0].layout);
}

void infer_cat(Infer<JoinArgs>& call) {
  check_alike(call.in);
  if (call.in[0].ndim == 0) fail(ErrorKind::runtime, "numbers without axes cannot be joined; see stack");
  if (call.args.axis && call.args.axis_name) fail(ErrorKind::runtime, "expected \"axis\" or \"axis_name\", got both");
  joined_axis(call.args, call.in[0].ndim, call.in[0].layout);
}

bool fits(const Shape& shape, const Shape& reference, int axis) {
  for (int d = 0; d < shape.size(); d++)
    if (d != axis && shape[d] != reference[d]) return false;
  return true;
}

// Inputs without elements need not fit the others: they are left out.
void set_shape(Sample<JoinArgs>& sample) {
  int axis = joined_axis(sample);
  Shape& out = sample.out[0].shape;
  out = sample.in[0].shape;
  for (auto& in : sample.in)
    if (in.elements() > 0) {
      out = in.shape;
      break;
    }
  int64_t extent = 0;
  for (auto& in : sample.in) {
    if (fits(in.shape, out, axis))
      extent += in.shape[axis];
    else if (in.elements() > 0)
      fail(ErrorKind::runtime, "shapes can differ along axis ", axis, " only, got ", out, " and ", in.shape);
  }
  out[axis] = extent;
}

int64_t extent_of(const Sample<JoinArgs>& sample, int axis, const SampleView& in) {
  return fits(in.shape, sample.out[0].shape, axis) ? in.shape[axis] : 0;
}

}  // namespace

AVIDA_OP(cat, JoinArgs) {
  op.doc("Joins the samples of several inputs along an axis that they have.")
      .input("input_0", "The first samples.")
      .more_inputs("inputs", "The samples that follow them.")
      .arg("axis", &JoinArgs::axis, "The axis to join along; a negative one counts from the end. By default the first.",
           fixed)
      .arg("axis_name", &JoinArgs::axis_name, "The axis to join along, by its letter in the first input's layout.")
      .example("avida.cat(image, image, axis_name=\"W\")")
      .infer(infer_cat)
      .each_sample(set_shape, [](const Sample<JoinArgs>& sample) { join(sample, joined_axis(sample), extent_of); })
      .rows([](const Sample<JoinArgs>& sample) { return join_rows(sample, joined_axis(sample), extent_of); })
      .on_gpu();
}

}  // namespace avida::ops
