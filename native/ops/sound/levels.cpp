// `augment.clip`, `augment.gain`.
#include "ops/sound/levels.h"

#include <cmath>

#include "loops/pixels/each_pixel.h"
#include "operator/declare.h"
#include "ops/color/color_matrix.h"

namespace avida::ops {
namespace {

struct GainArgs {
  float db = 0;
};
struct ClipArgs {
  float level = 1;
};

Scaling level_of(const GainArgs& args) {
  const auto factor = static_cast<float>(std::pow(10.0, args.db / 20));
  if (!std::isfinite(factor)) refuse("expected a gain in decibels that floats can hold, got ", args.db);
  return {factor, 0};
}
float level_of(const ClipArgs& args) {
  if (!(args.level >= 0)) refuse("expected a level of at least 0, got ", args.level);
  return args.level;
}

template <class Body, class Args>
class LevelPlan {
  using Level = decltype(level_of(std::declval<const Args&>()));

 public:
  explicit LevelPlan(const Sample<Args>& sample) : grid_(element_grid(sample.in[0])), level_(level_of(sample.args)) {}

  int64_t rows() const { return grid_.blocks(); }
  void run(const Sample<Args>& sample) const { each_pixel<Body>(sample, grid_, level_); }

 private:
  const PixelGrid grid_;
  const Level level_;
};

template <class Body, class Args>
void level_loop(Op<Args>& op) {
  op.input("signal", "Samples of floats of 16 or 32 bits.")
      .infer([](Infer<Args>& call) {
        const DType dtype = call.in[0].dtype;
        if (dtype != DType::none && !(is_float(dtype) && size_of(dtype) <= 4))
          refuse("expected floats of 16 or 32 bits, got ", dtype, ": convert it by cast");
      })
      .template each_sample<LevelPlan<Body, Args>>();
}

}  // namespace

AVIDA_OP_IN(augment, clip, ClipArgs) {
  op.doc("Cuts sound off where it is too loud, as a microphone does.")
      .arg("level", &ClipArgs::level, "The largest level, of either sign.")
      .example("avida.augment.clip(np.float32([0.2, -0.9]), level=0.5)");
  level_loop<ClipLevel>(op);
}

AVIDA_OP_IN(augment, gain, GainArgs) {
  op.doc("Makes sound louder (above 0) or quieter (below 0), by decibels.")
      .arg("db", &GainArgs::db, "By how many decibels.", required)
      .example("avida.augment.gain(np.float32([0.5, -0.25]), -20)");
  level_loop<Scale>(op);
}

}  // namespace avida::ops
