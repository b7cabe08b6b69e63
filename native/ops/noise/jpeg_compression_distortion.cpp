#include "ops/noise/jpeg_compression_distortion.h"

#include <array>
#include <cstring>

#include "codecs/jpeg/pixels/pixel_vectors.h"
#include "core/made_once.h"
#include "operator/declare.h"
#include "operator/launches.h"
#include "ops/noise/lossy_rows.h"
#include "runtime/memory.h"

namespace avida::ops {
namespace {

struct JpegDistortionArgs {
  int quality = 50;
};

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

// The pixels of images.
struct Extents {
  int64_t frames;
  int height, width, channels;

  explicit Extents(const Shape& shape) : frames(shape.size() == 4 ? shape[0] : 1) {
    constexpr int64_t most = 65500;  // the limit of JPEG files
    const int first = shape.size() - 3;
    if (shape[first + 2] != 3 && shape[first + 2] != 1)
      refuse("expected 3 channels, or 1 for gray, got the shape ", shape);
    if (shape[first] > most || shape[first + 1] > most)
      refuse("expected at most ", most, " rows and columns, as JPEG files have, got the shape ", shape);
    height = static_cast<int>(shape[first]);
    width = static_cast<int>(shape[first + 1]);
    channels = static_cast<int>(shape[first + 2]);
  }
  int64_t frame_bytes() const { return int64_t{height} * width * channels; }
};

// Makes a frame on the CPU, a row of MCUs after the other. Its planes hold the samples of the last two of them. A row
// of pixels is made when the rows of chroma above and below it are there.
class DistortedFrame {
 public:
  static constexpr int kRows = 16;  // of pixels in an MCU

  static int mcus(const Extents& image) { return (image.height + kRows - 1) / kRows; }

  DistortedFrame(const uint8_t* in, uint8_t* out, const Extents& image, int quality)
      : in_(in), out_(out), image_(image), chroma_width_((image.width + 1) / 2) {
    for (int table = 0; table < 2; table++)
      for (int k = 0; k < 64; k++) factors_[table].set(k, quantization_step(table, k, quality));
    const int64_t stride = (image.width + 63) / 64 * 64 + 2 * kMargin, rows = 2 * kRows;
    memory_ = allocate(stride * rows * int64_t{sizeof(int16_t) + 2});
    auto* samples = static_cast<int16_t*>(memory_.get());
    auto* made = reinterpret_cast<uint8_t*>(samples + stride * rows);
    for (int c = 0; c < image.channels; c++) {
      plane_[c] = {c == 0 ? kRows : kRows / 2, stride, samples, made};
      samples += stride * plane_[c].rows;
      made += stride * plane_[c].rows * 2;
    }
  }

  // Makes the rows of pixels of the MCUs from `begin` to `end`.
  void make(int begin, int end) {
    const bool waits = image_.channels == 3;  // the last row of pixels, for the next row of chroma
    if (waits && begin > 0) make_samples(begin - 1, 1);
    int y = kRows * begin;
    for (int mcu = begin; mcu < end; mcu++) {
      make_samples(mcu, 0);
      const int made = std::min(image_.height, kRows * (mcu + 1) - (waits ? 1 : 0));
      for (; y < made; y++) write_row(y);
    }
    if (y == image_.height || !waits) return;
    if (end < mcus(image_)) make_samples(end, 1);
    write_row(y);
  }

 private:
  static constexpr int kMargin = codecs::kPixelMargin;
  struct Plane {
    int rows;  // of samples in an MCU
    int64_t stride;
    int16_t* samples;  // of an MCU, centred on 0
    uint8_t* made;     // of two

    int16_t* sample_row(int y) const { return samples + y % rows * stride; }
    uint8_t* row(int y) const { return made + y % (2 * rows) * stride + kMargin; }
  };

  // The samples of the planes from the first one on.
  void make_samples(int mcu, int first) {
    for (int y = kRows * mcu; y < kRows * (mcu + 1); y += 2) split_rows(y);
    for (int c = first; c < image_.channels; c++) {
      const Plane& plane = plane_[c];
      const int width = c == 0 ? image_.width : chroma_width_, begin = plane.rows * mcu;
      for (int y = begin; y < begin + plane.rows; y += 8)
        lose_detail(plane.sample_row(y), plane.stride, width, factors_[c > 0], plane.row(y), plane.stride);
      if (c == 0) continue;
      for (int y = begin; y < begin + plane.rows; y++) {  // upsampling needs a sample beyond the edges
        uint8_t* row = plane.row(y);
        row[-1] = row[0];
        row[width] = row[width - 1];
      }
    }
  }

  // Two rows of pixels. Below the image its last rows of samples are repeated.
  void split_rows(int y) const {
    if (y >= image_.height) {
      const auto repeat = [](const Plane& plane, int to, int from) {
        std::memcpy(plane.sample_row(to), plane.sample_row(from), sizeof(int16_t) * static_cast<size_t>(plane.stride));
      };
      repeat(plane_[0], y, y - 1);
      repeat(plane_[0], y + 1, y - 1);
      for (int c = 1; c < image_.channels; c++) repeat(plane_[c], y / 2, y / 2 - 1);
      return;
    }
    const auto pixels = [&](int row) {
      return in_ + int64_t{std::min(row, image_.height - 1)} * image_.width * image_.channels;
    };
    int16_t *upper = plane_[0].sample_row(y), *lower = plane_[0].sample_row(y + 1);
    if (image_.channels == 3)
      return split_colors(pixels(y), pixels(y + 1), image_.width,
                          {upper, lower, plane_[1].sample_row(y / 2), plane_[2].sample_row(y / 2)});
    split_gray(pixels(y), image_.width, upper);
    split_gray(pixels(y + 1), image_.width, lower);
  }

