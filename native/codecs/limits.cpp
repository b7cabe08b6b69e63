#include "codecs/limits.h"

#include <atomic>
#include <limits>

#include "core/error.h"

namespace avida::codecs {
namespace {

std::atomic<int64_t> most_pixels = DecodeLimits{}.pixels, most_scans = DecodeLimits{}.scans,
                     most_work = DecodeLimits{}.work, most_memory = DecodeLimits{}.memory;
std::atomic<uint64_t> version{0};

}  // namespace

DecodeLimits decode_limits() { return {most_pixels, most_scans, most_work, most_memory}; }

void set_decode_limits(const DecodeLimits& limits) {
  if (limits.pixels < 1 || limits.scans < 1 || limits.work < 1 || limits.memory < 1)
    fail(ErrorKind::value, "expected limits of at least 1, got pixels=", limits.pixels, ", scans=", limits.scans,
         ", work=", limits.work, ", memory=", limits.memory);
  most_pixels = limits.pixels;
  most_scans = limits.scans;
  most_work = limits.work;
  most_memory = limits.memory;
  version++;
}

uint64_t decode_limits_version() { return version; }

void check_pixels(int64_t height, int64_t width) {
  if (height * width > most_pixels)
    refuse("expected an image of at most ", most_pixels, " pixels, its header declares ", height, " x ", width,
           "; avida.set_decode_limits(pixels=...) changes the limit");
}

void check_scans(int64_t scans) {
  if (scans > most_scans)
    refuse("expected at most ", most_scans, " scans, got ", scans,
           "; avida.set_decode_limits(scans=...) changes the limit");
}

void check_work(int64_t count, const char* of, int64_t steps_each) {
  int64_t steps;
  if (__builtin_mul_overflow(count, steps_each, &steps)) steps = std::numeric_limits<int64_t>::max();
  if (steps > most_work)
    refuse("expected a file that takes at most ", most_work, " steps to decode, got ", count, " ", of, " of ",
           steps_each, " steps; avida.set_decode_limits(work=...) changes the limit");
}

void check_memory(int64_t count, int64_t bytes_each) {
  int64_t bytes;
  if (__builtin_mul_overflow(count, bytes_each, &bytes)) bytes = std::numeric_limits<int64_t>::max();
  if (bytes > most_memory)
    refuse("expected a file that needs at most ", most_memory, " bytes of memory to decode, it needs ", bytes,
           "; avida.set_decode_limits(memory=...) changes the limit");
}

}  // namespace avida::codecs
