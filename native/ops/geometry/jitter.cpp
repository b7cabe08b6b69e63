#include "ops/geometry/jitter.h"

#include "ops/geometry/displace.h"

namespace avida::ops {
namespace {

struct JitterArgs : DisplaceArgs {
  int nDegree = 2;  // the API's name
};

}  // namespace

AVIDA_OP(jitter, JitterArgs) {
  constexpr auto map = [](const Sample<JitterArgs>& sample) {
    return Jitter{sample.random, sample.in[0].shape[1], static_cast<float>(sample.args.nDegree)};
  };
  displaces<map>(op)
      .doc("Moves every pixel by a small random amount.")
      .arg("nDegree", &JitterArgs::nDegree, "Pixels move by at most half of this in x and in y.", fixed)
      .example("avida.jitter(image, nDegree=4)")
      .random();
}

}  // namespace avida::ops
