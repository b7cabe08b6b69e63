#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

struct RoiRandomCropArgs {
  Vec<int64_t> crop_shape;
  std::optional<Vec<int64_t>> in_shape, roi_end, roi_shape;
  Vec<int64_t> roi_start;
};

void check_rank(const char* name, int numbers, int rank) {
  if (numbers != rank) fail(ErrorKind::runtime, "expected ", rank, " numbers for \"", name, "\", got ", numbers);
}

// Where the window may start along an axis: in the region, or around it when the window is larger, and in the input.
struct Starts {
  int64_t first, last;
};

Starts starts(const RoiRandomCropArgs& args, const std::optional<Shape>& extents, int d) {
  const int64_t crop = args.crop_shape[d], start = args.roi_start[d];
  const int64_t end = args.roi_end ? (*args.roi_end)[d] : start + (*args.roi_shape)[d];
  constexpr int64_t most = int64_t{1} << 40;
  if (crop < 0 || crop > most || std::abs(start) > most || std::abs(end) > most)
    fail(ErrorKind::runtime, "expected a window of at least 0 and a region within ", most, ", got ", crop, " and ",
         start, " to ", end);
  Starts range{std::min(start, end - crop), std::max(start, end - crop)};
  if (!extents) return range;
  const int64_t extent = (*extents)[d];
  if (crop > extent)
    fail(ErrorKind::runtime, "expected a window of at most ", extent, ", the input's extent, got ", crop);
  if (start < 0 || end > extent)
    fail(ErrorKind::runtime, "expected a region inside of the input, 0 to ", extent, ", got ", start, " to ", end);
  return {std::max<int64_t>(range.first, 0), std::min(range.last, extent - crop)};
}

void set_shape(Sample<RoiRandomCropArgs>& sample) {
  const RoiRandomCropArgs& args = sample.args;
  if (args.roi_end.has_value() == args.roi_shape.has_value())
    fail(ErrorKind::runtime, "expected \"roi_end\" or \"roi_shape\", got ", args.roi_end ? "both" : "none");
  const int rank = args.crop_shape.size();
  check_rank("roi_start", args.roi_start.size(), rank);
  if (args.roi_end) check_rank("roi_end", args.roi_end->size(), rank);
  if (args.roi_shape) check_rank("roi_shape", args.roi_shape->size(), rank);
  if (args.in_shape) check_rank("in_shape", args.in_shape->size(), rank);
  if (sample.in[0].dtype != DType::none && args.in_shape)
    fail(ErrorKind::runtime, "expected an input or \"in_shape\", got both");
  sample.out[0].shape = {rank};
}

}  // namespace

AVIDA_OP(roi_random_crop, RoiRandomCropArgs) {
  using Args = RoiRandomCropArgs;
  op.doc("Draws where a window starts that lies in a region of interest, or around it when the window is larger.")
      .optional_input("input", "The samples that the windows are for: windows stay inside of them.")
      .arg("crop_shape", &Args::crop_shape, "The extents of the window.", required)
      .arg("in_shape", &Args::in_shape, "The extents of the sample, instead of an input.")
      .arg("roi_end", &Args::roi_end, "Where the region ends.")
      .arg("roi_shape", &Args::roi_shape, "The extents of the region, instead of its end.")
      .arg("roi_start", &Args::roi_start, "Where the region starts.", required)
      .example("avida.roi_random_crop(crop_shape=[2, 2], roi_start=[3, 3], roi_end=[9, 9])")
      .random()
      .infer([](Infer<Args>& call) {
        call.out[0].dtype = DType::int64;
        call.out[0].ndim = 1;
        call.out[0].layout = {};
      })
      .each_sample(set_shape, [](const Sample<Args>& sample) {
        std::optional<Shape> extents;
        if (sample.args.in_shape) {
          extents.emplace();
          for (int64_t extent : *sample.args.in_shape) extents->push_back(extent);
        } else if (sample.in[0].dtype != DType::none) {
          extents = sample.in[0].shape;
          check_rank("crop_shape", sample.args.crop_shape.size(), extents->size());
        }
        RandomStream random(sample.random);
        for (int d = 0; d < sample.args.crop_shape.size(); d++) {
          const Starts range = starts(sample.args, extents, d);
          const int64_t count = std::max<int64_t>(1, range.last - range.first + 1);
          if (count > UINT32_MAX) fail(ErrorKind::runtime, "expected fewer than 2^32 places, got ", count);
          sample.out[0].as<int64_t>()[d] = range.first + random.below(static_cast<unsigned>(count));
        }
      });
}

}  // namespace avida::ops
