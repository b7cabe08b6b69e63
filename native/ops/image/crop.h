// The window of a crop: arguments and arithmetic that crop, its relatives and decoders share.
#pragma once
#include "loops/moving/window.h"
#include "operator/declare.h"

namespace avida::ops {

enum class StartRounding { round, truncate };
AVIDA_CHOICES(StartRounding, "round", "truncate")

struct CropPlace {
  std::optional<Vec<float>> crop;
  std::optional<float> crop_d, crop_h, crop_w;
  float crop_pos_x = 0.5f, crop_pos_y = 0.5f, crop_pos_z = 0.5f;
  StartRounding rounding = StartRounding::round;
};

// Checks what does not need the data.
void check_crop_place(const CropPlace& place, const Inference& call);

// The window of a sample of the given shape; it may exceed the sample.
Window crop_window(const CropPlace& place, const Shape& shape, const Layout& layout);

template <class Args>
Op<Args>& crop_place_args(Op<Args>& op) {
  return op.arg("crop", &Args::crop, "The window's extents, (H, W) or (D, H, W). An extent of 0 keeps the whole axis.")
      .arg("crop_d", &Args::crop_d, "The window's depth, in volumes; the number of frames in videos.")
      .arg("crop_h", &Args::crop_h, "The window's height.")
      .arg("crop_pos_x", &Args::crop_pos_x, "The window's position between the left (0) and the right (1) border.")
      .arg("crop_pos_y", &Args::crop_pos_y, "The window's position between the top (0) and the bottom (1) border.")
      .arg("crop_pos_z", &Args::crop_pos_z, "The window's position between the front (0) and the back (1) of a volume.")
      .arg("crop_w", &Args::crop_w, "The window's width.")
      .arg("rounding", &Args::rounding,
           "How the window's start becomes an integer: \"round\" (half away from zero) or \"truncate\".");
}

}  // namespace avida::ops
