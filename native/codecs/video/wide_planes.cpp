#include "codecs/video/wide_planes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/clones.h"
#include "device/macros.h"

namespace avida::codecs {
namespace {

// SMPTE ST 2084 (PQ) and ARIB STD-B67 (HLG), to light of 1 for the white of SDR, which BT.2408 puts at 203 cd/m2.
constexpr float kWhite = 203, kPeak = 1000;  // cd/m2: of a usual display of HDR

float light_of_pq(float code) {
  constexpr double m1 = 2610.0 / 16384, m2 = 2523.0 / 32, c1 = 3424.0 / 4096, c2 = 2413.0 / 128, c3 = 2392.0 / 128;
  const double power = std::pow(static_cast<double>(code), 1 / m2);
  const double linear = std::pow(std::max(power - c1, 0.0) / (c2 - c3 * power), 1 / m1);
  return static_cast<float>(10000 * linear / kWhite);
}

float scene_light_of_hlg(float code) {
  constexpr double a = 0.17883277, b = 1 - 4 * a;
  const double c = 0.5 - a * std::log(4 * a), signal = code;
  return static_cast<float>(signal <= 0.5 ? signal * signal / 3 : (std::exp((signal - c) / a) + b) / 12);
}

float srgb_of_light(float light) {
  return static_cast<float>(light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(double{light}, 1 / 2.4) - 0.055);
}

// A function of codes from 0 to 1, as a table that is interpolated.
class Curve {
 public:
  template <class Function>
  explicit Curve(const Function& function) : values_(kSteps + 2) {
    for (int i = 0; i <= kSteps; i++) values_[i] = function(static_cast<float>(i) / kSteps);
    values_[kSteps + 1] = values_[kSteps];
  }
  float operator()(float x) const {
    const float at = std::clamp(x, 0.0f, 1.0f) * kSteps;
    const int step = static_cast<int>(at);
    return values_[step] + (values_[step + 1] - values_[step]) * (at - static_cast<float>(step));
  }

 private:
  static constexpr int kSteps = 4096;
  std::vector<float> values_;
};

// The curve of the display: light below three quarters of white stays as it is, what is above bends towards 1, which
// the peak reaches.
float bend(float light) {
  constexpr float knee = 0.75f, peak = kPeak / kWhite;
  if (light <= knee) return light;
  const float beyond = std::min(light, peak) - knee, room = 1 - knee, most = peak - knee;
  // Reinhard's curve with a white point: its slope is 1 at the knee.
  const float x = beyond / room, w = most / room;
  return knee + room * x * (1 + x / (w * w)) / (1 + x);
}

// Turns one pixel of RGB codes, from 0 to 1, to sRGB.
class ToneMap {
 public:
  ToneMap(Transfer transfer, bool is_bt2020)
      : transfer_(transfer),
        is_bt2020_(is_bt2020),
        light_(curve_of(transfer)),
        // The fourth root of light, so that the steps of the table are fine in the dark.
        code_([transfer](float root) {
          const float light = root * root * root * root;
          return transfer == Transfer::sdr ? static_cast<float>(std::pow(double{light}, 1 / 2.4))
                                           : srgb_of_light(light);
        }) {}

  void run(float* rgb, int n) const {
    for (int i = 0; i < n; i++, rgb += 3) pixel(rgb);
  }

 private:
  static Curve curve_of(Transfer transfer) {
    switch (transfer) {
      case Transfer::pq:
        return Curve(light_of_pq);
      case Transfer::hlg:
        return Curve(scene_light_of_hlg);
      case Transfer::sdr:
        break;
    }
    return Curve([](float code) { return static_cast<float>(std::pow(double{code}, 2.4)); });  // BT.1886
  }

