// What operators share that change signals: their inputs, and the channels of a sample one by one.
#pragma once
#include <vector>

#include "operator/declare.h"

namespace avida::ops {

// Signals of float32, with the axes time, or time and channels.
struct Signals {
  int64_t length, channels;

  explicit Signals(const SampleView& in) : length(in.shape[0]), channels(in.ndim() > 1 ? in.shape[1] : 1) {}

  std::vector<float> load(const SampleView& in, int64_t channel) const {
    std::vector<float> signal(length);
    const auto* from = in.as<const float>();
    for (int64_t i = 0; i < length; i++) signal[i] = from[i * channels + channel];
    return signal;
  }
  static void store(const SampleView& out, int64_t channels, int64_t channel, const float* signal, int64_t n) {
    auto* to = out.as<float>();
    for (int64_t i = 0; i < n; i++) to[i * channels + channel] = signal[i];
  }
};

template <class Args>
void infer_signals(Infer<Args>& call) {
  for (const Meta& in : call.in) {
    if (in.dtype != DType::float32 && in.dtype != DType::none)
      refuse("expected float32, got ", in.dtype, ". Convert the input with avida.cast(input, dtype=avida.float32).");
    if (in.ndim != 1 && in.ndim != 2)
      refuse("expected signals with the axes time, or time and channels, got ", in.ndim);
  }
}

}  // namespace avida::ops
