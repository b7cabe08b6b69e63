#include "op/elementwise.h"

#include <algorithm>
#include <numeric>

namespace avida {

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
      if (common == DType::boolean) fail(ErrorKind::runtime, "expected numbers, got booleans; use & | ^ or cast");
      break;
    case Promotion::product:
      break;
    case Promotion::bitwise:
      if (is_float(common)) fail(ErrorKind::runtime, "expected integers or booleans, got ", common);
      break;
    case Promotion::floating:
      if (common == DType::boolean) fail(ErrorKind::runtime, "expected numbers, got booleans");
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
      fail(ErrorKind::runtime, "the layouts ", out.layout, " and ", meta.layout,
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
        fail(ErrorKind::runtime, "the shapes ", shapes, " cannot be broadcast to a common one");
      }
      if (out[d] == 1) out[d] = other[d];
    }
  }
}

int64_t count_tiles(const SampleWork& work) {
  if (work.out[0].elements() <= kTile / 2) return work.out[0].elements() > 0;  // no tile is shorter than that
  return plan_tiles(work.in, work.out[0].shape).tiles();
}

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
    // Repeated along the leading axes only: the elements come round again after as many as the input has.
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

template <class T>
void load_tile(const TilePlan& plan, const TiledInput& input, const SampleView& view, int64_t begin, int64_t n, T* to) {
  with_dtype(view.dtype, [&](auto type) {
    using From = typename decltype(type)::type;
    using Real = typename ComputeType<From>::type;
    const From* from = view.as<From>();
    if (input.kind == TiledInput::Kind::dense) {
      for (int64_t i = 0; i < n; i++) to[i] = static_cast<T>(Real(from[begin + i]));
      return;
    }
    if (input.kind == TiledInput::Kind::single) {
      std::fill_n(to, n, static_cast<T>(Real(from[0])));
      return;
    }
    // Walk the output's order, one run along the last axis at a time.
    int last = plan.shape.size() - 1;
    int64_t position[kMaxDim], rest = begin, offset = 0;
    for (int d = last; d >= 0; d--) {
      position[d] = rest % plan.shape[d];
      rest /= plan.shape[d];
      offset += position[d] * input.strides[d];
    }
    int64_t step = input.strides[last];
    for (int64_t i = 0; i < n;) {
      int64_t run = std::min(n - i, plan.shape[last] - position[last]);
      if (step == 0)
        std::fill_n(to + i, run, static_cast<T>(Real(from[offset])));
      else
        for (int64_t j = 0; j < run; j++) to[i + j] = static_cast<T>(Real(from[offset + j * step]));
      i += run;
      position[last] += run;
      offset += run * step;
      for (int d = last; d > 0 && position[d] == plan.shape[d]; d--) {
        offset += input.strides[d - 1] - position[d] * input.strides[d];
        position[d] = 0;
        position[d - 1]++;
      }
    }
  });
}

#define AVIDA_LOAD(T) \
  template void load_tile<T>(const TilePlan&, const TiledInput&, const SampleView&, int64_t, int64_t, T*);
AVIDA_LOAD(uint8_t)
AVIDA_LOAD(uint16_t)
AVIDA_LOAD(uint32_t)
AVIDA_LOAD(uint64_t)
AVIDA_LOAD(int8_t)
AVIDA_LOAD(int16_t)
AVIDA_LOAD(int32_t)
AVIDA_LOAD(int64_t)
AVIDA_LOAD(float)
AVIDA_LOAD(double)
AVIDA_LOAD(bool)
AVIDA_LOAD(Int128)
#undef AVIDA_LOAD

}  // namespace avida
