// The place of a crop's window: of the operator crop, and of decoders that cut while they decode.
#pragma once
#include <string>

#include "op/op.h"
#include "op/window.h"

namespace avida::ops {

struct CropPlace {
  std::optional<Vec<float>> crop;
  std::optional<float> crop_d, crop_h, crop_w;
  float crop_pos_x = 0.5f, crop_pos_y = 0.5f, crop_pos_z = 0.5f;
  std::string rounding = "round";
};

// Checks what does not need the data.
void check_crop_place(const CropPlace& place, const Inference& call);

// The window of a sample of that shape, which may reach beyond it.
Window crop_window(const CropPlace& place, const Shape& shape, const Layout& layout);

template <class Args>
Op<Args>& crop_place_args(Op<Args>& op) {
  return op.arg("crop", &Args::crop, "The window's extents, (H, W) or (D, H, W); 0 leaves an axis whole.")
      .arg("crop_d", &Args::crop_d, "The window's depth, in volumes; the number of frames in videos.")
      .arg("crop_h", &Args::crop_h, "The window's height.")
      .arg("crop_pos_x", &Args::crop_pos_x, "Where the window lies between the left (0) and right (1) border.")
      .arg("crop_pos_y", &Args::crop_pos_y, "Where the window lies between the top (0) and bottom (1) border.")
      .arg("crop_pos_z", &Args::crop_pos_z, "Where the window lies between the front (0) and back (1) of a volume.")
      .arg("crop_w", &Args::crop_w, "The window's width.")
      .arg("rounding", &Args::rounding,
           "How the window's start becomes an integer: \"round\" (half away from zero) or \"truncate\".");
}

}  // namespace avida::ops
