// Helpers of the noise operators: their element types, and rows of elements converted to real numbers.
#pragma once
#include <type_traits>

#include "loops/items/each_item.h"
#include "loops/moving/convert_run.h"
#include "operator/declare.h"
#include "ops/random/tiles.h"

namespace avida::ops {

template <class Args>
void infer_noisy(Infer<Args>& call) {
  check_numbers(call.in[0].dtype);
}

// Calls fn(Type<T>{}) with a type that infer_noisy() accepts.
template <class Fn>
void with_noisy_type(DType dtype, Fn&& fn) {
  with_dtype(dtype, [&](auto type) {
    if constexpr (!std::is_same_v<typename decltype(type)::type, bool>) fn(type);
  });
}

// A float where it holds every number of this type; the larger types need a double.
template <class T>
using NoiseReal = std::conditional_t<sizeof(T) <= 2 || std::is_same_v<T, float>, float, double>;

// For plans: the rows of their work.
struct NoisePlan {
  template <class Args>
  static int64_t rows(const Sample<Args>& sample) {
    return draw_rows(sample.out[0].elements());
  }
};

// Runs a body whose items are blocks of random words, for the rows of `work`: some of `draws` elements or pixels.
template <class Body, int per_block, class Work, class HostLoop>
void each_block(const Work& work, int64_t draws, const typename Body::Params& params, HostLoop&& host_loop) {
  constexpr int64_t row = kDrawRow / per_block;
  each_item<Body>(work, work.begin * row, std::min(work.end * row, drawn_blocks<per_block>(draws)), params, host_loop);
}

// run(values, first, n) changes the elements [first, first + n), which are converted to Real before and back after it.
template <class Real, class Args, class Run>
void change_rows(const Sample<Args>& sample, Run run) {
  const SampleView &in = sample.in[0], &out = sample.out[0];
  const int size = size_of(in.dtype);
  const ConvertRun load = rounding_run(dtype_of<Real>, in.dtype), store = rounding_run(in.dtype, dtype_of<Real>);
  alignas(64) Real values[kDrawRow];
  for (int64_t row = sample.begin; row < sample.end; row++) {
    const int64_t first = row * kDrawRow, n = std::min(kDrawRow, out.elements() - first);
    load(values, in.as<char>() + first * size, n);
    run(values, first, n);
    store(out.as<char>() + first * size, values, n);
  }
}

}  // namespace avida::ops
