// The family of operators whose every output element is made by one call of a body, on the CPU:
//
//   struct Flip { template <class T> AVIDA_HD static void run(Out<T, 5> out, In<T, 5> in, Index<5> i, const FlipArgs&);
//   };
//
// Samples are seen through a canonical layout; axes that a sample lacks have the extent 1.
#pragma once
#include "kernel/view.h"
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

// The three outer axes are the rows that threads share; the two inner ones run in plain nested loops. What is known
// when compiling gives constant strides: C interleaved channels, or planes (C is 0); C is -1 for any other order.
template <class Body, class Args, class T, int C>
void each_element_loop(const Args& given, View<T, kImageDim> out, View<const T, kImageDim> in, int64_t begin,
                       int64_t end) {
  const Args args = given;  // a copy that writes to the output cannot alias: tests of it leave the loop
  if constexpr (C > 0) {
    out.shape[4] = in.shape[4] = out.stride[3] = in.stride[3] = C;
    out.stride[4] = in.stride[4] = 1;
  } else if constexpr (C == 0) {
    out.stride[3] = in.stride[3] = 1;
  }
  for (int64_t row = begin; row < end; row++) {
    int64_t h = row % out.shape[2], d = row / out.shape[2] % out.shape[1], f = row / out.shape[2] / out.shape[1];
    if constexpr (C == 0) {
      for (int64_t c = 0; c < out.shape[4]; c++)
        for (int64_t w = 0; w < out.shape[3]; w++) Body::run(out, in, Index<5>{{f, d, h, w, c}}, args);
    } else {
      for (int64_t w = 0; w < out.shape[3]; w++)
        for (int64_t c = 0; c < out.shape[4]; c++) Body::run(out, in, Index<5>{{f, d, h, w, c}}, args);
    }
  }
}

template <class Body, class Args>
void each_element_rows(const Args& args, const SampleWork& work, const Layout& canonical) {
  auto loop = [&](auto type) {
    using T = typename decltype(type)::type;
    auto out = image_view<T>(work.out[0], canonical);
    auto in = image_view<const T>(work.in[0], canonical);
    auto run = [&]<int C>() { each_element_loop<Body, Args, T, C>(args, out, in, work.begin, work.end); };
    int64_t channels = out.shape[4];
    bool interleaved = out.stride[4] == 1 && out.stride[3] == channels && in.stride[3] == channels;
    if (interleaved && channels == 1)
      run.template operator()<1>();
    else if (interleaved && channels == 3)
      run.template operator()<3>();
    else if (interleaved && channels == 4)
      run.template operator()<4>();
    else if (out.stride[3] == 1 && in.stride[3] == 1)
      run.template operator()<0>();
    else
      run.template operator()<-1>();
  };
  if constexpr (Body::moves_only)
    with_size_of(work.out[0].dtype, loop);
  else
    with_dtype(work.out[0].dtype, loop);
}

inline int64_t each_element_row_count(const SampleWork& work, const Layout& canonical) {
  auto view = image_view<char>(work.out[0], canonical);
  return view.shape[0] * view.shape[1] * view.shape[2];
}

}  // namespace avida