  void write_row(int y) const {
    uint8_t* out = out_ + int64_t{y} * image_.width * image_.channels;
    const uint8_t* luma = plane_[0].row(y);
    if (image_.channels == 1) {
      std::memcpy(out, luma, static_cast<size_t>(image_.width));
      return;
    }
    codecs::PixelRow pixels{out, 0, image_.width, luma, {}, {}, 2, 2, y % 2 == 1, false};
    const int near = y / 2, far = std::clamp(y % 2 ? near + 1 : near - 1, 0, (image_.height - 1) / 2);
    uint8_t repeated[2][4 + kMargin];
    for (int c = 0; c < 2; c++) {
      const Plane& plane = plane_[1 + c];
      pixels.near[c] = plane.row(near);
      pixels.far[c] = plane.row(far);
      if (chroma_width_ > 2) continue;  // these are not interpolated, but repeated
      for (int x = 0; x < image_.width; x++) repeated[c][x] = pixels.near[c][x / 2];
      pixels.near[c] = pixels.far[c] = repeated[c];
      pixels.columns = pixels.rows = 1;
    }
    codecs::write_pixels(pixels);
  }

  const uint8_t* const in_;
  uint8_t* const out_;
  const Extents& image_;
  const int chroma_width_;
  LossyFactors factors_[2];  // of luma and of the other planes
  Plane plane_[3];
  Block memory_;
};

// For luma and for the other planes. Making them takes longer than anything else that the host does for a sample.
using Tables = std::array<Quantization, 2>;
const Tables& tables_for(int quality) {
  using All = std::array<Tables, 101>;
  static constinit MadeOnce<const All> all;
  const auto make = [] {
    auto made = std::make_unique<All>();
    for (int q = 1; q <= 100; q++)
      for (int table = 0; table < 2; table++)
        for (int k = 0; k < 64; k++) {
          const int step = quantization_step(table, k, q);
          (*made)[q][table].steps[k] = {static_cast<int>((int64_t{1} << 32) / (8 * step)) + 1, step};
        }
    return made;
  };
  return all.get(make)[static_cast<size_t>(std::clamp(quality, 1, 100))];
}

void launch(const Sample<JpegDistortionArgs>& sample, const Extents& extents) {
  JpegLosses::Params losses{};
  losses.tables = readable(sample, tables_for(sample.args.quality));
  JpegPlanes& image = losses.image;
  image = {nullptr, extents.height, extents.width, extents.channels};
  losses.tiles_across = Divisor::of(image.tiles_across());
  const int64_t bytes = extents.frame_bytes();
  const int64_t plane_bytes = image.channels == 1 ? 0 : image.luma_bytes() / 2 * 3;
  Launches& launches = *sample.launches;
  uint8_t* planes = nullptr;
  if (plane_bytes) planes = static_cast<uint8_t*>(launches.scratch(extents.frames * plane_bytes));
  for (int64_t frame = 0; frame < extents.frames; frame++) {
    losses.gray = sample.out[0].as<uint8_t>() + frame * bytes;
    losses.in = sample.in[0].as<uint8_t>() + frame * bytes;
    image.planes = planes + frame * plane_bytes;
    for (int k = 0; k < image.channels; k++) losses.plane[k] = image.channels == 1 ? nullptr : image.plane(k);
    launches.add<JpegLosses>(0, int64_t{image.tiles_down()} * image.tiles_across(), losses);
  }
  if (image.channels == 1) return;
  launches.then();
  using Pixels = JpegPixels<2, 2>;
  for (int64_t frame = 0; frame < extents.frames; frame++) {
    image.planes = planes + frame * plane_bytes;
    const JpegPicture made{sample.out[0].as<uint8_t>() + frame * bytes,
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
                           false};
    if (!JpegColors::takes(made)) {
      launches.add<Pixels>(0, int64_t{image.height} * Pixels::items_per_row(image.width), made);
      continue;
    }
    const JpegColors::Params params = JpegColors::params(made);
    launches.add<JpegColors>(0, JpegColors::items(params), params);
  }
}

// A part is some rows of MCUs of a frame: each border of parts costs two rows of chroma.
class JpegDistortionPlan {
 public:
  explicit JpegDistortionPlan(const Sample<JpegDistortionArgs>& sample)
      : shape_(sample.in[0].shape), image_(shape_), quality_(sample.args.quality) {}

  Shape shape() const { return shape_; }
  int64_t rows() const { return image_.frame_bytes() ? image_.frames * parts() : 0; }
  void run(const Sample<JpegDistortionArgs>& sample) const {
    if (rows() == 0) return;
    if (sample.launches) return launch(sample, image_);
    for (int64_t part = sample.begin; part < sample.end;) {
      const int64_t frame = part / parts(), before = frame * parts(), end = std::min(sample.end, before + parts());
      const int64_t offset = frame * image_.frame_bytes();
      DistortedFrame made(sample.in[0].as<uint8_t>() + offset, sample.out[0].as<uint8_t>() + offset, image_, quality_);
      made.make(static_cast<int>(part - before) * kMcus,
                std::min(DistortedFrame::mcus(image_), static_cast<int>(end - before) * kMcus));
      part = end;
    }
  }

 private:
  static constexpr int kMcus = 8;
  int parts() const { return (DistortedFrame::mcus(image_) + kMcus - 1) / kMcus; }

  Shape shape_;
  Extents image_;
  int quality_;
};

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
      .each_sample<JpegDistortionPlan>()
      .cost(10);
}

}  // namespace avida::ops
