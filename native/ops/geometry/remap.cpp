#include "ops/geometry/remap.h"

#include "loops/warping/warp.h"
#include "ops/geometry/pixel_origin.h"
#include "ops/scenes/bends.h"

namespace avida::ops {
namespace {

struct RemapArgs {
  Interpolation interp = Interpolation::linear;
  PixelOrigin pixel_origin = PixelOrigin::corner;
};

// One map of the output's height and width, for all frames or for each.
bool has_frames(const SampleView& map, const SampleView& in) {
  return in.layout.find('F') >= 0 && map.ndim() > 2 && map.layout.find('F') == 0;
}

struct Remapping {
  const SampleView &in, &x, &y;
  const float origin;
  const Interpolation interpolation;
  Shape out;
  int64_t width, map_step;  // from the map of one frame to the next; 0: all frames have the same

  explicit Remapping(const Sample<RemapArgs>& sample)
      : in(sample.in[0]),
        x(sample.in[1]),
        y(sample.in[2]),
        origin(distance_of(sample.args.pixel_origin)),
        interpolation(sample.args.interp),
        out(in.shape) {
    if (x.shape != y.shape) refuse("expected maps of one shape, got ", x.shape, " and ", y.shape);
    const int frames = has_frames(x, in), extra = x.ndim() - frames;
    if ((extra != 2 && extra != 3) || (extra == 3 && x.shape[frames + 2] != 1))
      refuse("expected maps with height and width, got the shape ", x.shape);
    if (frames && x.shape[0] != in.shape[0])
      refuse("expected a map for each of ", in.shape[0], " frames, got ", x.shape[0]);
    const int64_t height = out[in.layout.find('H')] = x.shape[frames];
    width = out[in.layout.find('W')] = x.shape[frames + 1];
    map_step = frames ? height * width : 0;
  }

  Shape shape() const { return out; }
  int64_t rows(const Sample<RemapArgs>& sample) const { return WarpSample::rows(sample.out[0]); }
  void run(const Sample<RemapArgs>& sample) const {
    auto map_of = [&](int64_t frame) {
      return Remap{x.as<const float>() + frame * map_step, y.as<const float>() + frame * map_step, width, origin};
    };
    WarpSample(sample, {interpolation, Border::fill, {0}}).run_planes(map_of);
  }
  // The one of all frames.
  Remap map(const Sample<RemapArgs>&) const {
    if (map_step) refuse("expected one map for all frames of a Scene, got one for each");
    return {x.as<const float>(), y.as<const float>(), width, origin};
  }
};

}  // namespace

AVIDA_OP_IN(experimental, remap, RemapArgs) {
  op.doc("Takes each pixel of the output from the position that two maps give for it. Positions outside give 0.")
      .input("input", "The images.", {"HWC", "FHWC", "CHW", "FCHW"})
      .input("mapx", "x for each pixel of the output, float32.", {"HWC", "HW", "FHWC", "FHW"})
      .input("mapy", "y for each pixel of the output, float32.", {"HWC", "HW", "FHWC", "FHW"})
      .arg("interp", &RemapArgs::interp, "Nearest or linear interpolation.", fixed)
      .arg("pixel_origin", &RemapArgs::pixel_origin,
           "Whether (0, 0) is the \"corner\" or the \"center\" of the first pixel.")
      .example(
          "y, x = np.mgrid[:4, :6].astype(np.float32)\n"
          "avida.experimental.remap(image, 5 - x, y, pixel_origin=\"center\")")
      .infer([](Infer<RemapArgs>& call) {
        for (int k : {1, 2})
          if (call.in[k].dtype != DType::float32) refuse("expected maps of float32, got ", call.in[k].dtype);
      })
      .each_sample<Remapping>()
      .cost(8);
}

AVIDA_BENDS_IN(experimental, remap, RemapArgs, Remapping)

}  // namespace avida::ops
