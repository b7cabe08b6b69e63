// Compares the JPEG decoders on files that it makes and damages, some 3,000 a second, under the sanitizers.
//
// usage: tests/fuzz/jpeg_decoders.sh FIRST COUNT
//
// Each file is decoded whole and in part by libjpeg-turbo, by our decoder on every instruction set, and by threads that
// share it in segments of some bytes: bits and errors must be equal. Inputs and outputs have their exact sizes, so that
// AddressSanitizer sees every byte beside them.
#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codecs/jpeg/sequential_decoder.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace avida {
Block allocate(int64_t bytes) { return Block(std::aligned_alloc(64, (bytes + 63) / 64 * 64), std::free); }
MemoryUse memory_use() { return {}; }
}  // namespace avida

using namespace avida;
using namespace avida::codecs;
using File = std::vector<uint8_t>;

namespace {

std::mt19937_64 rng;
int below(int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); }

// Noise, one colour, edges or a gradient.
File make_pixels(int height, int width, int channels) {
  File pixels(static_cast<size_t>(height) * width * channels);
  const int kind = below(4), a = 1 + below(30), b = 1 + below(30), base = below(256);
  size_t at = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      for (int c = 0; c < channels; c++) {
        const int value = kind == 0   ? below(256)
                          : kind == 1 ? base
                          : kind == 2 ? ((x / a + y / b + c) & 1) * 200 + below(20)
                                      : base + x * 2 + y * c + below(12);
        pixels[at++] = static_cast<uint8_t>(std::clamp(value, 0, 255));
      }
  return pixels;
}

// Any sampling, quality, codes, restart interval, and sometimes absurd factors of quantization.
void choose_settings(jpeg_compress_struct& jpeg, bool gray) {
  constexpr int qualities[] = {1, 20, 50, 75, 90, 95, 100}, columns[] = {1, 2, 2, 1, 2, 4}, rows[] = {1, 1, 2, 2, 2, 1};
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, qualities[below(7)], below(2));
  if (below(6) == 0)
    for (int k = 0; k < 64; k++)
      if (below(3) == 0)
        jpeg.quant_tbl_ptrs[below(2)]->quantval[k] = static_cast<UINT16>(1 + below(below(2) ? 255 : 8000));
  const int sampling = below(6);
  if (!gray || below(2)) {
    jpeg.comp_info[0].h_samp_factor = columns[sampling];
    jpeg.comp_info[0].v_samp_factor = rows[sampling];
  }
  jpeg.optimize_coding = below(3) == 0;
  if (below(3) == 0) jpeg.restart_interval = static_cast<unsigned>(1 + below(9));
  if (below(3) == 0) {
    jpeg_simple_progression(&jpeg);
    if (below(8)) jpeg.restart_interval = 0;
  }
  if (below(10) == 0) jpeg.write_JFIF_header = FALSE;
}

File make_file() {
  const int width = 1 + below(below(3) ? 70 : 20), height = 1 + below(below(3) ? 70 : 20);
  const bool gray = below(8) == 0;
  const int channels = gray ? 1 : 3;
  File pixels = make_pixels(height, width, channels);
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  errors.emit_message = [](j_common_ptr, int) {};
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = channels;
  jpeg.in_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
  choose_settings(jpeg, gray);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = pixels.data() + static_cast<size_t>(jpeg.next_scanline) * width * channels;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  File file(memory, memory + size);
  std::free(memory);
  return file;
}

void damage_at(File& file, size_t at) {
  const auto place = file.begin() + static_cast<std::ptrdiff_t>(at);
  switch (below(8)) {
    case 0:
      file[at] = static_cast<uint8_t>(below(256));
      break;
    case 1:
      file[at] = below(2) ? 0xFF : 0;
      break;
    case 2:
      file.erase(place, place + static_cast<std::ptrdiff_t>(std::min<size_t>(file.size() - at, 1 + below(4))));
      break;
    case 3:
      file.insert(place, static_cast<uint8_t>(below(2) ? 0xFF : below(256)));
      break;
    case 4:
      if (below(4) == 0) return file.resize(at);
      if (at + 1 == file.size()) return;
      file[at] = 0xFF;
      file[at + 1] = static_cast<uint8_t>(below(2) ? 0xD0 + below(10) : 0);
      break;
    default:
      file[at] ^= static_cast<uint8_t>(1 << below(8));
  }
}

