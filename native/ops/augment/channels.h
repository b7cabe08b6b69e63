// The body of channel_shuffle and channel_dropout: each channel is another one, or a fill value.
#pragma once
#include "device/macros.h"

namespace avida::ops {

// Each item is an element.
template <class T>
struct PickChannel {
  static constexpr const char* header = "ops/augment/channels.h";
  struct Params {
    T* out;
    const T* in;
    const int* from;      // for each channel another one, or -1
    long channels, step;  // elements from one channel to the next
    T fill;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const long channel = i / params.step % params.channels;
    const int from = params.from[channel];
    params.out[i] = from < 0 ? params.fill : params.in[i + (from - channel) * params.step];
  }
};

}  // namespace avida::ops
