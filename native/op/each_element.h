// The family of operators whose every output element is made by one call of a body:
//
//   struct Flip { template <class T> AVIDA_HD static void run(Out<T, 5> out, In<T, 5> in, Index<5> i, const FlipArgs&); };
//
// Samples are seen through a canonical layout; axes that a sample lacks have the extent 1.
#pragma once
#include "kernel/kernel.h"
#include "op/sample.h"

namespace avida {

constexpr int kImageDim = 5;  // "FDHWC"

template <class T>
View<T, kImageDim> image_view(const SampleView& sample, const Layout& canonical) {
  View<T, kImageDim> view;
  view.data = sample.as<T>();
  Shape strides = dense_strides(sample.shape);
  for (int d = 0; d < kImageDim; d++) {
    int axis = sample.layout.find(canonical[d]);
    view.shape[d] = axis < 0 ? 1 : sample.shape[axis];
    view.stride[d] = axis < 0 ? 0 : strides[axis];
  }
  return view;
}

// The three outer axes are the rows that threads share; the two inner ones run in plain nested loops.
template <class Body, class Args>
void each_element_rows(const Args& args, const SampleWork& work, const Layout& canonical) {
  auto loop = [&](auto type) {
    using T = typename decltype(type)::type;
    auto out = image_view<T>(work.out[0], canonical);
    auto in = image_view<const T>(work.in[0], canonical);
    for (int64_t row = work.begin; row < work.end; row++) {
      int64_t h = row % out.shape[2], d = row / out.shape[2] % out.shape[1], f = row / out.shape[2] / out.shape[1];
      for (int64_t w = 0; w < out.shape[3]; w++)
        for (int64_t c = 0; c < out.shape[4]; c++) Body::run(out, in, Index<5>{{f, d, h, w, c}}, args);
    }
  };
  if constexpr (Body::moves_only) with_size_of(work.out[0].dtype, loop);
  else with_dtype(work.out[0].dtype, loop);
}

inline int64_t each_element_row_count(const SampleWork& work, const Layout& canonical) {
  auto view = image_view<char>(work.out[0], canonical);
  return view.shape[0] * view.shape[1] * view.shape[2];
}

}  // namespace avida
