// The window that crop and its relatives cut out: given extents, at a position between the borders.
#pragma once
#include "op/window_args.h"

namespace avida::ops {

struct CropWindowArgs {
  std::optional<Vec<float>> crop;
  std::optional<float> crop_d, crop_h, crop_w;
  float crop_pos_x = 0.5f, crop_pos_y = 0.5f, crop_pos_z = 0.5f;
  std::string rounding = "round";
};

constexpr const char* kCropText = "The window's extents, (H, W) or (D, H, W); 0 leaves an axis whole.";
constexpr const char* kCropDText = "The window's depth, in volumes; the number of frames in videos.";
constexpr const char* kCropHText = "The window's height.";
constexpr const char* kCropWText = "The window's width.";
constexpr const char* kCropPosXText = "Where the window lies between the left (0) and right (1) border.";
constexpr const char* kCropPosYText = "Where the window lies between the top (0) and bottom (1) border.";
constexpr const char* kCropPosZText = "Where the window lies between the front (0) and back (1) of a volume.";
constexpr const char* kRoundingText =
    "How the window's start becomes an integer: \"round\" (half away from zero) or \"truncate\".";

// Checks what does not need the data.
void check_crop(const CropWindowArgs& args, const Inference& call);

// The window in a sample of this shape and layout; it may reach beyond the sample.
Window crop_window(const CropWindowArgs& args, const Shape& shape, const Layout& layout);

}  // namespace avida::ops
