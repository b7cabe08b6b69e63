#include "operator/axes.h"
#include "ops/generic/join.h"

namespace avida::ops {
namespace {

int joined_axis(const JoinArgs& args, int ndim, const Layout& layout) {
  return args.axis_name ? named_axis(axis_letter(*args.axis_name), layout) : resolve_axis(args.axis.value_or(0), ndim);
}

void infer_cat(Infer<JoinArgs>& call) {
  check_alike(call.in);
  if (call.in[0].ndim == 0) refuse("numbers without axes cannot be joined; see stack");
  if (call.args.axis && call.args.axis_name) refuse("expected \"axis\" or \"axis_name\", got both");
  joined_axis(call.args, call.in[0].ndim, call.in[0].layout);
}

bool fits(const Shape& shape, const Shape& reference, int axis) {
  for (int d = 0; d < shape.size(); d++)
    if (d != axis && shape[d] != reference[d]) return false;
  return true;
}

// Inputs without elements need not fit the others: they are left out.
int64_t extent_of(const Shape& shape, int axis, const SampleView& in) {
  return fits(in.shape, shape, axis) ? in.shape[axis] : 0;
}

struct CatPlan : JoinPlan<extent_of> {
  explicit CatPlan(const Sample<JoinArgs>& sample) {
    const int axis = joined_axis(sample.args, sample.in[0].ndim(), sample.in[0].layout);
    const SampleView* first = &sample.in[0];
    for (auto& in : sample.in)
      if (in.elements() > 0) {
        first = &in;
        break;
      }
    for (auto& in : sample.in)
      if (in.elements() > 0 && !fits(in.shape, first->shape, axis))
        refuse("shapes can differ along axis ", axis, " only, got ", first->shape, " and ", in.shape);
    join(sample.in, axis, first->shape);
  }
};

}  // namespace

AVIDA_OP(cat, JoinArgs) {
  op.doc("Joins the samples of several inputs along an axis that they have.")
      .input("input_0", "The first samples.")
      .more_inputs("inputs", "The samples that follow them.")
      .arg("axis", &JoinArgs::axis, "The axis to join along; a negative one counts from the end. By default the first.",
           fixed)
      .arg("axis_name", &JoinArgs::axis_name, "The axis to join along, by its letter in the first input's layout.")
      .example("avida.cat(image, image, axis_name=\"W\")")
      .takes_enums()
      .passes_numbers()
      .infer(infer_cat)
      .each_sample<CatPlan>();
}

}  // namespace avida::ops
