#include "ops/generic/join.h"

namespace avida::ops {
namespace {

int new_axis(const JoinArgs& args, int ndim) {
  int axis = args.axis.value_or(0);
  if (axis < -ndim || axis > ndim) refuse("expected an axis from ", -ndim, " to ", ndim, ", got ", axis);
  return axis < 0 ? axis + ndim + 1 : axis;
}

void infer_stack(Infer<JoinArgs>& call) {
  check_alike(call.in);
  const Meta& in = call.in[0];
  Meta& out = call.out[0];
  int axis = new_axis(call.args, in.ndim);
  out.ndim = in.ndim + 1;
  out.layout = Layout();
  if (!call.args.axis_name) return;
  char letter = axis_letter(*call.args.axis_name);
  if (in.layout.empty() && in.ndim > 0) refuse("\"axis_name\" needs an input with a layout");
  for (int d = 0; d < out.ndim; d++) out.layout.push_back(d == axis ? letter : in.layout[d < axis ? d : d - 1]);
}

int64_t extent_of(const Shape&, int, const SampleView&) { return 1; }

struct StackPlan : JoinPlan<extent_of> {
  explicit StackPlan(const Sample<JoinArgs>& sample) {
    Shape shape = sample.in[0].shape;
    for (auto& in : sample.in)
      if (!(in.shape == shape)) refuse("the shapes must be equal, got ", shape, " and ", in.shape);
    const int axis = new_axis(sample.args, shape.size());
    shape.insert(axis, 1);
    join(sample.in, axis, shape);
  }
};

}  // namespace

AVIDA_OP(stack, JoinArgs) {
  op.doc("Joins the samples of several inputs, all of one shape, along a new axis.")
      .input("input_0", "The first samples.")
      .more_inputs("inputs", "The samples that follow them.")
      .arg("axis", &JoinArgs::axis,
           "The position of the new axis in the output; a negative one counts from its end. By default the first.",
           fixed)
      .arg("axis_name", &JoinArgs::axis_name, "The letter of the new axis. Without it, the output has no layout.")
      .example("avida.stack(image, image, axis_name=\"F\")")
      .takes_enums()
      .passes_numbers()
      .infer(infer_stack)
      .each_sample<StackPlan>();
}

}  // namespace avida::ops