  void pixel(float* rgb) const {
    float r = light_(rgb[0]), g = light_(rgb[1]), b = light_(rgb[2]);
    if (transfer_ == Transfer::hlg) {  // BT.2100's way from the scene to a display of 1000 cd/m2: a power of 1.2
      const float luma = 0.2627f * r + 0.678f * g + 0.0593f * b;
      const float gain = luma > 0 ? std::pow(luma, 0.2f) * (kPeak / kWhite) : 0;
      r *= gain, g *= gain, b *= gain;
    }
    if (transfer_ != Transfer::sdr) {  // of the brightest channel, so that colours keep their hue
      const float most = std::max({r, g, b});
      const float gain = most > 0 ? bend(most) / most : 0;
      r *= gain, g *= gain, b *= gain;
    }
    if (is_bt2020_) {  // BT.2087
      const float red = 1.6605f * r - 0.5876f * g - 0.0728f * b, green = -0.1246f * r + 1.1329f * g - 0.0083f * b;
      b = -0.0182f * r - 0.1006f * g + 1.1187f * b;
      r = red, g = green;
    }
    rgb[0] = coded(r), rgb[1] = coded(g), rgb[2] = coded(b);
  }
  float coded(float light) const { return code_(std::sqrt(std::sqrt(std::clamp(light, 0.0f, 1.0f)))); }

  Transfer transfer_;
  bool is_bt2020_;
  Curve light_, code_;
};

struct Mix {
  float by[3][3], offset[3];
};

// From planes in 256ths of 8-bit codes to channels from 0 to 1.
Mix mix_to_unit(const PicturePlanes& picture) {
  const ToRgb rgb = to_rgb(picture);
  // White in full range is 255.75 of 10 bits, not 255.
  const bool full = picture.full_range || picture.is_rgb;
  const int more = picture.bits - 8;
  const double white = full ? static_cast<double>((1 << picture.bits) - 1) / (1 << more) : 255;
  Mix mix;
  for (int c = 0; c < 3; c++) {
    for (int k = 0; k < 3; k++) mix.by[c][k] = static_cast<float>(rgb.by[c][k] / white / (1 << kPlaneFraction));
    mix.offset[c] = static_cast<float>(rgb.offset[c] / white);
  }
  return mix;
}

AVIDA_CLONES void mix_row(const uint16_t* __restrict a, const uint16_t* __restrict b, const uint16_t* __restrict c,
                          float* __restrict out, int n, const Mix& mix) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) {
      const float sum = mix.by[k][0] * static_cast<float>(a[i]) + mix.by[k][1] * static_cast<float>(b[i]) +
                        mix.by[k][2] * static_cast<float>(c[i]) + mix.offset[k];
      out[3 * i + k] = std::min(std::max(sum, 0.0f), 1.0f);
    }
}

template <class T>
AVIDA_INLINE void round_to(const float* __restrict from, T* __restrict to, int64_t n, float white) {
  for (int64_t i = 0; i < n; i++) to[i] = static_cast<T>(from[i] * white + 0.5f);
}
AVIDA_CLONES void store(const float* from, uint8_t* to, int64_t n) { round_to(from, to, n, 255); }
AVIDA_CLONES void store(const float* from, uint16_t* to, int64_t n) { round_to(from, to, n, 65535); }

}  // namespace

void interleave_wide(const PicturePlanes& picture, const WideRequest& request, void* out) {
  const Mix mix = mix_to_unit(picture);
  const bool maps = request.tone_map && (picture.transfer != Transfer::sdr || picture.is_bt2020);
  std::optional<ToneMap> map;
  if (maps) map.emplace(picture.transfer, picture.is_bt2020);
  const int n = picture.width;
  const int64_t row = int64_t{3} * n;
  std::vector<float> pixels(static_cast<size_t>(row));
  each_plane_row(picture, [&](int y, const uint16_t* a, const uint16_t* b, const uint16_t* c) {
    mix_row(a, b, c, pixels.data(), n, mix);
    if (map) map->run(pixels.data(), n);
    if (request.dtype == DType::uint8)
      store(pixels.data(), static_cast<uint8_t*>(out) + y * row, row);
    else if (request.dtype == DType::uint16)
      store(pixels.data(), static_cast<uint16_t*>(out) + y * row, row);
    else
      std::copy(pixels.begin(), pixels.end(), static_cast<float*>(out) + y * row);
  });
}

}  // namespace avida::codecs
