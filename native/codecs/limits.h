// Limits on the pixels, scans, work and memory of one file. A small file can claim or expand to any size: what exceeds
// a limit is refused before memory and time are spent.
#pragma once
#include <cstdint>

namespace avida::codecs {

struct DecodeLimits {
  int64_t pixels = int64_t{1} << 28;  // of an image, according to its header
  int64_t scans = 100;                // of a JPEG file
  int64_t work = int64_t{1} << 31;    // steps that decoding takes, by an estimate; see check_work
  int64_t memory = int64_t{4} << 30;  // bytes of the result and of the decoder's working memory
};

// The limits of the process; any thread may change them at any time.
DecodeLimits decode_limits();
void set_decode_limits(const DecodeLimits& limits);
// How often they have been set.
uint64_t decode_limits_version();

// These throw an Error that names the limit and the function that sets it.
void check_pixels(int64_t height, int64_t width);
void check_scans(int64_t scans);
// A step takes about half a nanosecond, as a pixel in a scan of a JPEG file does.
void check_work(int64_t count, const char* of, int64_t steps_each);
constexpr int64_t kPixelsOfFrame = 1000;  // what beginning a frame of an animation costs, in pixels
void check_memory(int64_t count, int64_t bytes_each = 1);

}  // namespace avida::codecs
