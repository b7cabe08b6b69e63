#include "operator/declare.h"

namespace avida::ops {
namespace {

struct RoiRandomCropArgs {
  Vec<int64_t> crop_shape;
  std::optional<Vec<int64_t>> in_shape, roi_end, roi_shape;
  Vec<int64_t> roi_start;
};

void check_rank(const char* name, int numbers, int rank) {
  if (numbers != rank) refuse("expected ", rank, " numbers for \"", name, "\", got ", numbers);
}

class RoiRandomCrop {
 public:
  explicit RoiRandomCrop(const Sample<RoiRandomCropArgs>& sample) : args_(sample.args) {
    const int rank = args_.crop_shape.size();
    const bool has_input = sample.in[0].dtype != DType::none;
    if (args_.roi_end.has_value() == args_.roi_shape.has_value())
      refuse("expected \"roi_end\" or \"roi_shape\", got ", args_.roi_end ? "both" : "none");
    check_rank("roi_start", args_.roi_start.size(), rank);
    if (args_.roi_end) check_rank("roi_end", args_.roi_end->size(), rank);
    if (args_.roi_shape) check_rank("roi_shape", args_.roi_shape->size(), rank);
    if (args_.in_shape) check_rank("in_shape", args_.in_shape->size(), rank);
    if (has_input && args_.in_shape) refuse("expected an input or \"in_shape\", got both");
    if (has_input) check_rank("crop_shape", rank, sample.in[0].ndim());
    RandomStream random(sample.random);
    for (int d = 0; d < rank; d++) {
      std::optional<int64_t> extent;
      if (args_.in_shape) extent = (*args_.in_shape)[d];
      if (has_input) extent = sample.in[0].shape[d];
      draw(d, extent, random);
    }
  }

  Shape shape() const { return {starts_.size()}; }
  void run(const Sample<RoiRandomCropArgs>& sample) const { std::ranges::copy(starts_, sample.out[0].as<int64_t>()); }

 private:
  // Along an axis the window starts in the region, or around it when the window is larger, and stays in the input.
  void draw(int d, std::optional<int64_t> extent, RandomStream& random) {
    const int64_t crop = args_.crop_shape[d], start = args_.roi_start[d];
    const int64_t end = args_.roi_end ? (*args_.roi_end)[d] : start + (*args_.roi_shape)[d];
    constexpr int64_t most = int64_t{1} << 40;
    if (crop < 0 || crop > most || std::abs(start) > most || std::abs(end) > most)
      refuse("expected a window of at least 0 and a region within ", most, ", got ", crop, " and ", start, " to ", end);
    int64_t first = std::min(start, end - crop), last = std::max(start, end - crop);
    if (extent) {
      if (crop > *extent) refuse("expected a window of at most ", *extent, ", the input's extent, got ", crop);
      if (start < 0 || end > *extent)
        refuse("expected a region inside of the input, 0 to ", *extent, ", got ", start, " to ", end);
      first = std::max<int64_t>(first, 0);
      last = std::min(last, *extent - crop);
    }
    const int64_t count = std::max<int64_t>(1, last - first + 1);
    if (count > UINT32_MAX) refuse("expected fewer than 2^32 possible starts, got ", count);
    starts_.push_back(first + random.below(static_cast<unsigned>(count)));
  }

  const RoiRandomCropArgs& args_;
  Vec<int64_t> starts_;
};

}  // namespace

AVIDA_OP(roi_random_crop, RoiRandomCropArgs) {
  using Args = RoiRandomCropArgs;
  op.doc(
        "Draws the start of a random window in a region of interest. A window that is larger than the region contains "
        "it.")
      .optional_input("input", "The samples that windows are drawn for; windows stay inside of them.")
      .arg("crop_shape", &Args::crop_shape, "The extents of the window.", required)
      .arg("in_shape", &Args::in_shape, "The extents of the sample, instead of an input.")
      .arg("roi_end", &Args::roi_end, "The end of the region.")
      .arg("roi_shape", &Args::roi_shape, "The extents of the region, instead of its end.")
      .arg("roi_start", &Args::roi_start, "The start of the region.", required)
      .example("avida.roi_random_crop(crop_shape=[2, 2], roi_start=[3, 3], roi_end=[9, 9])")
      .random()
      .infer([](Infer<Args>& call) {
        call.out[0].dtype = DType::int64;
        call.out[0].ndim = 1;
        call.out[0].layout = {};
      })
      .on_cpu()
      .each_sample<RoiRandomCrop>();
}

}  // namespace avida::ops