// Mostly in the entropy-coded data.
void damage(File& file) {
  constexpr uint8_t kScan[] = {0xFF, 0xDA};
  const size_t scan = std::search(file.begin(), file.end(), kScan, kScan + 2) - file.begin() + 14;
  for (int n = below(3) ? 1 : 1 + below(5); n > 0 && file.size() > 4; n--) {
    const bool header = below(10) >= 7 || scan >= file.size();
    const size_t first = header ? 2 : scan, end = header ? std::min(scan, file.size()) : file.size();
    damage_at(file, first + rng() % (end - first));
  }
}

struct Outcome {
  std::string error;
  File pixels;
  bool operator==(const Outcome&) const = default;
};

Outcome decode(std::string_view decoder, const File& file, const DecodeOptions& options, const Roi& roi) {
  const std::unique_ptr<uint8_t[]> bytes(new uint8_t[file.size()]);
  std::memcpy(bytes.get(), file.data(), file.size());
  const auto opened = open_image({bytes.get(), file.size()}).file;
  const int64_t stride = int64_t{roi.width} * channels_of(opened->color(options), opened->info().channels);
  const std::unique_ptr<uint8_t[]> out(new uint8_t[stride * roi.height]);
  use_jpeg_decoder(decoder);
  try {
    opened->decode(options, roi, {out.get(), stride});
  } catch (const Error& error) {
    return {error.message, {}};
  }
  return {"", File(out.get(), out.get() + stride * roi.height)};
}

struct Counts {
  long ours = 0, library = 0, refused = 0, unreadable = 0, differ = 0;
};

void compare(long number, Counts& counts) {
  rng.seed(static_cast<uint64_t>(number));
  File file = make_file();
  if (below(10) > 1) damage(file);
  ImageInfo info;
  try {
    const OpenedImage opened = open_image({file.data(), file.size()});
    if (opened.codec.name != "JPEG") refuse("no JPEG file");
    info = opened.file->info();
    if (int64_t{info.height} * info.width > 1 << 20) refuse("too large to be quick");
  } catch (const Error&) {
    counts.unreadable++;
    return;
  }
  constexpr ImageType types[] = {ImageType::rgb, ImageType::rgb, ImageType::bgr, ImageType::gray, ImageType::any};
  const DecodeOptions options{.type = types[below(5)]};
  const int y = below(info.height), x = below(info.width);
  const Roi whole{0, 0, info.height, info.width};
  const Roi part{y, x, 1 + below(info.height - y), 1 + below(info.width - x)};
  const auto decoders = jpeg_decoders();
  static ThreadPool threads(3);
  constexpr int segments[] = {16, 50, 150, 700};
  for (const bool partly : {false, true}) {
    const Roi& roi = partly ? part : whole;
    const Outcome expected = decode(decoders.back(), file, options, roi);
    const int64_t before = sequential_decodes();
    const auto check = [&](std::string_view decoder, const DecodeOptions& chosen, const char* how) {
      if (decode(decoder, file, chosen, roi) == expected) return;
      counts.differ++;
      std::printf("file %ld differs by %s%s\n", number, std::string(decoder).c_str(), how);
    };
    for (size_t i = 0; i + 1 < decoders.size(); i++) check(decoders[i], options, "");
    DecodeOptions shared = options;
    shared.pool = &threads;
    split_jpeg_scans(segments[number % 4]);
    check(decoders[0], shared, " on threads");
    split_jpeg_scans(0);
    if (partly) continue;
    long& count = !expected.error.empty()         ? counts.refused
                  : sequential_decodes() > before ? counts.ours
                                                  : counts.library;
    count++;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: jpeg_decoders FIRST COUNT\n"), 2;
  const long first = std::atol(argv[1]), count = std::atol(argv[2]);
  Counts counts;
  for (long number = first; number < first + count; number++) compare(number, counts);
  std::printf("%ld files: ours %ld, library %ld, refused %ld, no image %ld, different %ld\n", count, counts.ours,
              counts.library, counts.refused, counts.unreadable, counts.differ);
  return counts.differ != 0;
}
