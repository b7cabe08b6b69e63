#include <cmath>

#include "op/window_args.h"

namespace avida::ops {
namespace {

struct CropArgs : WindowArgs {
  std::optional<Vec<float>> crop;
  std::optional<float> crop_d, crop_h, crop_w;
  float crop_pos_x = 0.5f, crop_pos_y = 0.5f, crop_pos_z = 0.5f;
  std::string rounding = "round";
};

void infer_crop(Infer<CropArgs>& call) {
  infer_window(call.args, call.out[0]);
  auto given = [&](const char* name, bool is_fixed) { return is_fixed || call.call.per_sample(name); };
  auto& args = call.args;
  bool d = given("crop_d", args.crop_d.has_value()), h = given("crop_h", args.crop_h.has_value());
  bool w = given("crop_w", args.crop_w.has_value());
  if (given("crop", args.crop.has_value()) && (d || h || w))
    fail(ErrorKind::runtime, "expected \"crop\" or the extents one by one, got both");
  if (h != w || (d && !h)) fail(ErrorKind::runtime, "expected \"crop_h\" and \"crop_w\" together");
  if (args.rounding != "round" && args.rounding != "truncate")
    fail(ErrorKind::runtime, "expected \"round\" or \"truncate\" as rounding, got \"", args.rounding, '"');
}

struct Extents {
  float d, h, w;
};

Extents wanted_extents(const CropArgs& args) {
  if (!args.crop) return {args.crop_d.value_or(0), args.crop_h.value_or(0), args.crop_w.value_or(0)};
  auto& crop = *args.crop;
  if (crop.size() != 2 && crop.size() != 3)
    fail(ErrorKind::runtime, "expected 2 or 3 numbers in \"crop\", (H, W) or (D, H, W), got ", crop.size());
  return {crop.size() == 3 ? crop[0] : 0, crop[crop.size() - 2], crop[crop.size() - 1]};
}

Window find_window(const Sample<CropArgs>& sample) {
  const SampleView& in = sample.in[0];
  Window window{.start = {}, .size = in.shape};
  window.start.resize(in.ndim(), 0);
  bool rounds = sample.args.rounding == "round";
  auto set = [&](int axis, float wanted, float position) {
    if (axis < 0) return;
    if (!(position >= 0 && position <= 1))
      fail(ErrorKind::runtime, "expected the window's position from 0 to 1, got ", position);
    int64_t size = truncate<int64_t>(wanted);
    if (size > 0) window.size[axis] = size;
    double start = static_cast<double>(position) * static_cast<double>(in.shape[axis] - window.size[axis]);
    window.start[axis] = rounds ? convert<int64_t>(start) : truncate<int64_t>(start);
  };
  Extents wanted = wanted_extents(sample.args);
  int depth = in.layout.find('D');
  if (depth < 0) depth = in.layout.find('F');  // the frames of a video can be cropped like the slices of a volume
  set(depth, wanted.d, sample.args.crop_pos_z);
  set(in.layout.find('H'), wanted.h, sample.args.crop_pos_y);
  set(in.layout.find('W'), wanted.w, sample.args.crop_pos_x);
  return window;
}

}  // namespace

AVIDA_OP(crop, CropArgs) {
  op.doc("Cuts a window of given extents out of images, videos or volumes, at a position between their borders.")
      .input("input", "The samples to crop.",
             {"HWC", "CHW", "DHWC", "CDHW", "FHWC", "FCHW", "CFHW", "FDHWC", "FCDHW", "CFDHW"})
      .arg("crop", &CropArgs::crop, "The window's extents, (H, W) or (D, H, W); 0 leaves an axis whole.")
      .arg("crop_d", &CropArgs::crop_d, "The window's depth, in volumes; the number of frames in videos.")
      .arg("crop_h", &CropArgs::crop_h, "The window's height.")
      .arg("crop_pos_x", &CropArgs::crop_pos_x, "Where the window lies between the left (0) and right (1) border.")
      .arg("crop_pos_y", &CropArgs::crop_pos_y, "Where the window lies between the top (0) and bottom (1) border.")
      .arg("crop_pos_z", &CropArgs::crop_pos_z, "Where the window lies between the front (0) and back (1) of a volume.")
      .arg("crop_w", &CropArgs::crop_w, "The window's width.")
      .arg("dtype", &CropArgs::dtype, kWindowDTypeText)
      .arg("fill_values", &CropArgs::fill_values, kFillValuesText, fixed)
      .arg("image_type", &CropArgs::image_type, "The colour space.", fixed | deprecated)
      .arg("out_of_bounds_policy", &CropArgs::out_of_bounds_policy, kOutOfBoundsText)
      .arg("output_dtype", &CropArgs::output_dtype, kOutputDTypeText)
      .arg("rounding", &CropArgs::rounding,
           "How the window's start becomes an integer: \"round\" (half away from zero) or \"truncate\".")
      .example("avida.crop(image, crop=[2, 3], crop_pos_x=0, crop_pos_y=0)")
      .infer(infer_crop);
  shows_window<find_window>(op);
}

}  // namespace avida::ops
