#include "loops/elementwise/elementwise.h"

#include <algorithm>
#include <numeric>

#include "loops/moving/convert_run.h"

namespace avida {
namespace {

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) || is_float(b)) {
    if (!is_float(a)) return b;
    if (!is_float(b)) return a;
    if (a == DType::float64 || b == DType::float64) return DType::float64;
    return DType::float32;  // also for the two different 16-bit floats
  }
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  if (is_signed(a) == is_signed(b)) return size_of(a) > size_of(b) ? a : b;
  DType with_sign = is_signed(a) ? a : b, without = is_signed(a) ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  switch (size_of(without)) {
    case 1:
      return DType::int16;
    case 2:
      return DType::int32;
    default:
      return DType::int64;
  }
}

ElementwiseTypes elementwise_types(Promotion promotion, std::span<const DType> inputs) {
  DType common = inputs[0];
  for (DType dtype : inputs.subspan(1)) common = promote(common, dtype);
  ElementwiseTypes types{common, common};
  switch (promotion) {
    case Promotion::arithmetic:
      if (common == DType::boolean) refuse("expected numbers, got booleans; use & | ^ or cast");
      break;
    case Promotion::product:
      break;
    case Promotion::bitwise:
      if (is_float(common)) refuse("expected integers or booleans, got ", common);
      break;
    case Promotion::floating:
      if (common == DType::boolean) refuse("expected numbers, got booleans; use cast");
      if (!is_float(common)) types.compute = types.result = DType::float32;
      break;
    case Promotion::comparison:
      types.result = DType::boolean;
      if (common == DType::int64)
        for (DType dtype : inputs) types.wide |= dtype == DType::uint64;
      break;
  }
  if (types.compute == DType::float16 || types.compute == DType::bfloat16) types.compute = DType::float32;
  return types;
}

void infer_elementwise(Inference& call, Promotion promotion) {
  std::vector<DType> dtypes;
  Meta& out = call.out[0];
  out.layout = Layout();
  out.ndim = 0;
  for (const Meta& meta : call.in) {
    dtypes.push_back(meta.dtype);
    out.ndim = std::max(out.ndim, meta.ndim);
    if (meta.layout.empty()) continue;
    const Layout& longer = meta.layout.size() >= out.layout.size() ? meta.layout : out.layout;
    const Layout& shorter = meta.layout.size() >= out.layout.size() ? out.layout : meta.layout;
    if (!longer.view().ends_with(shorter.view()))
      refuse("the layouts ", out.layout, " and ", meta.layout,
             " do not go together: expected equal ones, or one the end of the other");
    out.layout = Layout(longer);
  }
  if (out.layout.size() != out.ndim) out.layout = Layout();
  out.dtype = elementwise_types(promotion, dtypes).result;
}

void elementwise_shape(SampleWork& work) {
  Shape& out = work.out[0].shape;
  out = work.in[0].shape;
  for (auto& view : work.in.subspan(1)) {
    Shape other = view.shape;
    while (other.size() < out.size()) other.insert(0, 1);
    while (out.size() < other.size()) out.insert(0, 1);
    for (int d = 0; d < out.size(); d++) {
      if (out[d] != other[d] && out[d] != 1 && other[d] != 1) {
        std::string shapes;
        for (auto& v : work.in) shapes += str(shapes.empty() ? "" : " and ", v.shape);
        refuse("the shapes ", shapes, " cannot be broadcast to a common one");
      }
      if (out[d] == 1) out[d] = other[d];
    }
  }
}

int64_t count_tiles(const SampleWork& work) {
  if (work.out[0].elements() <= kTile / 2) return work.out[0].elements() > 0;  // no tile is shorter than that
  return plan_tiles(work.in, work.out[0].shape).tiles();
}

// The elements of the output's order as they are, one run along the last axis at a time.
template <class Bits>
void gather(const TilePlan& plan, const TiledInput& input, const Bits* from, int64_t begin, int64_t n, Bits* to) {
  int last = plan.shape.size() - 1;
  int64_t position[kMaxDim], rest = begin, offset = 0;
  for (int d = last; d >= 0; d--) {
    position[d] = rest % plan.shape[d];
    rest /= plan.shape[d];
    offset += position[d] * input.strides[d];
  }
  const int64_t step = input.strides[last], extent = plan.shape[last];
  for (int64_t i = 0; i < n;) {
    int64_t run = std::min(n - i, extent - position[last]);
    if (step == 0)
      std::fill_n(to + i, run, from[offset]);
    else
      for (int64_t j = 0; j < run; j++) to[i + j] = from[offset + j * step];
    i += run;
    position[last] += run;
    offset += run * step;
    for (int d = last; d > 0 && position[d] == plan.shape[d]; d--) {
      offset += input.strides[d - 1] - position[d] * input.strides[d];
      position[d] = 0;
      position[d - 1]++;
    }
  }
}

