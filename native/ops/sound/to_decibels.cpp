#include "ops/sound/to_decibels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/clones.h"
#include "loops/items/each_item.h"
#include "operator/declare.h"
#include "ops/sound/sound.h"

namespace avida::ops {
namespace {

struct ToDecibelsArgs {
  float cutoff_db = -200, multiplier = 10;
  std::optional<float> reference;
};

AVIDA_CLONES float greatest(const float* in, int64_t n) {
  constexpr int kLanes = 64;
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int lane = 0; lane < kLanes; lane++) lanes[lane] = in[i + lane] > lanes[lane] ? in[i + lane] : lanes[lane];
  for (; i < n; i++) lanes[0] = std::max(lanes[0], in[i] > 0 ? in[i] : 0);
  return *std::max_element(lanes, lanes + kLanes);
}

AVIDA_CLONES void convert(const Decibels::Params& given, float inverse_reference, int64_t n) {
  const Decibels::Params params = given;
  for (int64_t i = 0; i < n; i++)
    params.out[i] = decibels(params.in[i], inverse_reference, params.least, params.factor);
}

// The greatest element of a sample, in memory of the GPU: of its parts, of the parts of these, and so on.
const float* launch_greatest(Launches& launches, const float* in, int64_t count) {
  const int64_t parts = std::max<int64_t>(1, (count + GreatestOfPart::kPart - 1) / GreatestOfPart::kPart);
  auto* out = static_cast<float*>(launches.scratch(parts * int64_t{sizeof(float)}));
  launches.add<GreatestOfPart>(0, parts, {out, in, count});
  launches.then();
  return parts == 1 ? out : launch_greatest(launches, out, parts);
}

struct DecibelsPlan {
  void run(const Sample<ToDecibelsArgs>& sample) const {
    const ToDecibelsArgs& args = sample.args;
    const SampleView& in = sample.in[0];
    const auto least = static_cast<float>(std::pow(10.0, args.cutoff_db / args.multiplier));
    const float smallest = std::numeric_limits<float>::denorm_min();
    Decibels::Params params{sample.out[0].as<float>(),
                            in.as<float>(),
                            nullptr,
                            1 / args.reference.value_or(1),
                            least > smallest ? least : smallest,
                            static_cast<float>(args.multiplier / std::log(10.0))};
    if (sample.launches && !args.reference)
      params.maximum = launch_greatest(*sample.launches, params.in, in.elements());
    each_item<Decibels>(sample, 0, in.elements(), params, [&] {
      convert(params,
              args.reference ? params.inverse_reference : Decibels::inverse_of(greatest(params.in, in.elements())),
              in.elements());
    });
  }
};

}  // namespace

AVIDA_OP(to_decibels, ToDecibelsArgs) {
  using Args = ToDecibelsArgs;
  op.doc(
        "Converts magnitudes or powers to decibels. The result is multiplier * log10(max(10 ** (cutoff_db / "
        "multiplier), input / reference)).")
      .input("input", "Magnitudes or powers in float32; negative ones count as 0.")
      .arg("cutoff_db", &Args::cutoff_db, "The lowest result, in decibels.", fixed)
      .arg("multiplier", &Args::multiplier, "The factor of the logarithm: usually 10 for powers, 20 for magnitudes.",
           fixed)
      .arg("reference", &Args::reference, "What gives 0 decibels; by default the greatest element of each sample.",
           fixed)
      .example("avida.to_decibels(np.array([1, 10, 0.1], np.float32), reference=1)")
      .infer([](Infer<Args>& call) {
        check_float32(call.in[0]);
        if (call.args.reference && *call.args.reference == 0) refuse("expected a reference other than 0");
      })
      .each_sample<DecibelsPlan>()
      .cost(4);
}

}  // namespace avida::ops
