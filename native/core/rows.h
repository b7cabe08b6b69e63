// Moves rows: copies bytes, and interleaves, splits and mirrors pixels of three channels.
#pragma once
#include <cstdint>

namespace avida {

// While one exists, what this thread makes is part of an output that is too large for the cache. Functions that make
// outputs then store past it: memory is not read before it is written, and inputs stay in the cache.
class PastCache {
 public:
  explicit PastCache(int64_t bytes_of_output);
  PastCache(const PastCache&) = delete;
  ~PastCache();

 private:
  const bool before_;
};
bool past_cache();
constexpr int64_t kPastCacheBlock = 3072;  // bytes that are made in the cache before store_row() stores them past it

// As memcpy, which may be slow for the length of an image's rows: that of glibc 2.36 uses an instruction from some two
// kilobytes on that takes long to start on AMD Zen 5.
void copy_row(void* out, const void* in, int64_t bytes);

// The same, to the output: past the cache where past_cache().
void store_row(void* out, const void* in, int64_t bytes);

void interleave(uint8_t* out, const uint8_t* first, const uint8_t* second, const uint8_t* third, int64_t n);
void interleave(uint16_t* out, const uint16_t* first, const uint16_t* second, const uint16_t* third, int64_t n);

void split(uint8_t* first, uint8_t* second, uint8_t* third, const uint8_t* in, int64_t n);

// `last` is the last of n pixels, which becomes the first one.
void mirror(uint8_t* out, const uint8_t* last, int64_t n);

// Transposes pixels of three bytes: those of a row of the input, `in_step` bytes after the last one, become a column of
// the output. `columns` is the number of pixels in a row of the input.
void transpose_triples(uint8_t* out, int64_t out_step, const uint8_t* in, int64_t in_step, int64_t columns,
                       int64_t rows);

// The first three bytes of each of n words of four.
void take_triples(uint8_t* out, const uint32_t* words, int64_t n);

}  // namespace avida
