#include "ops/generic/fill.h"

namespace avida::ops {
namespace {

struct FullLikePlan : FillPlan {
  explicit FullLikePlan(const Sample<NoArgs>& sample) { check_broadcast(sample.in[1].shape, sample.in[0].shape); }

  static void run(const Sample<NoArgs>& sample) { broadcast(sample, sample.in[1]); }
};

}  // namespace

AVIDA_OP(full_like, NoArgs) {
  op.doc("Makes samples like the given ones by repeating a fill value. It is converted to their element type.")
      .input("data_like", "The samples whose shape, element type and layout to take.")
      .input("fill_value", "A number, or an array that is repeated along the axes as NumPy broadcasts it.")
      .example("avida.full_like(image, 7)")
      .each_sample<FullLikePlan>();
}

}  // namespace avida::ops
