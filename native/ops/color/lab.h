// Converts sRGB bytes to the colour space CIE Lab in bytes (white D65), and back.
// L is scaled to 255, 128 is the zero of a and b. All is computed in integers: histograms of L depend on each rounding.
#pragma once
#include "device/convert.h"
#include "device/math.h"

namespace avida::ops {

constexpr int kLightShift = 3;  // on the way there, linear light is 255 << 3 at most,
constexpr int kRootShift = 15;  // and its cube root 1 << 15
constexpr int kLightValues = 3072;
constexpr int kOne = 1 << 14;  // on the way back, 1 of light and of its cube root
constexpr int kShadeValues = 4096;
constexpr int kWeightShift = 12;  // weights of channels are integers, in units of 1 / 4096

struct LabTables {
  int light[256];           // linear light of a byte
  int root[kLightValues];   // cube root of light, made linear near 0
  int y[256], y_root[256];  // light of a lightness L, and the root of it
  int shade[kShadeValues];  // byte of linear light
};

AVIDA_HD inline void fill(LabTables& tables) {
  auto rounded = [](double x) { return static_cast<int>((x + 0x1p52) - 0x1p52); };  // half to even
  for (int i = 0; i < 256; i++) {
    double x = i / 255.0, light = x <= 0.04045 ? x / 12.92 : math::pow((x + 0.055) / 1.055, 2.4);
    tables.light[i] = rounded((255 << kLightShift) * light);
  }
  for (int i = 0; i < kLightValues; i++) {
    double x = static_cast<double>(i) / (255 << kLightShift);
    double root = x < 0.008856 ? x * 7.787 + 16.0 / 116 : math::cbrt(x);
    // Made float first, as is usual: some lie so close to a half that it decides how they are rounded.
    tables.root[i] = rounded(static_cast<float>((1 << kRootShift) * root));
  }
  for (int i = 0; i < 256; i++) {
    double lightness = i / 255.0 * 100, root = (lightness + 16) / 116;
    bool dark = lightness <= 8;
    tables.y[i] = rounded(kOne * (dark ? lightness * 27 / 24389 : root * root * root));
    tables.y_root[i] = rounded(kOne * (dark ? lightness / 116 + 16.0 / 116 : root));
  }
  for (int i = 0; i < kShadeValues; i++) {
    double x = static_cast<double>(i) / kShadeValues;
    double shade = x <= 0.0031308 ? x * 12.92 : 1.055 * math::pow(x, 1 / 2.4) - 0.055;
    tables.shade[i] = rounded(255 * shade);
  }
}

struct Bytes3 {
  unsigned char at[3];
};

AVIDA_HD AVIDA_INLINE int scaled_back(int x, int shift) { return (x + (1 << (shift - 1))) >> shift; }

// What red, green and blue light add to X, Y and Z (`to` is 0, 1 or 2).
AVIDA_HD AVIDA_INLINE int light_weight(int color, int to) {
  constexpr int weights[3][3] = {{1777, 871, 73}, {1541, 2929, 448}, {778, 296, 3575}};
  return weights[color][to];
}

AVIDA_HD AVIDA_INLINE Bytes3 roots_to_lab(int x, int y, int z) {
  int lightness = scaled_back(296 * y - 1336935, kRootShift);  // 255 / 100 * (116 y - 16)
  int red_green = scaled_back(500 * (x - y), kRootShift) + 128;
  int yellow_blue = scaled_back(200 * (y - z), kRootShift) + 128;
  return {
      {saturate<unsigned char>(lightness), saturate<unsigned char>(red_green), saturate<unsigned char>(yellow_blue)}};
}

AVIDA_HD AVIDA_INLINE Bytes3 rgb_to_lab(const LabTables& tables, Bytes3 rgb) {
  int root[3];
  for (int k = 0; k < 3; k++) {
    int sum = 0;
    for (int c = 0; c < 3; c++) sum += light_weight(c, k) * tables.light[rgb.at[c]];
    root[k] = tables.root[scaled_back(sum, kWeightShift)];
  }
  return roots_to_lab(root[0], root[1], root[2]);
}

// Red, green and blue as indices of the table of shades.
struct Shades {
  int at[3];
};

// y and root are those of the lightness.
AVIDA_HD AVIDA_INLINE Shades lab_to_shades(int y, int root, int a, int b) {
  auto light = [](int root) {
    return root <= kOne * 6 / 29 ? root * 108 / 841 - 290 : ((root * root >> 14) * root) >> 14;
  };
  int x = light(root + ((5 * a * 53687 + 128) >> 13) - 4194);  // + (a - 128) / 500
  int z = light(root - ((b * 41943 + 16) >> 9) + 10484);       // - (b - 128) / 200
  auto place = [](int sum) {
    int i = scaled_back(sum, 14);
    return i < 0 ? 0 : i < kShadeValues ? i : kShadeValues - 1;
  };
  return {{place(12615 * x - 6296 * y - 2223 * z), place(-3773 * x + 7684 * y + 185 * z),
           place(217 * x - 836 * y + 4715 * z)}};
}

AVIDA_HD AVIDA_INLINE Bytes3 lab_to_rgb(const LabTables& tables, Bytes3 lab) {
  Shades shades = lab_to_shades(tables.y[lab.at[0]], tables.y_root[lab.at[0]], lab.at[1], lab.at[2]);
  Bytes3 rgb;
  for (int c = 0; c < 3; c++) rgb.at[c] = static_cast<unsigned char>(tables.shade[shades.at[c]]);
  return rgb;
}

}  // namespace avida::ops
