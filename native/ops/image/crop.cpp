#include "ops/image/crop.h"

#include <cmath>

#include "codecs/codec.h"
#include "loops/moving/window_args.h"
#include "ops/scenes/moves.h"

namespace avida::ops {

void check_crop_place(const CropPlace& place, const Inference& call) {
  auto given = [&](const char* name, bool is_fixed) { return is_fixed || call.per_sample(name); };
  bool d = given("crop_d", place.crop_d.has_value()), h = given("crop_h", place.crop_h.has_value());
  bool w = given("crop_w", place.crop_w.has_value());
  if (given("crop", place.crop.has_value()) && (d || h || w))
    refuse("expected \"crop\" or the extents one by one, got both");
  if (h != w || (d && !h)) refuse("expected \"crop_h\" and \"crop_w\" together");
}

namespace {

struct CropArgs : WindowArgs, CropPlace {};

struct Extents {
  float d, h, w;
};

Extents wanted_extents(const CropPlace& place) {
  if (!place.crop) return {place.crop_d.value_or(0), place.crop_h.value_or(0), place.crop_w.value_or(0)};
  auto& crop = *place.crop;
  if (crop.size() != 2 && crop.size() != 3)
    refuse("expected 2 or 3 numbers in \"crop\", (H, W) or (D, H, W), got ", crop.size());
  return {crop.size() == 3 ? crop[0] : 0, crop[crop.size() - 2], crop[crop.size() - 1]};
}

}  // namespace

Window crop_window(const CropPlace& place, const Shape& shape, const Layout& layout) {
  Window window{.start = {}, .size = shape};
  window.start.resize(shape.size(), 0);
  bool rounds = place.rounding == StartRounding::round;
  auto set = [&](int axis, float wanted, float position) {
    const int64_t size = truncate<int64_t>(wanted);
    if (axis < 0 || size <= 0) return;  // the whole extent, wherever the position is
    if (!(position >= 0 && position <= 1)) refuse("expected the window's position from 0 to 1, got ", position);
    window.size[axis] = size;
    double start = static_cast<double>(position) * static_cast<double>(shape[axis] - window.size[axis]);
    window.start[axis] = rounds ? convert<int64_t>(start) : truncate<int64_t>(start);
  };
  Extents wanted = wanted_extents(place);
  int depth = layout.find('D');
  if (depth < 0) depth = layout.find('F');  // the frames of a video can be cropped like the slices of a volume
  set(depth, wanted.d, place.crop_pos_z);
  set(layout.find('H'), wanted.h, place.crop_pos_y);
  set(layout.find('W'), wanted.w, place.crop_pos_x);
  return window;
}

namespace {

void infer_crop(Infer<CropArgs>& call) {
  infer_window(call.args, call.out[0]);
  check_crop_place(call.args, call.call);
}

Window find_window(const Sample<CropArgs>& sample) {
  return crop_window(sample.args, sample.in[0].shape, sample.in[0].layout);
}

Moves crop_moves(const Sample<CropArgs>& sample) {
  Window window = find_window(sample);
  fit_window(window, sample.in[0], sample.args);
  return moves_to_window(window, sample.in[0]);
}

}  // namespace

AVIDA_OP(crop, CropArgs) {
  op.doc(
        "Crops images, videos or volumes to a window of given extents. The position of the window is a "
        "fraction of the space between the borders: 0.5 is the centre.")
      .input("input", "The samples to crop.",
             {"HWC", "CHW", "DHWC", "CDHW", "FHWC", "FCHW", "CFHW", "FDHWC", "FCDHW", "CFDHW"})
      .arg("dtype", &CropArgs::dtype, kWindowDTypeText)
      .arg("fill_values", &CropArgs::fill_values, kFillValuesText, fixed | takes_nan)
      .ignored("image_type", codecs::ImageType::rgb)
      .arg("out_of_bounds_policy", &CropArgs::out_of_bounds_policy, kOutOfBoundsText)
      .arg("output_dtype", &CropArgs::output_dtype, kOutputDTypeText)
      .example("avida.crop(image, crop=[2, 3], crop_pos_x=0, crop_pos_y=0)")
      .infer(infer_crop);
  crop_place_args(op);
  shows_window<find_window>(op).chains();
}

AVIDA_MOVES(crop, CropArgs, crop_moves)

}  // namespace avida::ops
