// Each frame becomes a PNG file in memory, which libpng decodes.
#include "codecs/formats/apng.h"

#include <algorithm>
#include <memory>

#include "codecs/canvas.h"
#include "codecs/formats/png_reader.h"

namespace avida::codecs {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr size_t kHeaderSize = 13, kControlSize = 26;
constexpr size_t kMostColors = 256;  // of a palette; each frame gets a copy

// What a frame has: its control chunk, and its data, without the numbers of the chunks.
struct Frame {
  Bytes control;
  std::vector<Bytes> data;
};

// The frames, and the chunks that count for all of them.
struct Frames {
  Bytes header, palette, transparency;
  std::vector<Frame> all;
};

std::vector<uint8_t>& append(std::vector<uint8_t>& to, Bytes bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
  return to;
}

void take_chunk(std::string_view kind, Bytes content, bool has_animation, Frames& frames) {
  if (kind == "IHDR") frames.header = content;
  if (kind == "PLTE" && content.size() <= 3 * kMostColors) frames.palette = content;
  if (kind == "tRNS" && content.size() <= kMostColors) frames.transparency = content;
  if (kind == "fcTL" && has_animation) frames.all.push_back({part(content, 0, kControlSize), {}});
  if (frames.all.empty()) return;  // a picture that does not belong to the animation
  if (kind == "IDAT") frames.all.back().data.push_back(content);
  if (kind == "fdAT")
    frames.all.back().data.push_back(part(content, 4, content.size() - std::min<size_t>(content.size(), 4)));
}

// Without frames if it is no animation.
Frames read_frames(Bytes file) {
  Frames frames;
  bool has_animation = false;
  for (size_t at = kSignature.size(); at + 12 <= file.size();) {
    const size_t size = big_endian(file, at, 4);
    if (size > file.size() - at - 12) break;
    const std::string_view kind(reinterpret_cast<const char*>(file.data()) + at + 4, 4);
    if (kind == "acTL"sv) has_animation = true;
    if (kind == "IDAT"sv && !has_animation) break;
    take_chunk(kind, file.subspan(at + 8, size), has_animation, frames);
    at += size + 12;
  }
  return frames;
}

void append_number(std::vector<uint8_t>& to, size_t number) {
  for (int shift : {24, 16, 8, 0}) to.push_back(static_cast<uint8_t>(number >> shift));
}

// The checksum is not looked at.
void append_chunk(std::vector<uint8_t>& to, std::string_view kind, Bytes content) {
  append_number(to, content.size());
  to.insert(to.end(), kind.begin(), kind.end());
  append_number(append(to, content), 0);
}

std::vector<uint8_t> as_file(const Frames& frames, const Frame& frame) {
  std::vector<uint8_t> file(kSignature.begin(), kSignature.end()), header, data;
  append(append(header, part(frame.control, 4, 8)), part(frames.header, 8, kHeaderSize - 8));
  for (const Bytes piece : frame.data) append(data, piece);
  append_chunk(file, "IHDR", header);
  if (!frames.palette.empty()) append_chunk(file, "PLTE", frames.palette);
  if (!frames.transparency.empty()) append_chunk(file, "tRNS", frames.transparency);
  append_chunk(file, "IDAT", data);
  append_chunk(file, "IEND", {});
  return file;
}

// Red, green, blue and alpha.
std::vector<uint8_t> decode(const std::vector<uint8_t>& file, int height, int width) {
  std::vector<uint8_t> pixels(size_t{4} * height * width);
  const std::unique_ptr<png_bytep[]> rows(new png_bytep[height]);
  for (int y = 0; y < height; ++y) rows[y] = pixels.data() + int64_t{4} * y * width;
  PngReader reader(file);
  reader.run([&](png_structp png, png_infop info) {
    png_set_read_fn(png, &reader, PngReader::read);
    png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
    png_set_user_limits(png, kMaxExtent, kMaxExtent);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != size_t{4} * width || static_cast<int>(png_get_image_height(png, info)) != height)
      png_error(png, "the header contradicts itself");
    png_read_image(png, rows.get());
  });
  return pixels;
}

class ApngAnimation : public Animation {
 public:
  ApngAnimation(Frames frames, const ImageInfo& info)
      : frames_(std::move(frames)), height_(info.height), width_(info.width), canvas_(info.height, info.width) {}

  const uint8_t* next() override {
    if (at_ == frames_.all.size()) refuse("PNG: expected another frame, found none");
    const Frame& frame = frames_.all[at_];
    const auto number = [&](size_t at) { return int64_t{big_endian(frame.control, at, 4)}; };
    const int64_t width = number(4), height = number(8), x = number(12), y = number(16);
    check_extents(height, width, 4);
    if (x + width > width_ || y + height > height_)
      refuse("PNG: frame ", at_, " lies outside of the picture: ", height, " x ", width, " at ", y, ", ", x);
    check_memory(width * height, 4);
    const Roi place{static_cast<int>(y), static_cast<int>(x), static_cast<int>(height), static_cast<int>(width)};
    const std::vector<uint8_t> pixels = decode(as_file(frames_, frame), place.height, place.width);
    canvas_.draw(
        {place, pixels.data(), big_endian(frame.control, 25, 1) == 1, disposal(big_endian(frame.control, 24, 1))});
    ++at_;
    return canvas_.pixels();
  }

 private:
  static Disposal disposal(uint32_t number) {
    return number == 1 ? Disposal::clear : number == 2 ? Disposal::restore : Disposal::keep;
  }

  const Frames frames_;
  const int height_, width_;
  Canvas canvas_;
  size_t at_ = 0;
};

}  // namespace

int64_t count_apng_frames(Bytes file) {
  const Frames frames = read_frames(file);
  int64_t pixels = 0;
  for (const auto& frame : frames.all)
    pixels += int64_t{big_endian(frame.control, 4, 4)} * big_endian(frame.control, 8, 4) + kPixelsOfFrame;
  check_work(pixels, "pixels", 2);
  return std::max<int64_t>(1, std::ssize(frames.all));
}

std::unique_ptr<Animation> open_apng(Bytes file, const ImageInfo& info) {
  Frames frames = read_frames(file);
  if (frames.all.empty()) return {};
  return std::make_unique<ApngAnimation>(std::move(frames), info);
}

}  // namespace avida::codecs
