// Encodes by libjpeg-turbo and decodes again. Its errors longjmp past C++ frames, so everything between setjmp and the
// library is plain data.
#include "codecs/jpeg/jpeg_distortion.h"

#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>

#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>

#include "core/error.h"

namespace avida::codecs {
namespace {

struct Job {
  jpeg_compress_struct encoder;
  jpeg_decompress_struct decoder;
  jpeg_error_mgr errors;
  std::jmp_buf failed;
  char message[JMSG_LENGTH_MAX];
  unsigned char* file;
  unsigned long size;
};

[[noreturn]] void fail_with(j_common_ptr jpeg) {
  Job& job = *static_cast<Job*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, job.message);
  std::longjmp(job.failed, 1);
}

void encode(Job& job, const uint8_t* in, const JpegPixels& pixels, int quality) {
  jpeg_mem_dest(&job.encoder, &job.file, &job.size);
  job.encoder.image_height = static_cast<JDIMENSION>(pixels.height);
  job.encoder.image_width = static_cast<JDIMENSION>(pixels.width);
  job.encoder.input_components = pixels.channels;
  job.encoder.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&job.encoder);
  jpeg_set_quality(&job.encoder, std::clamp(quality, 1, 100), TRUE);
  jpeg_start_compress(&job.encoder, TRUE);
  const int64_t stride = int64_t{pixels.width} * pixels.channels;
  while (job.encoder.next_scanline < job.encoder.image_height) {
    auto* row = const_cast<uint8_t*>(in + stride * job.encoder.next_scanline);
    jpeg_write_scanlines(&job.encoder, &row, 1);
  }
  jpeg_finish_compress(&job.encoder);
}

void decode(Job& job, uint8_t* out, const JpegPixels& pixels) {
  jpeg_mem_src(&job.decoder, job.file, job.size);
  jpeg_read_header(&job.decoder, TRUE);
  jpeg_start_decompress(&job.decoder);
  const int64_t stride = int64_t{pixels.width} * pixels.channels;
  while (job.decoder.output_scanline < job.decoder.output_height) {
    uint8_t* row = out + stride * job.decoder.output_scanline;
    jpeg_read_scanlines(&job.decoder, &row, 1);
  }
  jpeg_finish_decompress(&job.decoder);
}

// Returns false if the library failed; `message` has the reason.
bool run(Job& job, const uint8_t* in, uint8_t* out, const JpegPixels& pixels, int quality) {
  job.encoder.err = job.decoder.err = jpeg_std_error(&job.errors);
  job.errors.error_exit = fail_with;
  job.encoder.client_data = job.decoder.client_data = &job;
  if (setjmp(job.failed)) return false;
  jpeg_create_compress(&job.encoder);
  jpeg_create_decompress(&job.decoder);
  encode(job, in, pixels, quality);
  decode(job, out, pixels);
  return true;
}

}  // namespace

void distort_by_jpeg(const uint8_t* in, uint8_t* out, const JpegPixels& pixels, int quality) {
  Job job{};
  const bool done = run(job, in, out, pixels, quality);
  jpeg_destroy_compress(&job.encoder);
  jpeg_destroy_decompress(&job.decoder);
  std::free(job.file);
  if (!done) refuse("JPEG: ", job.message);
}

}  // namespace avida::codecs
