#include "loops/moving/strided_move.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct CopyPlan {
  explicit CopyPlan(const Sample<NoArgs>& sample) : move(sample.in[0].bytes()) {}

  int64_t rows() const { return move.rows(); }
  void run(const Sample<NoArgs>& sample) const { move.run(sample, sample.out[0].data, sample.in[0].data); }

  const DenseMove move;
};

}  // namespace

AVIDA_OP(copy, NoArgs) {
  op.doc("Copies the samples into memory of their own.")
      .takes_enums()
      .input("input", "The samples to copy.")
      .example("avida.copy(image)")
      .each_sample<CopyPlan>();
}

}  // namespace avida::ops
