// Histograms of bytes, and the tables that equalize them, made by one thread or by one thread for each value.
#pragma once
#include "device/convert.h"

namespace avida::ops {

constexpr int kByteValues = 256;

struct ByteHistogram {
  int count[kByteValues];
};
struct ByteTable {
  unsigned char value[kByteValues];
};

// The nearest integer, the even one of two: x is not negative and at most 255, or a bit above.
AVIDA_HD AVIDA_INLINE unsigned char round_to_even(float x) {
  constexpr float shift = 0x1p23f;  // leaves no bits for a fraction
  float rounded = (x + shift) - shift;
  return static_cast<unsigned char>(rounded < 255 ? rounded : 255);
}

// What the counts of a value and of those below, but the least one, become. `total` counts all but the least value.
AVIDA_HD AVIDA_INLINE unsigned char equalized(long sum, long total) {
  return round_to_even(static_cast<float>(sum) * (255.0f / static_cast<float>(total)));
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
  long sum = 0;
  for (int i = first + 1; i < kByteValues; i++) {
    sum += histogram.count[i];
    table.value[i] = equalized(sum, total - histogram.count[first]);
  }
  return table;
}

// A count of which nothing is above `limit`, and its part of the surplus, which is given to all values alike.
AVIDA_HD AVIDA_INLINE int limited_count(int count, int value, int surplus, int limit) {
  const int share = surplus / kByteValues, rest = surplus % kByteValues, step = rest > 0 ? kByteValues / rest : 1;
  return (count < limit ? count : limit) + share + (value % step == 0 && value / step < rest ? 1 : 0);
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

// A histogram in the memory of a block of 256 threads. What needs all counts is made of the sums of groups of them.
struct SharedHistogram {
  static constexpr int kGroup = 16, kGroups = kByteValues / kGroup;
  int count[kByteValues], group[kGroups];

  // A phase between that of the counts and that of their sums. `above`: of what counts have beyond that.
  AVIDA_HD AVIDA_INLINE void add_groups(int thread, int above = 0) {
    if (thread >= kGroups) return;
    int sum = 0;
    for (int i = 0; i < kGroup; i++) {
      const int n = count[thread * kGroup + i];
      sum += n > above ? n - above : 0;
    }
    group[thread] = sum;
  }
  AVIDA_HD AVIDA_INLINE int sum_up_to(int value) const {
    int sum = 0;
    for (int i = 0; i < value / kGroup; i++) sum += group[i];
    for (int i = value / kGroup * kGroup; i <= value; i++) sum += count[i];
    return sum;
  }
  // The least value that occurs.
  AVIDA_HD AVIDA_INLINE int first() const {
    int i = 0;
    while (i < kGroups - 1 && group[i] == 0) i++;
    i *= kGroup;
    while (i < kByteValues - 1 && count[i] == 0) i++;
    return i;
  }
};

}  // namespace avida::ops
