// Moves rows: copies bytes, and interleaves, splits and mirrors pixels of three channels.
#pragma once
#include <cstdint>

namespace avida {

// As memcpy, which may be slow for the length of an image's rows: that of glibc 2.36 uses an instruction from some two
// kilobytes on that takes long to start on AMD Zen 5.
void copy_row(void* out, const void* in, int64_t bytes);

void interleave(uint8_t* out, const uint8_t* first, const uint8_t* second, const uint8_t* third, int64_t n);
void interleave(uint16_t* out, const uint16_t* first, const uint16_t* second, const uint16_t* third, int64_t n);

void split(uint8_t* first, uint8_t* second, uint8_t* third, const uint8_t* in, int64_t n);

// `last` is the last of n pixels, which becomes the first one.
void mirror(uint8_t* out, const uint8_t* last, int64_t n);

// The first three bytes of each of n words of four.
void take_triples(uint8_t* out, const uint32_t* words, int64_t n);

}  // namespace avida
