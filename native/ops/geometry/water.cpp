#include "ops/geometry/water.h"

#include "ops/geometry/displace.h"
#include "ops/scenes/bends.h"

namespace avida::ops {
namespace {

struct WaterArgs : DisplaceArgs {
  static constexpr float kFrequency = 0.04908738521f;  // a wave in 128 pixels
  float ampl_x = 10, ampl_y = 10, freq_x = kFrequency, freq_y = kFrequency, phase_x = 0, phase_y = 0;
};

Water water_of(const Sample<WaterArgs>& sample) {
  const WaterArgs& args = sample.args;
  return {{args.ampl_x, args.freq_x, args.phase_x}, {args.ampl_y, args.freq_y, args.phase_y}};
}
using WaterPlan = Displacement<water_of, WaterArgs>;

}  // namespace

AVIDA_OP(water, WaterArgs) {
  using Args = WaterArgs;
  displaces<water_of>(op)
      .doc("Shows images as if through waves of water. Rows are shifted by a sine, columns by a cosine.")
      .arg("ampl_x", &Args::ampl_x, "The largest shift of rows, in pixels.", fixed)
      .arg("ampl_y", &Args::ampl_y, "The largest shift of columns, in pixels.", fixed)
      .arg("freq_x", &Args::freq_x, "The angle, in radians, from one row to the next.", fixed)
      .arg("freq_y", &Args::freq_y, "The angle, in radians, from one column to the next.", fixed)
      .arg("phase_x", &Args::phase_x, "The angle of the first row.", fixed)
      .arg("phase_y", &Args::phase_y, "The angle of the first column.", fixed)
      .example("avida.water(image, ampl_x=1, ampl_y=1, freq_x=1, freq_y=1)");
}

AVIDA_BENDS(water, WaterArgs, WaterPlan)

}  // namespace avida::ops
