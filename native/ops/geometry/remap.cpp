#include "ops/geometry/remap.h"

#include "op/warp.h"
#include "ops/geometry/pixel_origin.h"

namespace avida::ops {
namespace {

struct RemapArgs {
  int interp = 1;
  std::string pixel_origin = "corner";
};

// One map of the output's height and width, for all frames or for each.
bool has_frames(const SampleView& map, const SampleView& in) {
  return in.layout.find('F') >= 0 && map.ndim() > 2 && map.layout.find('F') == 0;
}

void shape(Sample<RemapArgs>& sample) {
  const SampleView &in = sample.in[0], &x = sample.in[1], &y = sample.in[2];
  if (x.shape != y.shape) fail(ErrorKind::runtime, "expected maps of one shape, got ", x.shape, " and ", y.shape);
  int frames = has_frames(x, in), extra = x.ndim() - frames;
  if ((extra != 2 && extra != 3) || (extra == 3 && x.shape[frames + 2] != 1))
    fail(ErrorKind::runtime, "expected maps with height and width, got the shape ", x.shape);
  if (frames && x.shape[0] != in.shape[0])
    fail(ErrorKind::runtime, "expected a map for each of ", in.shape[0], " frames, got ", x.shape[0]);
  sample.out[0].shape = in.shape;
  sample.out[0].shape[in.layout.find('H')] = x.shape[frames];
  sample.out[0].shape[in.layout.find('W')] = x.shape[frames + 1];
}

void remap(const Sample<RemapArgs>& sample) {
  const SampleView &in = sample.in[0], &out = sample.out[0], &x = sample.in[1], &y = sample.in[2];
  const int64_t width = out.shape[out.layout.find('W')], pixels = width * out.shape[out.layout.find('H')];
  const int64_t step = has_frames(x, in) ? pixels : 0;
  const float origin = origin_of(sample.args.pixel_origin);
  WarpSample(in, out, {is_linear(sample.args.interp), Border::fill, {0}}, sample.launches)
      .run_planes(
          [&](int64_t frame) {
            return Remap{x.as<const float>() + frame * step, y.as<const float>() + frame * step, width, origin};
          },
          sample.begin, sample.end);
}

}  // namespace

AVIDA_OP_IN(experimental, remap, RemapArgs) {
  op.doc("Takes each pixel of the output from the place that two maps give for it; 0 where that lies outside.")
      .input("input", "The images.", {"HWC", "FHWC"})
      .input("mapx", "x for each pixel of the output, float32.", {"HWC", "HW", "FHWC", "FHW"})
      .input("mapy", "y for each pixel of the output, float32.", {"HWC", "HW", "FHWC", "FHW"})
      .arg("interp", &RemapArgs::interp, "Nearest or linear interpolation.", fixed)
      .arg("pixel_origin", &RemapArgs::pixel_origin,
           "Whether (0, 0) is the \"corner\" or the \"center\" of the first pixel.")
      .example(
          "y, x = np.mgrid[:4, :6].astype(np.float32)\n"
          "avida.experimental.remap(image, 5 - x, y, pixel_origin=\"center\")")
      .infer([](Infer<RemapArgs>& call) {
        is_linear(call.args.interp);
        origin_of(call.args.pixel_origin);
        for (int k : {1, 2})
          if (call.in[k].dtype != DType::float32)
            fail(ErrorKind::runtime, "expected maps of float32, got ", call.in[k].dtype);
      })
      .each_sample(shape, remap)
      .rows([](const Sample<RemapArgs>& sample) { return WarpSample::rows(sample.out[0]); })
      .on_gpu()
      .cost(8);
}

}  // namespace avida::ops
