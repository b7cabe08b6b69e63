// Equalizes histograms on a GPU.
// There are three steps: count in parts of planes, make tables of the counts, apply the tables.
#pragma once
#include "device/words.h"
#include "ops/color/count.h"
#include "ops/color/histogram.h"

namespace avida::ops {

// Planes of pixels, cut into parts for blocks of threads. Each block takes up to four channels.
struct PlaneParts {
  static constexpr int kMostChannels = 4;
  long pixels;  // of a plane
  int channels, parts, part_pixels;

  AVIDA_HD AVIDA_INLINE int groups() const { return (channels + kMostChannels - 1) / kMostChannels; }
};

// What a block works on.
struct PlanePart {
  static constexpr int kThreads = 256;
  static constexpr int kWords = 3;                      // that a thread moves at once,
  static constexpr int kWordStep = 4 * kThreads;        // bytes from one to the next:
  static constexpr int kTogether = kWords * kWordStep;  // all threads have whole pixels of 1 to 4 channels
  long first;                                           // byte
  long plane;
  int pixels, group, group_channels;

  AVIDA_HD AVIDA_INLINE PlanePart(const PlaneParts& planes, long item) {
    const long part = item % planes.parts, rest = item / planes.parts;
    const int groups = planes.groups();
    group = static_cast<int>(rest % groups);
    plane = rest / groups;
    const long first_pixel = part * planes.part_pixels, left = planes.pixels - first_pixel;
    pixels = static_cast<int>(left < planes.part_pixels ? left : planes.part_pixels);
    const int first_channel = group * PlaneParts::kMostChannels, channels_left = planes.channels - first_channel;
    group_channels = channels_left < PlaneParts::kMostChannels ? channels_left : PlaneParts::kMostChannels;
    first = (plane * planes.pixels + first_pixel) * planes.channels + first_channel;
  }

  // Calls words(i) for the first byte of a thread's words, and one(i, channel) for single bytes.
  template <class Words, class One>
  AVIDA_HD AVIDA_INLINE void each(const PlaneParts& planes, int thread, const Words& words, const One& one) const {
    const int channels = planes.channels;
    if (channels > PlaneParts::kMostChannels) {
      for (int i = thread; i < pixels; i += kThreads)
        for (int c = 0; c < group_channels; c++) one(long{i} * channels + c, c);
      return;
    }
    const int bytes = pixels * channels, together = bytes / kTogether * kTogether;
    for (int i = 4 * thread; i < together; i += kTogether) words(i);
    for (int i = together + thread; i < bytes; i += kThreads) one(i, i % channels);
  }
};

// Where the tables for the bytes of a thread's words begin.
struct TableStarts {
  int at[PlanePart::kWords][4];
  AVIDA_HD AVIDA_INLINE TableStarts(int channels, int thread) {
    for (int w = 0; w < PlanePart::kWords; w++)
      for (int k = 0; k < 4; k++) at[w][k] = (w * PlanePart::kWordStep + 4 * thread + k) % channels * kByteValues;
  }
};

// An item is a part of a plane, for a group of channels.
struct CountBytes {
  static constexpr const char* header = "ops/color/equalize.h";
  static constexpr int kThreads = PlanePart::kThreads, kPhases = 3;
  static constexpr int kCounts = PlaneParts::kMostChannels * kByteValues;  // of an item
  struct Params {
    const unsigned char* in;
    int* counts;
    PlaneParts planes;
  };
  struct Shared {
    int counts[2][kCounts];  // neighbours are often equal: the threads that count together are fewer
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const PlanePart part(params.planes, item);
    if constexpr (phase == 0) {
      for (int i = thread; i < kCounts; i += kThreads) shared.counts[0][i] = shared.counts[1][i] = 0;
    } else if constexpr (phase == 1) {
      int* counts = shared.counts[thread / 32 % 2];
      const unsigned char* in = params.in + part.first;
      const TableStarts starts(params.planes.channels, thread);
      part.each(
          params.planes, thread,
          [&](int i) {
            for (int w = 0; w < PlanePart::kWords; w++) {
              unsigned char bytes[4];
              load_bytes(in + i + w * PlanePart::kWordStep, bytes);
              for (int k = 0; k < 4; k++) count_one(counts[starts.at[w][k] + bytes[k]]);
            }
          },
          [&](long i, int channel) { count_one(counts[channel * kByteValues + in[i]]); });
    } else {
      int* out = params.counts + item * kCounts;
      for (int i = thread; i < part.group_channels * kByteValues; i += kThreads)
        out[i] = shared.counts[0][i] + shared.counts[1][i];
    }
  }
};

// An item is a channel of a plane; a thread makes the table's entry for a value.
struct EqualizingTable {
  static constexpr const char* header = "ops/color/equalize.h";
  static constexpr int kThreads = kByteValues, kPhases = 3;
  struct Params {
    unsigned char* tables;
    const int* counts;
    PlaneParts planes;
  };
  using Shared = SharedHistogram;

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int value) {
    const PlaneParts& planes = params.planes;
    if constexpr (phase == 0) {
      const long plane = item / planes.channels;
      const int channel = static_cast<int>(item % planes.channels), group = channel / PlaneParts::kMostChannels;
      const long first = (plane * planes.groups() + group) * planes.parts;
      const int* counts =
          params.counts + first * CountBytes::kCounts + channel % PlaneParts::kMostChannels * kByteValues;
      int sum = 0;
      for (int part = 0; part < planes.parts; part++) sum += counts[part * long{CountBytes::kCounts} + value];
      shared.count[value] = sum;
    } else if constexpr (phase == 1) {
      shared.add_groups(value);
    } else {
      const int first = shared.first(), least = shared.count[first];
      unsigned char to = 0;
      if (least == planes.pixels)
        to = static_cast<unsigned char>(value);
      else if (value > first)
        to = equalized(shared.sum_up_to(value) - least, planes.pixels - least);
      params.tables[item * kByteValues + value] = to;
    }
  }
};

// An item is a part of a plane, for a group of channels.
struct ApplyTables {
  static constexpr const char* header = "ops/color/equalize.h";
  static constexpr int kThreads = PlanePart::kThreads, kPhases = 2;
  struct Params {
    unsigned char* out;
    const unsigned char *in, *tables;
    PlaneParts planes;
  };
  struct Shared {
    unsigned words[PlaneParts::kMostChannels * kByteValues / 4];
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const PlanePart part(params.planes, item);
    if constexpr (phase == 0) {
      const long table = part.plane * params.planes.channels + part.group * PlaneParts::kMostChannels;
      const unsigned* words = reinterpret_cast<const unsigned*>(params.tables + table * kByteValues);
      for (int i = thread; i < part.group_channels * kByteValues / 4; i += kThreads) shared.words[i] = words[i];
    } else {
      const unsigned char *table = reinterpret_cast<const unsigned char*>(shared.words), *in = params.in + part.first;
      unsigned char* out = params.out + part.first;
      const TableStarts starts(params.planes.channels, thread);
      part.each(
          params.planes, thread,
          [&](int i) {
            for (int w = 0; w < PlanePart::kWords; w++) {
              unsigned char bytes[4];
              load_bytes(in + i + w * PlanePart::kWordStep, bytes);
              for (int k = 0; k < 4; k++) bytes[k] = table[starts.at[w][k] + bytes[k]];
              store_bytes(out + i + w * PlanePart::kWordStep, bytes);
            }
          },
          [&](long i, int channel) { out[i] = table[channel * kByteValues + in[i]]; });
    }
  }
};

}  // namespace avida::ops
