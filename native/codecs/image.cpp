#include "codecs/image.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "codecs/exif.h"
#include "runtime/memory.h"

namespace avida::codecs {
namespace {

int scaled_extent(int extent, int scale) { return (extent * scale + 7) / 8; }

// The smallest scale, in eighths, that keeps the requested extents. libjpeg-turbo's IDCTs for 5/8 to 7/8 are not
// vectorised: they take longer than decoding at full size (benchmarks/README.md).
int choose_scale(const ImageInfo& info, const ImageRequest& request, bool swapped) {
  int least_height = std::max(swapped ? request.least_width : request.least_height, request.least_side);
  int least_width = std::max(swapped ? request.least_height : request.least_width, request.least_side);
  if (least_height <= 0 && least_width <= 0) return 8;
  for (int scale : {1, 2, 3, 4})
    if (scaled_extent(info.height, scale) >= least_height && scaled_extent(info.width, scale) >= least_width)
      return scale;
  return 8;
}

}  // namespace

EncodedImage::EncodedImage(Bytes file, const ImageRequest& request) : opened_(open_image(file)), request_(request) {
  if (request.page) opened_.file = opened_.file->page(request.page);
  info_ = opened_.file->info();
  if (!request.adjust_orientation) info_.orientation = 1;
  options_.type = request.type;
  options_.fast_idct = request.fast_idct;
  if (request.type == ImageType::indices) want_indices();
  if (!opened_.codec.can.scales) return;
  options_.scale = choose_scale(info_, request, transposes(info_.orientation));
  info_.height = scaled_extent(info_.height, options_.scale);
  info_.width = scaled_extent(info_.width, options_.scale);
}

// Indices are not scaled: an element type that cannot hold them is an error.
void EncodedImage::want_indices() {
  if (!info_.index_bits)
    refuse("expected a ", opened_.codec.name,
           " image with a palette, or a gray one, for output_type=INDICES; this one has ", info_.channels, " channels");
  const int value_bits = request_.dtype == DType::float32 ? 24
                         : request_.dtype == DType::int8  ? 7
                         : request_.dtype == DType::int16 ? 15
                                                          : static_cast<int>(8 * size_of(request_.dtype));
  if (info_.index_bits > value_bits)
    refuse("expected a dtype that holds the ", info_.index_bits, "-bit indices of this image, such as uint16, got ",
           request_.dtype);
  info_ = info_.for_type(ImageType::indices);
}

Extents EncodedImage::extents() const {
  bool swapped = transposes(info_.orientation);
  return {swapped ? info_.width : info_.height, swapped ? info_.height : info_.width,
          channels_of_type(request_.type, info_.channels)};
}

bool EncodedImage::is_direct() const {
  return info_.orientation == 1 && is_of_type(file().color(options_), request_.type) && info_.dtype == request_.dtype;
}

void EncodedImage::check_memory(const Roi& roi) const {
  const Scratch& scratch = info_.scratch;
  const int stored = channels_of(file().color(options_), info_.channels) * size_of(info_.dtype);
  const int64_t pixel = int64_t{extents().channels} * size_of(request_.dtype) + (is_direct() ? 0 : stored);
  const int64_t pixels = int64_t{roi.height} * roi.width;
  int64_t bytes = scratch.always + pixels * (pixel + scratch.per_pixel);
  if (pixels < int64_t{info_.height} * info_.width) bytes += scratch.for_parts + pixels * scratch.per_pixel_of_parts;
  codecs::check_memory(bytes);
}

int EncodedImage::frame_channels() const {
  const int channels = extents().channels;
  return channels == 2 ? 4 : channels;
}

void EncodedImage::check_memory_of_frames(int64_t count) const {
  constexpr int kCanvases = 4;  // what decoders keep: the canvas, what was below a frame, a frame, its colours
  const int64_t pixels = int64_t{info_.height} * info_.width;
  codecs::check_memory(info_.scratch.always + pixels * 4 * kCanvases);
  codecs::check_memory(std::max<int64_t>(count, 1), pixels * frame_channels() * size_of(request_.dtype));
}

void EncodedImage::convert_frame(const uint8_t* canvas, void* out) const {
  const Orientation orientation = this->orientation();
  const Roi whole{0, 0, info_.height, info_.width};
  const bool keeps_alpha = request_.type == ImageType::any && frame_channels() == 4;
  const ImageType type = request_.type != ImageType::any ? request_.type
                         : keeps_alpha                   ? ImageType::any
                         : frame_channels() == 1         ? ImageType::gray
                                                         : ImageType::rgb;
  const Extents upright = extents();
  convert_pixels(canvas, orientation.walk(whole, int64_t{4} * info_.width, 4),
                 {DType::uint8, ColorModel::rgb_alpha, 4, info_.gray_bits}, out, type, request_.dtype, upright.height,
                 upright.width);
}

// Gray and alpha become red, green, blue and alpha, in place: from the end, since they grow.
static void spread_gray_alpha(uint8_t* pixels, int64_t count, int64_t element) {
  uint8_t pixel[2 * sizeof(double)];
  for (int64_t i = count; i-- > 0;) {
    std::memcpy(pixel, pixels + 2 * i * element, static_cast<size_t>(2 * element));
    for (int c = 0; c < 4; ++c)
      std::memcpy(pixels + (4 * i + c) * element, pixel + (c == 3 ? element : 0), static_cast<size_t>(element));
  }
}

void EncodedImage::decode_frames(std::span<const int64_t> frames, void* out) const {
  const Extents upright = extents();
  const int64_t size = int64_t{upright.height} * upright.width * frame_channels() * size_of(request_.dtype);
  const auto frame_at = [&](size_t i) { return static_cast<uint8_t*>(out) + static_cast<int64_t>(i) * size; };
  const std::unique_ptr<Animation> animation = request_.type == ImageType::indices ? nullptr : file().animation();
  if (!animation) {
    for (size_t i = 0; i < frames.size(); ++i) {
      decode({0, 0, upright.height, upright.width}, frame_at(i));
      if (upright.channels == 2 && frame_channels() == 4)
        spread_gray_alpha(frame_at(i), int64_t{upright.height} * upright.width, size_of(request_.dtype));
    }
    return;
  }
  std::vector<size_t> order(frames.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return frames[i]; });
  auto next = order.begin();
  for (int64_t number = 0; next != order.end(); ++number) {
    const uint8_t* canvas = animation->next();
    for (; next != order.end() && frames[*next] == number; ++next) convert_frame(canvas, frame_at(*next));
  }
}

