// JPEG by libjpeg-turbo. Its errors longjmp past C++ frames, so everything between setjmp and the library is plain
// data.
#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include <jerror.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include "codecs/bytes.h"
#include "codecs/jpeg/jpeg_header.h"
#include "codecs/jpeg/sequential_decoder.h"

namespace avida::codecs {
namespace {

constexpr int64_t kMostShrinking = 4096;  // bytes of pixels per byte of file; a constant gray image has 256
constexpr int kFirstArithmeticFrame = 0xC9;
constexpr int kMostExtraBytes = 512;  // between two segments

struct Decompressor {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg_source_mgr source;
  jpeg_progress_mgr progress;
  std::jmp_buf failed;
  char message[JMSG_LENGTH_MAX];
};

Decompressor& owner(j_common_ptr jpeg) { return *static_cast<Decompressor*>(jpeg->client_data); }

[[noreturn]] void fail_with(j_common_ptr jpeg) {
  jpeg->err->format_message(jpeg, owner(jpeg).message);
  std::longjmp(owner(jpeg).failed, 1);
}

// The library only warns about corrupt data and makes up the rest of the picture. A few extra bytes between two
// segments are harmless and common.
void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  switch (jpeg->err->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
      fail_with(jpeg);
    case JWRN_EXTRANEOUS_DATA:
      if (jpeg->err->msg_parm.i[0] > kMostExtraBytes) fail_with(jpeg);
  }
}

boolean on_end_of_input(j_decompress_ptr jpeg) {
  Decompressor& self = owner(reinterpret_cast<j_common_ptr>(jpeg));
  std::snprintf(self.message, sizeof(self.message), "the file ends early, at row %u of %u", jpeg->output_scanline,
                jpeg->image_height);
  std::longjmp(self.failed, 1);
}

void on_skip(j_decompress_ptr jpeg, long bytes) {
  if (bytes <= 0) return;
  if (static_cast<size_t>(bytes) > jpeg->src->bytes_in_buffer) on_end_of_input(jpeg);
  jpeg->src->next_input_byte += bytes;
  jpeg->src->bytes_in_buffer -= static_cast<size_t>(bytes);
}

void on_progress(j_common_ptr common) {
  auto* jpeg = reinterpret_cast<j_decompress_ptr>(common);
  const int64_t most = decode_limits().scans;
  if (jpeg->input_scan_number <= most) return;
  std::snprintf(owner(common).message, JMSG_LENGTH_MAX, "expected at most %lld scans, got more",
                static_cast<long long>(most));
  std::longjmp(owner(common).failed, 1);
}

void open(Decompressor& self, Bytes file) {
  self.jpeg.err = jpeg_std_error(&self.errors);
  self.errors.error_exit = fail_with;
  self.errors.emit_message = on_message;
  self.jpeg.client_data = &self;
  jpeg_create_decompress(&self.jpeg);
  self.source = {file.data(),
                 file.size(),
                 [](j_decompress_ptr) {},
                 on_end_of_input,
                 on_skip,
                 jpeg_resync_to_restart,
                 [](j_decompress_ptr) {}};
  self.jpeg.src = &self.source;
  self.progress = {};
  self.progress.progress_monitor = on_progress;
  self.jpeg.progress = &self.progress;
}

// CMYK to RGB, BGR or gray. Adobe's programs store inverted values.
void convert_inks(const uint8_t* in, uint8_t* out, int width, bool light, ImageType type) {
  for (int i = 0; i < width; i++, in += 4) {
    int rgb[3];
    for (int c = 0; c < 3; c++) rgb[c] = light ? in[c] * in[3] / 255 : (255 - in[c]) * (255 - in[3]) / 255;
    if (type == ImageType::gray)
      *out++ = static_cast<uint8_t>(0.299f * static_cast<float>(rgb[0]) + 0.587f * static_cast<float>(rgb[1]) +
                                    0.114f * static_cast<float>(rgb[2]));
    else
      for (int c = 0; c < 3; c++) *out++ = static_cast<uint8_t>(rgb[type == ImageType::bgr ? 2 - c : c]);
  }
}

struct Job {
  const JpegFile& file;
  const DecodeOptions& options;
  const Roi& roi;
  const PixelRows& out;
};

J_COLOR_SPACE output_space(const jpeg_decompress_struct& jpeg, ImageType type) {
  if (jpeg.num_components == 4) return JCS_CMYK;
  if (jpeg.num_components != 3 && jpeg.num_components != 1) return jpeg.jpeg_color_space;
  switch (type) {
    case ImageType::gray:
    case ImageType::indices:
      return JCS_GRAYSCALE;
    case ImageType::bgr:
      return JCS_EXT_BGR;
    case ImageType::any:
      return jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    default:
      return JCS_RGB;
  }
}

// Whether the library smooths blocks with their neighbours, as it does if a progressive file lacks detail. The result
// differs if only a part is decoded.
bool is_smoothed(const jpeg_decompress_struct& jpeg) {
  if (!jpeg.progressive_mode || !jpeg.coef_bits) return false;
  for (int c = 0; c < jpeg.num_components; c++)
    for (int k = 0; k < DCTSIZE2; k++)
      if (jpeg.coef_bits[c][k] != 0) return true;
  return false;
}

// Upsampling reads neighbouring samples: the library decodes a margin around the rectangle.
void decode_rows(Decompressor& self, const Job& job) {
  jpeg_decompress_struct& jpeg = self.jpeg;
  const Roi& roi = job.roi;
  const bool inks = jpeg.num_components == 4 && job.options.type != ImageType::any;
  const bool partial = !is_smoothed(jpeg);
  const int margin = 2 * jpeg.max_h_samp_factor;
  JDIMENSION left = 0, width = jpeg.output_width;
  if (partial && (roi.x > 0 || roi.x + roi.width < static_cast<int>(jpeg.output_width))) {
    left = static_cast<JDIMENSION>(std::max(0, roi.x - margin));
    width = static_cast<JDIMENSION>(std::min<int>(jpeg.output_width, roi.x + roi.width + margin)) - left;
    jpeg_crop_scanline(&jpeg, &left, &width);
  }
  const int pixel = jpeg.output_components;
  const size_t offset = static_cast<size_t>(roi.x - static_cast<int>(left)) * pixel;
  const bool direct = !inks && static_cast<int>(width) == roi.width;

  constexpr int kRows = 4;
  JSAMPARRAY scratch = (*jpeg.mem->alloc_sarray)(reinterpret_cast<j_common_ptr>(&jpeg), JPOOL_IMAGE,
                                                 direct ? 1 : width * pixel, direct ? 1 : kRows);
  const int above = jpeg.max_v_samp_factor * jpeg.min_DCT_scaled_size;
  if (partial && roi.y > above) jpeg_skip_scanlines(&jpeg, static_cast<JDIMENSION>(roi.y - above));
  while (static_cast<int>(jpeg.output_scanline) < roi.y + roi.height) {
    const int y = static_cast<int>(jpeg.output_scanline) - roi.y;
    uint8_t* rows[kRows];
    int wanted = y < 0 ? std::min(kRows, -y) : std::min(kRows, roi.height - y);
    for (int i = 0; i < wanted; i++)
      rows[i] = !direct ? scratch[i] : job.out.first + job.out.stride * std::max(0, y + i);
    int got = static_cast<int>(jpeg_read_scanlines(&jpeg, rows, static_cast<JDIMENSION>(wanted)));
    if (direct || y < 0) continue;
    for (int i = 0; i < got; i++) {
      uint8_t* out = job.out.first + job.out.stride * (y + i);
      if (inks)
        convert_inks(rows[i] + offset, out, roi.width, jpeg.saw_Adobe_marker, job.options.type);
      else
        std::memcpy(out, rows[i] + offset, static_cast<size_t>(roi.width) * pixel);
    }
  }
}

// Returns false if the library failed; `message` has the reason.
bool run(Decompressor& self, const Job& job) {
  std::memset(&self.jpeg, 0, sizeof(self.jpeg));
  if (setjmp(self.failed)) {
    jpeg_destroy_decompress(&self.jpeg);
    return false;
  }
  open(self, job.file.bytes());
  jpeg_read_header(&self.jpeg, TRUE);
  self.jpeg.out_color_space = output_space(self.jpeg, job.options.type);
  self.jpeg.dct_method = job.options.fast_idct ? JDCT_IFAST : JDCT_ISLOW;
  self.jpeg.scale_num = static_cast<unsigned>(job.options.scale);
  self.jpeg.scale_denom = 8;
  // Before memory is allocated for what the header says now.
  const JpegHeader& planned = job.file.header();
  if (static_cast<int>(self.jpeg.image_height) != planned.height ||
      static_cast<int>(self.jpeg.image_width) != planned.width || self.jpeg.num_components != planned.components) {
    std::strncpy(self.message, kChangedText, sizeof(self.message));
    std::longjmp(self.failed, 1);
  }
  jpeg_start_decompress(&self.jpeg);
  decode_rows(self, job);
  // The data after the last row shows whether the rows used all of the data.
  if (self.jpeg.output_scanline == self.jpeg.output_height) jpeg_finish_decompress(&self.jpeg);
  jpeg_destroy_decompress(&self.jpeg);
  return true;
}

class LibraryFile : public JpegFile {
 public:
  explicit LibraryFile(Bytes bytes) : JpegFile(bytes) {}
  void describe();
  ColorModel color(const DecodeOptions& options) const override;
  void decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const override;
};

void LibraryFile::describe() {
  const int channels = header_.components;
  if (header_.precision != 8) refuse("expected 8 bits per sample, got ", header_.precision);
  const int64_t samples = int64_t{header_.height} * header_.width * channels;
  // Arithmetic coding makes next to nothing of a uniform picture.
  if (header_.frame < kFirstArithmeticFrame) check_ratio(bytes_, samples, kMostShrinking);
  check_scans(header_.scans);
  check_work(int64_t{header_.height} * header_.width, "pixels", header_.scans);  // a step for each scan
  info_ = {.height = header_.height, .width = header_.width, .channels = channels};
  info_.orientation = header_.orientation;
  info_.index_bits = channels == 1 ? 8 : 0;
  // All coefficients are kept, and of a progressive file nine bytes for each block.
  if (header_.scans > 1 || header_.is_progressive())
    info_.scratch.always = samples * static_cast<int64_t>(sizeof(JCOEF)) + samples / 64 * 9;
  info_.color = channels == 1 ? ColorModel::gray : channels == 3 ? ColorModel::rgb : ColorModel::other;
}

ColorModel LibraryFile::color(const DecodeOptions& options) const {
  const bool inks = info_.channels == 4;
  if (info_.color == ColorModel::other && !inks) return info_.color;
  switch (options.type) {
    case ImageType::any:
      return info_.color;
    case ImageType::gray:
    case ImageType::indices:
      return ColorModel::gray;
    case ImageType::bgr:
      return ColorModel::bgr;
    default:
      return ColorModel::rgb;
  }
}

void LibraryFile::decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const {
  if (decode_ordinary(header_, options, roi, out)) return;
  Decompressor self;
  if (!run(self, {*this, options, roi, out})) refuse("JPEG: ", self.message);
}

std::unique_ptr<const ImageFile> open_file(Bytes bytes) {
  auto file = std::make_unique<LibraryFile>(bytes);
  if (file->header().frame == kLosslessFrame) return nullptr;
  file->describe();
  return file;
}

#define AVIDA_TEXT_OF(X) #X
#define AVIDA_TEXT(X) AVIDA_TEXT_OF(X)
[[maybe_unused]] const int kRegistered = register_codec({.name = "JPEG",
                                                         .endings = {".jfif", ".jpe", ".jpeg", ".jpg"},
                                                         .begins = {kJpegBegin},
                                                         .library = "libjpeg-turbo " AVIDA_TEXT(LIBJPEG_TURBO_VERSION),
                                                         .shared = "libjpeg",
                                                         .license = "IJG AND BSD-3-Clause AND Zlib",
                                                         .can = {.scales = true, .parts = true, .indices = true},
                                                         .open = open_file});

}  // namespace
}  // namespace avida::codecs
