// The family of operators that make each output element from the inputs' elements at the same index.
// Inputs are broadcast within a sample, as NumPy does it:
//
//   struct Add { template <class T> AVIDA_HD static T run(T a, T b) { ... } };
//   elementwise<Add, 2, Promotion::arithmetic>(op);
//
// Work goes in tiles of about a thousand elements: each input's tile is brought to the common type (or used where it
// lies, when it has that type already), then one tight loop runs the body.
#pragma once
#include <array>

#include "loops/elementwise/elementwise_item.h"
#include "operator/declare.h"
#include "operator/launches.h"

namespace avida {

// How the common type of the inputs and the type of the result come about.
enum class Promotion {
  arithmetic,  // the common type; not for booleans
  product,     // the common type
  bitwise,     // the common type; integers and booleans only
  floating,    // float32, or the widest float among the inputs
  comparison,  // a boolean
};

struct ElementwiseTypes {
  DType compute;  // what the body gets; float32 for the 16-bit floats
  DType result;
  bool wide = false;  // compare as 128-bit integers: uint64 against a signed type
};

constexpr int kTile = 1024;

// Which elements of an input a tile of the output needs.
struct TiledInput {
  enum class Kind {
    dense,     // the same indices as in the output
    single,    // one element for all indices
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

// The type in which uint64 is compared with signed integers: no element type, so its DType is none.
using Int128 = __int128;

// Copies elements [begin, begin + n) of the output's order from an input, converted to the type `as`.
void load_tile(const TilePlan& plan, const TiledInput& input, const void* data, DType dtype, int64_t begin, int64_t n,
               DType as, void* to);

// One tile. The pointers come by value: bytes that are written could be part of an array elsewhere, and would have to
// be taken for it.
using TileFn = void (*)(std::array<const void*, 3> in, void* out, int64_t n);

// What an operator does with elements of certain types.
template <int N>
struct ElementwiseLoop {
  TileFn tile;  // on the CPU; T is the type to compute in, and of the results of all but comparisons
  void (*launch)(Launches& launches, const ElementwiseParams<N>& params);
};

template <class Body, int N, class T>
void run_tile(std::array<const void*, 3> in, void* out_data, int64_t n) {
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]), *c = static_cast<const T*>(in[2]);
  auto made = [&](int64_t i) {
    if constexpr (N == 1)
      return Body::run(a[i]);
    else if constexpr (N == 2)
      return Body::run(a[i], b[i]);
    else
      return Body::run(a[i], b[i], c[i]);
  };
  if constexpr (requires { Body::check(b, n); }) Body::check(b, n);
  auto* out = static_cast<decltype(made(0))*>(out_data);
  for (int64_t i = 0; i < n; i++) out[i] = made(i);
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
void launch_elements(Launches& launches, const ElementwiseParams<N>& params) {
  using Item = ElementwiseItem<typename DeviceBody<Body>::type, N, T, R>;
  launches.add<Item>(0, Item::items_for(params.elements), params);
}

template <class Body, int N, Promotion P>
ElementwiseLoop<N> elementwise_loop(const ElementwiseTypes& types) {
  if constexpr (P == Promotion::comparison) {
    if (types.wide) return {run_tile<Body, N, Int128>, launch_elements<Body, N, Int128, bool>};
  }
  return with_dtype(types.compute, [&](auto type) -> ElementwiseLoop<N> {
    using T = typename decltype(type)::type;
    constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
    constexpr bool excluded = is_half || (P == Promotion::floating && !TypeTraits<T>::is_float) ||
                              (P == Promotion::bitwise && TypeTraits<T>::is_float) ||
                              (P == Promotion::arithmetic && std::is_same_v<T, bool>);
    if constexpr (excluded) {
      refuse("elements of type ", types.compute, " are not supported");
    } else if constexpr (P == Promotion::comparison) {
      return {run_tile<Body, N, T>, launch_elements<Body, N, T, bool>};
    } else {
      auto* launch = launch_elements<Body, N, T, T>;
      if constexpr (std::is_same_v<T, float>) {  // computes for the 16-bit floats too
        if (types.result == DType::float16) launch = launch_elements<Body, N, T, float16>;
        if (types.result == DType::bfloat16) launch = launch_elements<Body, N, T, bfloat16>;
      }
      return {run_tile<Body, N, T>, launch};
    }
  });
}

template <int N>
void declare_elementwise(Op<NoArgs>& op, Promotion promotion, ElementwiseLoop<N> (*find)(const ElementwiseTypes&),
                         double cost);

// Declares the inputs' common type, the result's type, shape and layout, and the loop.
template <class Body, int N, Promotion P>
void elementwise(Op<NoArgs>& op, double cost = 1) {
  declare_elementwise<N>(op, P, elementwise_loop<Body, N, P>, cost);
}

}  // namespace avida