void EncodedImage::decode(const Roi& roi, void* out, const Roi* needed, ThreadPool* pool) const {
  if (roi.height <= 0 || roi.width <= 0) return;
  DecodeOptions options = options_;
  options.pool = pool;
  ColorModel color = file().color(options_);
  int channels = channels_of(color, info_.channels);
  int out_channels = channels_of_type(request_.type, info_.channels);
  const Orientation orientation = this->orientation();
  Roi stored = orientation.stored(roi);
  if (is_direct()) {
    int64_t pixel = int64_t{out_channels} * size_of(info_.dtype), stride = roi.width * pixel;
    auto* first = static_cast<uint8_t*>(out);
    if (needed) {
      first += needed->y * stride + needed->x * pixel;
      stored = {roi.y + needed->y, roi.x + needed->x, needed->height, needed->width};
    }
    file().decode(options, stored, {first, stride});
    return;
  }
  int64_t stride = int64_t{stored.width} * channels * size_of(info_.dtype);
  Block block = allocate(stride * stored.height);
  auto* pixels = static_cast<uint8_t*>(block.get());
  file().decode(options, stored, {pixels, stride});
  PixelWalk walk = orientation.walk(stored, stride, channels * size_of(info_.dtype));
  convert_pixels(pixels, walk, {info_.dtype, color, channels, info_.gray_bits}, out, request_.type, request_.dtype,
                 roi.height, roi.width);
}

}  // namespace avida::codecs
