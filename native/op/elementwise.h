// The family of operators that make each output element from the inputs' elements at the same place, with NumPy's
// broadcasting within a sample:
//
//   struct Add { template <class T> AVIDA_HD static T run(T a, T b) { ... } };
//   elementwise<Add, 2>(op, Promotion::arithmetic);
//
// Work goes in tiles of about a thousand elements: each input's tile is brought to the common type (or used where it
// lies, when it has that type already), then one tight loop runs the body.
#pragma once
#include <array>

#include "kernel/elementwise.h"
#include "op/launches.h"
#include "op/op.h"

namespace avida {

// How the common type of the inputs and the type of the result come about.
enum class Promotion {
  arithmetic,  // the common type; not for booleans
  product,     // the common type
  bitwise,     // the common type; integers and booleans only
  floating,    // float32, or the widest float among the inputs
  comparison,  // a boolean
};

DType promote(DType a, DType b);

struct ElementwiseTypes {
  DType compute;  // what the body gets; float32 for the 16-bit floats
  DType result;
  bool wide = false;  // compare as 128-bit integers: uint64 against a signed type
};
ElementwiseTypes elementwise_types(Promotion promotion, std::span<const DType> inputs);
void infer_elementwise(Inference& call, Promotion promotion);
void elementwise_shape(SampleWork& work);

constexpr int kTile = 1024;

// Which elements of an input a tile of the output needs.
struct TiledInput {
  enum class Kind {
    dense,     // the same places as in the output
    single,    // one element for all places
    periodic,  // the same elements in every tile
    gathered,  // anything else
  } kind = Kind::dense;
  Shape strides;  // of each output axis, 0 where the input is repeated
};

// How one sample is cut into tiles.
struct TilePlan {
  Shape shape;  // of the output, adjacent axes merged
  int64_t elements = 0, tile = kTile;
  std::array<TiledInput, 3> inputs;
  int64_t tiles() const { return (elements + tile - 1) / tile; }
};
TilePlan plan_tiles(std::span<const SampleView> in, const Shape& out);
int64_t count_tiles(const SampleWork& work);

using Int128 = __int128;

// Copies elements [begin, begin + n) of the output's order from an input, as type T.
template <class T>
void load_tile(const TilePlan& plan, const TiledInput& input, const SampleView& view, int64_t begin, int64_t n, T* to);

// One tile: T is the type to compute in, R that of the results. The pointers come by value: bytes that are written
// could be part of an array elsewhere, and would have to be taken for it.
template <int N, class T, class R>
using TileFn = void (*)(std::array<const T*, N> in, R* out, int64_t n);

template <class Body, int N, class T, class R>
void run_tile(std::array<const T*, N> in, R* out, int64_t n) {
  if constexpr (requires { Body::check(in[N - 1], n); }) Body::check(in[N - 1], n);
  for (int64_t i = 0; i < n; i++) {
    if constexpr (N == 1)
      out[i] = static_cast<R>(Body::run(in[0][i]));
    else if constexpr (N == 2)
      out[i] = static_cast<R>(Body::run(in[0][i], in[1][i]));
    else
      out[i] = static_cast<R>(Body::run(in[0][i], in[1][i], in[2][i]));
  }
}

template <class Body>
struct DeviceBody {
  using type = Body;
};
template <class Body>
  requires requires { typename Body::OnDevice; }
struct DeviceBody<Body> {
  using type = typename Body::OnDevice;
};

template <class Body, int N, class T, class R>
void launch_elements(const SampleWork& work) {
  using Item = ElementwiseItem<typename DeviceBody<Body>::type, N, T, R>;
  TilePlan plan = plan_tiles(work.in, work.out[0].shape);
  static_assert(kElementwiseDim == kMaxDim);
  typename Item::Params params{work.out[0].data, {}, plan.elements, {}, plan.shape.size(), {}, {}};
  for (int d = 0; d < plan.shape.size(); d++) params.shape[d] = plan.shape[d];
  for (int k = 0; k < N; k++) {
    params.in[k] = work.in[k].data;
    params.type[k] = static_cast<int>(work.in[k].dtype);
    for (int d = 0; d < plan.shape.size(); d++) params.stride[k][d] = plan.inputs[k].strides[d];
    // Without axes, inputs run along with the output or are one number.
    if (plan.shape.empty()) params.stride[k][0] = plan.inputs[k].kind == TiledInput::Kind::dense;
  }
  work.launches->add<Item>(0, (plan.elements + kNeighbours - 1) / kNeighbours, params);
}

// The tiles [begin, end) of one sample; compiled once for all operators of the same types.
template <int N, class T, class R>
void run_tiles(const SampleWork& work, TileFn<N, T, R> run) {
  TilePlan plan = plan_tiles(work.in, work.out[0].shape);
  alignas(64) T tiles[N][kTile];
  std::array<const T*, N> in;
  bool filled[N] = {};
  for (int64_t t = work.begin; t < work.end; t++) {
    int64_t begin = t * plan.tile, n = std::min(plan.tile, plan.elements - begin);
    for (int k = 0; k < N; k++) {
      const TiledInput& input = plan.inputs[k];
      if (input.kind == TiledInput::Kind::dense && work.in[k].dtype == dtype_of<T>) {
        in[k] = work.in[k].as<T>() + begin;
        continue;
      }
      in[k] = tiles[k];
      bool same_in_every_tile = input.kind == TiledInput::Kind::periodic || input.kind == TiledInput::Kind::single;
      if (same_in_every_tile && filled[k]) continue;
      int64_t count = same_in_every_tile ? std::min(plan.tile, plan.elements) : n;
      load_tile<T>(plan, input, work.in[k], begin, count, tiles[k]);
      filled[k] = true;
    }
    run(in, work.out[0].as<R>() + begin, n);
  }
}

template <class Body, int N, class T, class R>
void run_elements(const SampleWork& work) {
  if (work.launches)
    launch_elements<Body, N, T, R>(work);
  else
    run_tiles<N, T, R>(work, run_tile<Body, N, T, R>);
}

template <class Body, int N, Promotion P>
void elementwise_body(const SampleWork& work) {
  DType dtypes[N];
  for (int k = 0; k < N; k++) dtypes[k] = work.in[k].dtype;
  ElementwiseTypes types = elementwise_types(P, dtypes);
  if constexpr (P == Promotion::comparison) {
    if (types.wide) return run_elements<Body, N, Int128, bool>(work);
  }
  with_dtype(types.compute, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
    constexpr bool excluded = is_half || (P == Promotion::floating && !TypeTraits<T>::is_float) ||
                              (P == Promotion::bitwise && TypeTraits<T>::is_float) ||
                              (P == Promotion::arithmetic && std::is_same_v<T, bool>);
    if constexpr (excluded) {
      fail(ErrorKind::runtime, "elements of type ", types.compute, " are not supported");
    } else if constexpr (P == Promotion::comparison) {
      run_elements<Body, N, T, bool>(work);
    } else if constexpr (std::is_same_v<T, float>) {  // computes for the 16-bit floats too
      if (types.result == DType::float16)
        run_elements<Body, N, T, float16>(work);
      else if (types.result == DType::bfloat16)
        run_elements<Body, N, T, bfloat16>(work);
      else
        run_elements<Body, N, T, T>(work);
    } else {
      run_elements<Body, N, T, T>(work);
    }
  });
}

// Declares the inputs' common type, the result's type, shape and layout, and the loop.
template <class Body, int N, Promotion P>
void elementwise(Op<NoArgs>& op, double cost = 1) {
  op.infer([](Infer<NoArgs>& call) { infer_elementwise(const_cast<Inference&>(call.call), P); });
  op.loop({elementwise_shape, count_tiles, elementwise_body<Body, N, P>, cost}).on_gpu();
}

}  // namespace avida