// Integers of any type as the widest.
void load_wide_tile(const TilePlan& plan, const TiledInput& input, const void* data, DType dtype, int64_t begin,
                    int64_t n, Int128* to) {
  alignas(64) int64_t numbers[kTile];
  const DType as = dtype == DType::uint64 ? DType::uint64 : DType::int64;
  load_tile(plan, input, data, dtype, begin, n, as, numbers);
  if (as == DType::uint64)
    std::copy_n(reinterpret_cast<const uint64_t*>(numbers), n, to);
  else
    std::copy_n(numbers, n, to);
}

template <int N>
void launch_sample(const SampleWork& work, const ElementwiseLoop<N>& loop) {
  TilePlan plan = plan_tiles(work.in, work.out[0].shape);
  static_assert(kElementwiseDim == kMaxDim);
  ElementwiseParams<N> params{work.out[0].data, {}, plan.elements, {}, plan.shape.size(), {}, {}};
  for (int d = 0; d < plan.shape.size(); d++) params.shape[d] = plan.shape[d];
  for (int k = 0; k < N; k++) {
    params.in[k] = work.in[k].data;
    params.type[k] = static_cast<int>(work.in[k].dtype);
    for (int d = 0; d < plan.shape.size(); d++) params.stride[k][d] = plan.inputs[k].strides[d];
    // Without axes, inputs run along with the output or are one number.
    if (plan.shape.empty()) params.stride[k][0] = plan.inputs[k].kind == TiledInput::Kind::dense;
  }
  loop.launch(*work.launches, params);
}

// The tiles [begin, end) of one sample. Each input's tile is used where it lies if it has the right type already.
void run_tiles(const SampleWork& work, const ElementwiseTypes& types, TileFn run) {
  constexpr int kWidest = sizeof(Int128);
  const DType compute = types.wide ? DType::none : types.compute;
  const int64_t size = types.wide ? kWidest : size_of(compute), out_size = size_of(types.result);
  const bool halves = types.result == DType::float16 || types.result == DType::bfloat16;
  const ConvertRun store = halves ? rounding_run(types.result, compute) : nullptr;
  const TilePlan plan = plan_tiles(work.in, work.out[0].shape);
  alignas(64) char tiles[3][kTile * kWidest], results[kTile * sizeof(float)];
  std::array<const void*, 3> in{};
  bool filled[3] = {};
  for (int64_t t = work.begin; t < work.end; t++) {
    int64_t begin = t * plan.tile, n = std::min(plan.tile, plan.elements - begin);
    for (size_t k = 0; k < work.in.size(); k++) {
      const TiledInput& input = plan.inputs[k];
      if (input.kind == TiledInput::Kind::dense && work.in[k].dtype == compute) {
        in[k] = work.in[k].as<char>() + begin * size;
        continue;
      }
      in[k] = tiles[k];
      bool same_in_every_tile = input.kind == TiledInput::Kind::periodic || input.kind == TiledInput::Kind::single;
      if (same_in_every_tile && filled[k]) continue;
      int64_t count = same_in_every_tile ? std::min(plan.tile, plan.elements) : n;
      const void* data = work.in[k].data;
      DType dtype = work.in[k].dtype;
      if (compute == DType::int64 && dtype == DType::uint64) dtype = compute;  // large integers wrap
      if (types.wide)
        load_wide_tile(plan, input, data, dtype, begin, count, reinterpret_cast<Int128*>(tiles[k]));
      else
        load_tile(plan, input, data, dtype, begin, count, compute, tiles[k]);
      filled[k] = true;
    }
    char* out = work.out[0].as<char>() + begin * out_size;
    run(in, store ? results : out, n);
    if (store) store(out, results, n);
  }
}

}  // namespace

