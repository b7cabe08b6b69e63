#include "ops/sound/preemphasis_filter.h"

#include <algorithm>

#include "core/clones.h"
#include "loops/items/each_item.h"
#include "loops/items/kernel_types.h"
#include "loops/moving/convert_run.h"
#include "operator/declare.h"

namespace avida::ops {

AVIDA_CHOICES(BeforeFirst, "zero", "clamp", "reflect")

namespace {

struct PreemphasisArgs {
  BeforeFirst border = BeforeFirst::clamp;
  DType dtype = DType::float32;
  float preemph_coeff = 0.97f;
};

constexpr int64_t kTile = 4096;  // elements that are processed at a time

// `in` begins with the element before the first.
AVIDA_CLONES void filter_tile(float* out, const float* in, float coefficient, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = in[i + 1] - coefficient * in[i];
}

using AnyPreemphasis = Preemphasis<AnyElement, AnyElement>;

void filter_rows(const AnyPreemphasis::Params& params, int64_t begin, int64_t end) {
  const auto to = static_cast<DType>(params.to), from = static_cast<DType>(params.from);
  const ConvertRun load = rounding_run(DType::float32, from), store = rounding_run(to, DType::float32);
  alignas(64) float in[kTile + 1], out[kTile];
  for (int64_t row = begin; row < end; row++) {
    const int64_t first = row * kTile, n = std::min(kTile, params.length - first);
    if (row > 0 && to == DType::float32 && from == DType::float32) {
      filter_tile(static_cast<float*>(params.out) + first, static_cast<const float*>(params.in) + first - 1,
                  params.coefficient, n);
      continue;
    }
    const auto* elements = static_cast<const char*>(params.in);
    const int64_t before = AnyPreemphasis::previous(params.border, first, params.length);
    in[0] = 0;
    if (before >= 0) load(in, elements + before * size_of(from), 1);
    load(in + 1, elements + first * size_of(from), n);
    filter_tile(out, in, params.coefficient, n);
    store(static_cast<char*>(params.out) + first * size_of(to), out, n);
  }
}

struct PreemphasisPlan {
  int64_t rows(const Sample<PreemphasisArgs>& sample) const { return (sample.in[0].elements() + kTile - 1) / kTile; }
  void run(const Sample<PreemphasisArgs>& sample) const {
    const SampleView &in = sample.in[0], &out = sample.out[0];
    const AnyPreemphasis::Params params{.out = out.data,
                                        .in = in.data,
                                        .to = static_cast<int>(out.dtype),
                                        .from = static_cast<int>(in.dtype),
                                        .border = sample.args.border,
                                        .coefficient = sample.args.preemph_coeff,
                                        .length = in.elements()};
    if (!sample.launches) return filter_rows(params, sample.begin, sample.end);
    with_kernel_types(out.dtype, in.dtype, [&](auto to, auto from) {
      using Body = Preemphasis<typename decltype(to)::type, typename decltype(from)::type>;
      sample.launches->add<Body>(
          0, params.length,
          {params.out, params.in, params.to, params.from, params.border, params.coefficient, params.length});
    });
  }
};

}  // namespace

AVIDA_OP(preemphasis_filter, PreemphasisArgs) {
  using Args = PreemphasisArgs;
  op.doc("Emphasises high frequencies. Subtracts from each element the one before it, times a coefficient.")
      .input("input", "The signals. Elements of samples with several axes count as one signal.")
      .arg("border", &Args::border,
           "What comes before the first element: \"zero\", \"clamp\" (itself) or \"reflect\" (the second element).")
      .arg("dtype", &Args::dtype, "The element type of the output; integers are rounded and clamped.")
      .arg("preemph_coeff", &Args::preemph_coeff, "The coefficient.")
      .example("avida.preemphasis_filter(np.array([1, 2, 4], np.float32), preemph_coeff=0.5)")
      .infer([](Infer<Args>& call) {
        check_numbers(call.in[0].dtype, call.args.dtype);
        call.out[0].dtype = call.args.dtype;
      })
      .each_sample<PreemphasisPlan>()
      .cost(2);
}

}  // namespace avida::ops
