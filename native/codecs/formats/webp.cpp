// WebP, with libwebp.
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>

#include "codecs/bytes.h"
#include "codecs/exif.h"
#include "codecs/icc.h"

namespace avida::codecs {
namespace {

// The contents of the chunks of a kind.
std::vector<Bytes> find_chunks(Bytes file, std::string_view kind, size_t most = SIZE_MAX) {
  std::vector<Bytes> found;
  for (size_t at = 12; at + 8 <= file.size() && found.size() < most;) {
    const size_t size = little_endian(file, at + 4, 4);
    if (size > file.size() - at - 8) break;
    if (has_text(file, at, kind)) found.push_back(file.subspan(at + 8, size));
    at += 8 + size + size % 2;
  }
  return found;
}

// The content of the first one, or nothing.
Bytes find_chunk(Bytes file, std::string_view kind) {
  const std::vector<Bytes> found = find_chunks(file, kind, 1);
  return found.empty() ? Bytes() : found[0];
}

[[noreturn]] void fail_with(VP8StatusCode status) {
  constexpr const char* kReasons[] = {"no error",
                                      "no memory",
                                      "invalid parameter",
                                      "the data is corrupt",
                                      "unsupported feature",
                                      "the file is truncated",
                                      "aborted",
                                      "the file is truncated"};
  fail(status == VP8_STATUS_OUT_OF_MEMORY ? ErrorKind::memory : ErrorKind::runtime, "WebP: ", kReasons[status]);
}

WebPBitstreamFeatures features_of(Bytes file) {
  WebPBitstreamFeatures features;
  if (const auto status = WebPGetFeatures(file.data(), file.size(), &features); status != VP8_STATUS_OK)
    fail_with(status);
  return features;
}

ImageInfo info_of(const WebPBitstreamFeatures& features) {
  ImageInfo info{.height = features.height, .width = features.width, .channels = features.has_alpha ? 4 : 3};
  info.gray_bits = 15;
  info.color = features.has_alpha ? ColorModel::rgb_alpha : ColorModel::rgb;
  return info;
}

ImageInfo read_info(Bytes file) {
  const WebPBitstreamFeatures features = features_of(file);
  ImageInfo info = info_of(features);
  check_extents(info.height, info.width, info.channels);
  const int64_t pixels = int64_t{info.height} * info.width;
  constexpr int kLossy = 1;
  info.scratch.always = features.format == kLossy ? (features.has_alpha ? 2 * pixels : 0) : 4 * pixels;
  info.scratch.per_pixel_of_parts = info.channels;  // for the rectangle and its border
  info.orientation = exif_orientation(find_chunk(file, "EXIF"));
  return info;
}

// The library composes the pictures.
class WebpAnimation : public Animation {
 public:
  WebpAnimation(Bytes file, const ImageInfo& info) : decoder_(nullptr, WebPAnimDecoderDelete) {
    WebPAnimDecoderOptions options;
    WebPAnimDecoderOptionsInit(&options);
    options.color_mode = MODE_RGBA;
    const WebPData data{file.data(), file.size()};
    decoder_.reset(WebPAnimDecoderNew(&data, &options));
    WebPAnimInfo found;
    if (!decoder_ || !WebPAnimDecoderGetInfo(decoder_.get(), &found)) refuse("WebP: the animation is corrupt");
    if (static_cast<int>(found.canvas_height) != info.height || static_cast<int>(found.canvas_width) != info.width)
      refuse(kChangedText);
  }

  const uint8_t* next() override {
    uint8_t* canvas = nullptr;
    int time;
    if (!WebPAnimDecoderGetNext(decoder_.get(), &canvas, &time) || !canvas)
      refuse("WebP: a frame is corrupt, or missing");
    return canvas;
  }

 private:
  std::unique_ptr<WebPAnimDecoder, decltype(&WebPAnimDecoderDelete)> decoder_;
};

class WebpFile : public ImageFile {
 public:
  explicit WebpFile(Bytes bytes) : ImageFile(bytes) { info_ = read_info(bytes); }

  ImageDetails details() const override {
    const bool is_animation = features_of(bytes_).has_animation;
    const auto frames = is_animation ? static_cast<int64_t>(find_chunks(bytes_, "ANMF").size()) : 1;
    // libwebp goes over the whole canvas for each frame.
    if (is_animation) check_work((int64_t{info_.height} * info_.width + kPixelsOfFrame) * frames, "pixels", 2);
    return {.frames = frames, .profile = profile_name(find_chunk(bytes_, "ICCP"))};
  }

  std::unique_ptr<Animation> animation() const override {
    if (!features_of(bytes_).has_animation) return {};
    return std::make_unique<WebpAnimation>(bytes_, info_);
  }