TilePlan plan_tiles(std::span<const SampleView> in, const Shape& out) {
  TilePlan plan;
  plan.elements = volume(out);
  // Most often, every input has the output's shape or is one number.
  int n = static_cast<int>(in.size());
  bool simple = true;
  for (int k = 0; k < n; k++) {
    int64_t elements = in[k].elements();
    if (elements == plan.elements) continue;
    if (elements == 1)
      plan.inputs[k].kind = TiledInput::Kind::single;
    else
      simple = false;
  }
  if (simple) return plan;

  // Merge adjacent axes in which every input either runs on or is repeated.
  std::array<Shape, 3> strides;
  for (int k = 0; k < n; k++) {
    Shape dense = dense_strides(in[k].shape);
    int lead = out.size() - in[k].ndim();
    strides[k].resize(out.size(), 0);
    for (int d = lead; d < out.size(); d++) strides[k][d] = in[k].shape[d - lead] == 1 ? 0 : dense[d - lead];
  }
  for (int d = out.size() - 1; d >= 0; d--) {
    if (out[d] == 1) continue;
    bool merge = !plan.shape.empty();
    for (int k = 0; k < n && merge; k++) merge = strides[k][d] == plan.inputs[k].strides[0] * plan.shape[0];
    if (merge) {
      plan.shape[0] *= out[d];
    } else {
      plan.shape.insert(0, out[d]);
      for (int k = 0; k < n; k++) plan.inputs[k].strides.insert(0, strides[k][d]);
    }
  }

  int64_t period_of_all = 1;
  for (int k = 0; k < n; k++) {
    TiledInput& input = plan.inputs[k];
    if (in[k].elements() == plan.elements || input.kind == TiledInput::Kind::single) continue;
    // Repeated along the leading axes only: the elements repeat with the period of the input.
    int first = 0;
    while (first < plan.shape.size() && input.strides[first] == 0) first++;
    int64_t period = volume(plan.shape.span().subspan(first));
    bool suffix = true;
    for (int d = first; d < plan.shape.size(); d++) suffix &= input.strides[d] != 0;
    int64_t together = suffix ? std::lcm(period_of_all, period) : kTile + 1;
    if (together <= kTile) {
      input.kind = TiledInput::Kind::periodic;
      period_of_all = together;
    } else {
      input.kind = TiledInput::Kind::gathered;
    }
  }
  plan.tile = kTile / period_of_all * period_of_all;
  return plan;
}

void load_tile(const TilePlan& plan, const TiledInput& input, const void* data, DType dtype, int64_t begin, int64_t n,
               DType as, void* to) {
  const ConvertRun convert = rounding_run(as, dtype);
  if (input.kind == TiledInput::Kind::dense) {
    convert(to, static_cast<const char*>(data) + begin * size_of(dtype), n);
    return;
  }
  if (input.kind == TiledInput::Kind::single) {
    with_size_of(as, [&](auto type) {
      typename decltype(type)::type number;
      convert(&number, data, 1);
      std::fill_n(static_cast<decltype(number)*>(to), n, number);
    });
    return;
  }
  alignas(64) char gathered[kTile * sizeof(uint64_t)];
  with_size_of(dtype, [&](auto type) {
    using Bits = typename decltype(type)::type;
    gather(plan, input, static_cast<const Bits*>(data), begin, n, static_cast<Bits*>(dtype == as ? to : gathered));
  });
  if (dtype != as) convert(to, gathered, n);
}

template <int N>
void declare_elementwise(Op<NoArgs>& op, Promotion promotion, ElementwiseLoop<N> (*find)(const ElementwiseTypes&),
                         double cost) {
  op.spec.infer = [promotion](Inference& call) { infer_elementwise(call, promotion); };
  op.loop({.shape = elementwise_shape,
           .rows = count_tiles,
           .body =
               [promotion, find](const SampleWork& work) {
                 DType dtypes[N];
                 for (int k = 0; k < N; k++) dtypes[k] = work.in[k].dtype;
                 const ElementwiseTypes types = elementwise_types(promotion, dtypes);
                 const ElementwiseLoop<N> loop = find(types);
                 if (work.launches)
                   launch_sample(work, loop);
                 else
                   run_tiles(work, types, loop.tile);
               },
           .cost = cost});
}
template void declare_elementwise(Op<NoArgs>&, Promotion, ElementwiseLoop<1> (*)(const ElementwiseTypes&), double);
template void declare_elementwise(Op<NoArgs>&, Promotion, ElementwiseLoop<2> (*)(const ElementwiseTypes&), double);
template void declare_elementwise(Op<NoArgs>&, Promotion, ElementwiseLoop<3> (*)(const ElementwiseTypes&), double);

}  // namespace avida
