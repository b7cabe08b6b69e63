#include "codecs/image.h"

#include <algorithm>

#include "codecs/exif.h"
#include "codecs/pixels.h"
#include "runtime/memory.h"

namespace avida::codecs {
namespace {

int scaled_extent(int extent, int scale) { return (extent * scale + 7) / 8; }

// The smallest scale, in eighths, that leaves as much as is wanted.
int choose_scale(const ImageInfo& info, const ImageRequest& request, bool swapped) {
  int least_height = std::max(swapped ? request.least_width : request.least_height, request.least_side);
  int least_width = std::max(swapped ? request.least_height : request.least_width, request.least_side);
  if (least_height <= 0 && least_width <= 0) return 8;
  int scale = 1;
  while (scale < 8 &&
         (scaled_extent(info.height, scale) < least_height || scaled_extent(info.width, scale) < least_width))
    scale++;
  return scale;
}

}  // namespace

EncodedImage::EncodedImage(Bytes file, const ImageRequest& request)
    : file_(file), request_(request), codec_(find_codec(file)), info_(codec_.read_info(file)) {
  if (!request.adjust_orientation) info_.orientation = 1;
  options_.type = request.type;
  options_.fast_idct = request.fast_idct;
  if (!codec_.scales) return;
  options_.scale = choose_scale(info_, request, transposes(info_.orientation));
  info_.height = scaled_extent(info_.height, options_.scale);
  info_.width = scaled_extent(info_.width, options_.scale);
}

Extents EncodedImage::extents() const {
  bool swapped = transposes(info_.orientation);
  return {swapped ? info_.width : info_.height, swapped ? info_.height : info_.width,
          channels_of_type(request_.type, info_.channels)};
}

void EncodedImage::decode(const Roi& roi, void* out) const {
  if (roi.height <= 0 || roi.width <= 0) return;
  ColorModel color = codec_.decoded_color(info_, options_);
  int channels = channels_of(color, info_.channels);
  int out_channels = channels_of_type(request_.type, info_.channels);
  Orientation orientation(info_.orientation, info_.height, info_.width);
  Roi stored = orientation.stored(roi);
  if (info_.orientation == 1 && is_of_type(color, request_.type) && info_.dtype == request_.dtype) {
    int64_t stride = int64_t{roi.width} * out_channels * size_of(info_.dtype);
    codec_.decode(file_, info_, options_, stored, {static_cast<uint8_t*>(out), stride});
    return;
  }
  int64_t stride = int64_t{stored.width} * channels * size_of(info_.dtype);
  Block block = allocate(stride * stored.height);
  auto* pixels = static_cast<uint8_t*>(block.get());
  codec_.decode(file_, info_, options_, stored, {pixels, stride});
  PixelWalk walk = orientation.walk(stored, stride, channels * size_of(info_.dtype));
  convert_pixels(pixels, walk, {info_.dtype, color, channels, info_.gray_bits}, out, request_.type, request_.dtype,
                 roi.height, roi.width);
}

}  // namespace avida::codecs
