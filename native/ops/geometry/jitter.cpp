#include "ops/geometry/jitter.h"

#include "ops/geometry/displace.h"
#include "ops/scenes/moves.h"

namespace avida::ops {
namespace {

struct JitterArgs : DisplaceArgs {
  int nDegree = 2;  // the API's name
};

}  // namespace

AVIDA_OP(jitter, JitterArgs) {
  constexpr auto map = [](const Sample<JitterArgs>& sample) {
    return Jitter{sample.random, extent_of(sample.in[0], 0), static_cast<float>(sample.args.nDegree)};
  };
  displaces<map>(op)
      .doc("Moves every pixel by a small random amount.")
      .arg("nDegree", &JitterArgs::nDegree, "Pixels move by at most half of this in x and in y.", fixed)
      .example("avida.jitter(image, nDegree=4)")
      .random();
}

// On the average, positions stay where they are.
AVIDA_MOVES(jitter, JitterArgs, [](const Sample<JitterArgs>&) { return Moves(); })

}  // namespace avida::ops
