// Histograms of bytes, and the tables that spread them. Counting is by the CPU; a table is made by the same code for
// all.
#pragma once
#include "kernel/convert.h"

namespace avida::ops {

constexpr int kByteValues = 256;

struct ByteHistogram {
  int count[kByteValues];
};
struct ByteTable {
  unsigned char value[kByteValues];
};

// The nearest whole number, the even one of two: x is not negative and at most 255, or a bit above.
AVIDA_HD AVIDA_INLINE unsigned char round_to_even(float x) {
  constexpr float shift = 0x1p23f;  // the fraction has no place beside it
  float rounded = (x + shift) - shift;
  return static_cast<unsigned char>(rounded < 255 ? rounded : 255);
}

// The table that makes all values about equally frequent, the least value 0 and the largest 255. Nothing changes where
// there is one value only.
AVIDA_HD inline ByteTable equalizing_table(const ByteHistogram& histogram, long total) {
  int first = 0;
  while (first < kByteValues - 1 && histogram.count[first] == 0) first++;
  ByteTable table{};
  if (histogram.count[first] == total) {
    for (int i = 0; i < kByteValues; i++) table.value[i] = static_cast<unsigned char>(i);
    return table;
  }
  float scale = 255.0f / static_cast<float>(total - histogram.count[first]);
  long sum = 0;
  for (int i = first + 1; i < kByteValues; i++) {
    sum += histogram.count[i];
    table.value[i] = round_to_even(static_cast<float>(sum) * scale);
  }
  return table;
}

// The table that spreads the values of one tile, where no value counts for more than `limit` (0: no limit): what is cut
// off is given to all values alike.
AVIDA_HD inline ByteTable limited_table(ByteHistogram histogram, long total, int limit) {
  if (limit > 0) {
    int surplus = 0;
    for (int& count : histogram.count) {
      if (count <= limit) continue;
      surplus += count - limit;
      count = limit;
    }
    int share = surplus / kByteValues, rest = surplus % kByteValues;
    for (int& count : histogram.count) count += share;
    int step = rest > 0 ? kByteValues / rest : 1;
    for (int i = 0; i < kByteValues && rest > 0; i += step, rest--) histogram.count[i]++;
  }
  float scale = 255.0f / static_cast<float>(total);
  ByteTable table;
  int sum = 0;
  for (int i = 0; i < kByteValues; i++) {
    sum += histogram.count[i];
    table.value[i] = round_to_even(static_cast<float>(sum) * scale);
  }
  return table;
}

}  // namespace avida::ops
