#include "ops/noise/jpeg_compression_distortion.h"

#include <array>

#include "codecs/jpeg/jpeg_distortion.h"
#include "operator/declare.h"
#include "operator/launches.h"

namespace avida::ops {
namespace {

struct JpegDistortionArgs {
  int quality = 50;
};

void set_shape(Sample<JpegDistortionArgs>& sample) {
  const Shape& shape = sample.in[0].shape;
  const int64_t channels = shape[shape.size() - 1];
  if (channels != 3 && channels != 1) refuse("expected 3 channels, or 1 for gray, got the shape ", shape);
  sample.out[0].shape = shape;
}

// The quantization tables of the standard, row by row. Steps grow as the quality falls.
uint16_t quantization_step(int table, int k, int quality) {
  static constexpr uint8_t standard[2][64] = {
      {16, 11,  10,  16, 24, 40, 51, 61, 12,  12,  14,  19,  26, 58, 60, 55,  14,  13,  16,  24, 40, 57,
       69, 56,  14,  17, 22, 29, 51, 87, 80,  62,  18,  22,  37, 56, 68, 109, 103, 77,  24,  35, 55, 64,
       81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98,  112, 100, 103, 99},
      {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
       99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
       99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99}};
  quality = std::clamp(quality, 1, 100);
  const int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  return static_cast<uint16_t>(std::clamp((standard[table][k] * percent + 50) / 100, 1, 255));
}

void launch(const Sample<JpegDistortionArgs>& sample) {
  const Shape& shape = sample.in[0].shape;
  const int first = shape.size() - 3;
  if (sample.in[0].elements() == 0) return;
  constexpr int64_t most = 65500;  // the limit of JPEG files
  if (shape[first] > most || shape[first + 1] > most)
    refuse("expected at most ", most, " rows and columns, got the shape ", shape);
  JpegLosses::Params losses{};
  std::array<Quantization, 2> tables;
  for (int table = 0; table < 2; table++)
    for (int k = 0; k < 64; k++) {
      const unsigned divisor = quantization_step(table, k, sample.args.quality) * 8u;
      tables[table].steps[k] = {divisor, UINT32_MAX / divisor + 1};
    }
  losses.tables = readable(sample, tables);
  JpegPlanes& image = losses.image;
  image = {nullptr, static_cast<int>(shape[first]), static_cast<int>(shape[first + 1]),
           static_cast<int>(shape[first + 2])};
  losses.tiles_across = Divisor::of(image.tiles_across());
  const int64_t bytes = shape[first] * shape[first + 1] * shape[first + 2];
  const int64_t plane_bytes = image.channels == 1 ? 0 : image.luma_bytes() / 2 * 3;
  Launches& launches = *sample.launches;
  auto* planes = plane_bytes ? static_cast<uint8_t*>(launches.scratch(sample.end * plane_bytes)) : nullptr;
  for (int64_t frame = 0; frame < sample.end; frame++) {
    losses.gray = sample.out[0].as<uint8_t>() + frame * bytes;
    losses.in = sample.in[0].as<uint8_t>() + frame * bytes;
    image.planes = planes + frame * plane_bytes;
    for (int k = 0; k < image.channels; k++) losses.plane[k] = image.channels == 1 ? nullptr : image.plane(k);
    launches.add<JpegLosses>(0, int64_t{image.tiles_down()} * image.tiles_across(), losses);
  }
  if (image.channels == 1) return;
  launches.then();
  using Pixels = JpegPixels<2, 2>;
  for (int64_t frame = 0; frame < sample.end; frame++) {
    image.planes = planes + frame * plane_bytes;
    unsigned char* out = sample.out[0].as<uint8_t>() + frame * bytes;
    if (JpegColors::takes(image) && reinterpret_cast<uintptr_t>(out) % 4 == 0) {
      launches.add<JpegColors>(0, int64_t{image.chroma_height()} * JpegColors::items_per_row(image.width),
                               {out, image});
      continue;
    }
    launches.add<Pixels>(0, int64_t{image.height} * Pixels::items_per_row(image.width),
                         {out,
                          int64_t{3} * image.width,
                          3,
                          {image.plane(0), image.plane(1), image.plane(2)},
                          {image.step(), image.step() / 2, image.step() / 2},
                          image.chroma_width(),
                          image.chroma_height(),
                          0,
                          0,
                          image.height,
                          image.width,
                          false});
  }
}

}  // namespace

AVIDA_OP(jpeg_compression_distortion, JpegDistortionArgs) {
  using Args = JpegDistortionArgs;
  op.doc("Adds JPEG compression artefacts: encodes and decodes images.")
      .input("input", "Images or videos, RGB or gray, of uint8.", {"HWC", "FHWC"})
      .arg("quality", &Args::quality, "The JPEG quality, from 1 (strong artefacts) to 100 (weak artefacts).")
      .example("avida.jpeg_compression_distortion(image, quality=10)")
      .infer([](Infer<Args>& call) {
        if (call.in[0].dtype != DType::uint8) refuse("expected images of uint8, got ", call.in[0].dtype);
      })
      .each_sample(set_shape,
                   [](const Sample<Args>& sample) {
                     if (sample.launches) return launch(sample);
                     const Shape& shape = sample.in[0].shape;
                     const int first = shape.size() - 3;
                     const codecs::JpegPixels pixels{static_cast<int>(shape[first]), static_cast<int>(shape[first + 1]),
                                                     static_cast<int>(shape[first + 2])};
                     const int64_t size = shape[first] * shape[first + 1] * shape[first + 2];
                     if (size == 0) return;
                     for (int64_t frame = sample.begin; frame < sample.end; frame++)
                       codecs::distort_by_jpeg(sample.in[0].as<uint8_t>() + frame * size,
                                               sample.out[0].as<uint8_t>() + frame * size, pixels, sample.args.quality);
                   })
      .rows([](const Sample<Args>& sample) {
        return sample.in[0].shape.size() == 4 ? sample.in[0].shape[0] : int64_t{1};
      })
      .cost(30);
}

}  // namespace avida::ops
