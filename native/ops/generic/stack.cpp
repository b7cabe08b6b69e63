#include "ops/generic/join.h"

namespace avida::ops {
namespace {

int new_axis(const JoinArgs& args, int ndim) {
  int axis = args.axis.value_or(0);
  if (axis < -ndim || axis > ndim)
    fail(ErrorKind::runtime, "expected an axis from ", -ndim, " to ", ndim, ", got ", axis);
  return axis < 0 ? axis + ndim + 1 : axis;
}
int new_axis(const Sample<JoinArgs>& sample) { return new_axis(sample.args, sample.in[0].ndim()); }

void infer_stack(Infer<JoinArgs>& call) {
  check_alike(call.in);
  const Meta& in = call.in[0];
  Meta& out = call.out[0];
  int axis = new_axis(call.args, in.ndim);
  out.ndim = in.ndim + 1;
  out.layout = Layout();
  if (!call.args.axis_name) return;
  char letter = axis_letter(*call.args.axis_name);
  if (in.layout.empty() && in.ndim > 0) fail(ErrorKind::runtime, "\"axis_name\" needs an input with a layout");
  for (int d = 0; d < out.ndim; d++) out.layout.push_back(d == axis ? letter : in.layout[d < axis ? d : d - 1]);
}

void set_shape(Sample<JoinArgs>& sample) {
  Shape& out = sample.out[0].shape;
  out = sample.in[0].shape;
  for (auto& in : sample.in)
    if (!(in.shape == out)) fail(ErrorKind::runtime, "the shapes must be equal, got ", out, " and ", in.shape);
  out.insert(new_axis(sample), static_cast<int64_t>(sample.in.size()));
}

int64_t extent_of(const Sample<JoinArgs>&, int, const SampleView&) { return 1; }

}  // namespace

AVIDA_OP(stack, JoinArgs) {
  op.doc("Joins the samples of several inputs, all of one shape, along a new axis.")
      .input("input_0", "The first samples.")
      .more_inputs("inputs", "The samples that follow them.")
      .arg("axis", &JoinArgs::axis,
           "Where the new axis stands in the output; a negative number counts from its end. By default first.", fixed)
      .arg("axis_name", &JoinArgs::axis_name, "The letter of the new axis. Without it, the output has no layout.")
      .example("avida.stack(image, image, axis_name=\"F\")")
      .infer(infer_stack)
      .each_sample(set_shape, [](const Sample<JoinArgs>& sample) { join(sample, new_axis(sample), extent_of); })
      .rows([](const Sample<JoinArgs>& sample) { return join_rows(sample, new_axis(sample), extent_of); })
      .on_gpu();
}

}  // namespace avida::ops