  ColorModel color(const DecodeOptions& options) const override {
    if (options.type == ImageType::any) return info_.color;
    return options.type == ImageType::bgr ? ColorModel::bgr : ColorModel::rgb;
  }
  void decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const override;
};

// An image, or a frame of an animation.
struct Picture {
  Bytes data;
  Roi place;  // its rectangle on the canvas
};

Picture first_picture(Bytes file, const WebPBitstreamFeatures& features) {
  if (!features.has_animation) return {file, {0, 0, features.height, features.width}};
  const Bytes frame = find_chunk(file, "ANMF");
  if (frame.empty()) refuse("WebP: expected an animation, found no frame");
  const auto number = [&](size_t at) { return static_cast<int>(little_endian(frame, at, 3)); };
  Picture picture{{}, {number(3) * 2, number(0) * 2, number(9) + 1, number(6) + 1}};
  picture.data = part(frame, 16, frame.size() - 16);
  const WebPBitstreamFeatures inner = features_of(picture.data);
  if (inner.has_animation || inner.height != picture.place.height || inner.width != picture.place.width)
    refuse("WebP: the first frame contradicts its header");
  return picture;
}

void decode_picture(Bytes data, const Roi& roi, const PixelRows& out, WEBP_CSP_MODE mode) {
  WebPDecoderConfig config;
  WebPInitDecoderConfig(&config);
  config.output.colorspace = mode;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {out.first, static_cast<int>(out.stride), static_cast<size_t>(out.stride) * roi.height};
  config.options.use_cropping = 1;
  config.options.crop_left = roi.x, config.options.crop_top = roi.y;
  config.options.crop_width = roi.width, config.options.crop_height = roi.height;
  if (const auto status = WebPDecode(data.data(), data.size(), &config); status != VP8_STATUS_OK) fail_with(status);
}

// The rectangle with a border of two pixels, from even coordinates: lossy images store chroma for pairs of pixels and
// interpolate it from neighbours, which an exact rectangle would not have.
Roi with_border(const Roi& roi, const Roi& picture) {
  const int y = std::max(0, roi.y - 2) & ~1, x = std::max(0, roi.x - 2) & ~1;
  return {y, x, std::min(picture.height, roi.y + roi.height + 2) - y,
          std::min(picture.width, roi.x + roi.width + 2) - x};
}

void WebpFile::decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const {
  const WebPBitstreamFeatures features = features_of(bytes_);  // as the library will find them once more
  const ImageInfo found = info_of(features);
  if (found.height != info_.height || found.width != info_.width || found.channels != info_.channels)
    refuse(kChangedText);
  const Picture picture = first_picture(bytes_, features);
  const ColorModel color = this->color(options);
  const WEBP_CSP_MODE mode = color == ColorModel::rgb_alpha ? MODE_RGBA
                             : color == ColorModel::bgr     ? MODE_BGR
                                                            : MODE_RGB;
  const int pixel = channels_of(color, info_.channels);
  // The part of the rectangle within the frame, relative to the frame. The rest of the canvas is empty.
  const Roi& place = picture.place;
  const int top = std::max(roi.y, place.y), bottom = std::min(roi.y + roi.height, place.y + place.height);
  const int left = std::max(roi.x, place.x), right = std::min(roi.x + roi.width, place.x + place.width);
  const Roi wanted{top - place.y, left - place.x, bottom - top, right - left};
  if (wanted.height < roi.height || wanted.width < roi.width)
    for (int y = 0; y < roi.height; ++y) std::memset(out.first + y * out.stride, 0, size_t(roi.width) * pixel);
  if (wanted.height <= 0 || wanted.width <= 0) return;

  uint8_t* const first = out.first + (top - roi.y) * out.stride + int64_t{left - roi.x} * pixel;
  const Roi decoded = with_border(wanted, place);
  if (decoded.height == wanted.height && decoded.width == wanted.width)
    return decode_picture(picture.data, decoded, {first, out.stride}, mode);
  std::vector<uint8_t> pixels(size_t(decoded.height) * decoded.width * pixel);
  const int64_t stride = int64_t{decoded.width} * pixel;
  decode_picture(picture.data, decoded, {pixels.data(), stride}, mode);
  const uint8_t* from = pixels.data() + (wanted.y - decoded.y) * stride + (wanted.x - decoded.x) * pixel;
  for (int y = 0; y < wanted.height; ++y)
    std::memcpy(first + y * out.stride, from + y * stride, size_t(wanted.width) * pixel);
}

std::string library() {
  const int version = WebPGetDecoderVersion();
  return str("libwebp ", version >> 16, '.', version >> 8 & 255, '.', version & 255);
}

std::unique_ptr<const ImageFile> open(Bytes bytes) {
  return has_text(bytes, 8, "WEBP") ? open_as<WebpFile>(bytes) : nullptr;
}

const int registered = register_codec({.name = "WebP",
                                       .endings = {".webp"},
                                       .begins = {"RIFF"},
                                       .library = library(),
                                       .shared = "libwebp",
                                       .license = "BSD-3-Clause",
                                       .can = {.parts = true, .alpha = true},
                                       .open = open});

}  // namespace
}  // namespace avida::codecs
