#include "ops/sound/nonsilent_region.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "operator/declare.h"
#include "operator/launches.h"
#include "runtime/memory.h"

namespace avida::ops {
namespace {

struct NonsilentArgs {
  float cutoff_db = -60;
  std::optional<float> reference_power;
  int reset_interval = 8192, window_length = 2048;
};

constexpr long kExactInterval = 8192;  // where sums have no rounding errors, for threads to share them

template <class In>
void find_region(const NonsilentParams& params) {
  float greatest = 0;
  for (long i = 0; i < params.intervals(); i++) greatest = std::max(greatest, window_powers<In>(params, i));
  const float threshold = power_threshold(params, greatest);
  long first = 0, last = params.windows() - 1;
  while (first <= last && !(params.powers[first] >= threshold)) first++;
  while (first <= last && !(params.powers[last] >= threshold)) last--;
  store_region(params, first, last);
}

// Calls fn(Type<In>{}) with the element type.
template <class Fn>
void with_sound_type(DType dtype, Fn&& fn) {
  with_dtype(dtype, [&](auto type) {
    using In = typename decltype(type)::type;
    if constexpr (same_type<In, float> || (!TypeTraits<In>::is_float && !same_type<In, bool>)) fn(type);
  });
}

struct RegionPlan {
  void shape(Sample<NonsilentArgs>& sample) const {
    for (SampleView& out : sample.out) out.shape = {};
  }
  void run(const Sample<NonsilentArgs>& sample) const {
    const NonsilentArgs& args = sample.args;
    const SampleView& in = sample.in[0];
    const long elements = in.elements();
    const long never = std::numeric_limits<long>::max() / 4;
    long interval = args.reset_interval > 0 && in.dtype == DType::float32 ? args.reset_interval : never;
    if (size_of(in.dtype) <= 2) interval = kExactInterval;
    NonsilentParams params{.begin = sample.out[0].as<int>(),
                           .length = sample.out[1].as<int>(),
                           .in = in.data,
                           .powers = nullptr,
                           .elements = elements,
                           .window = std::min<long>(args.window_length, elements),
                           .interval = interval,
                           .reference = args.reference_power.value_or(0),
                           .cutoff = std::pow(10.0f, args.cutoff_db / 10)};
    const auto bytes = static_cast<int64_t>(sizeof(float)) * std::max(1L, elements);
    if (sample.launches) {
      sample.launches->clear(params.begin, sizeof(int));
      sample.launches->clear(params.length, sizeof(int));
      if (elements == 0) return;
      params.powers = static_cast<float*>(sample.launches->scratch(bytes));
      return with_sound_type(in.dtype, [&](auto type) {
        sample.launches->add<NonsilentRegion<typename decltype(type)::type>>(0, 1, params);
      });
    }
    if (elements == 0) return store_region(params, 0, -1);
    const Block block = allocate(bytes);
    params.powers = static_cast<float*>(block.get());
    with_sound_type(in.dtype, [&](auto type) { find_region<typename decltype(type)::type>(params); });
  }
};

void infer(Infer<NonsilentArgs>& call) {
  const NonsilentArgs& args = call.args;
  const Meta& in = call.in[0];
  if (in.ndim != 1) refuse("expected signals of one axis, got ", in.ndim);
  if (in.dtype == DType::boolean || (is_float(in.dtype) && in.dtype != DType::float32))
    refuse("expected float32 or integers, got ", in.dtype);
  if (args.reference_power && !(*args.reference_power > 0))
    refuse("expected a reference_power above 0, got ", *args.reference_power);
  if (args.window_length <= 0) refuse("expected a window_length above 0, got ", args.window_length);
  if (args.reset_interval != -1 && (args.reset_interval <= 0 || args.reset_interval % args.window_length != 0))
    refuse("expected -1 or a multiple of window_length = ", args.window_length, " as reset_interval, got ",
           args.reset_interval);
  for (Meta& out : call.out) {
    out.dtype = DType::int32;
    out.ndim = 0;
    out.layout = {};
  }
}

}  // namespace

AVIDA_OP(nonsilent_region, NonsilentArgs) {
  using Args = NonsilentArgs;
  op.doc(
        "Finds the part of signals between leading and trailing silence. A window is silent if its mean power is "
        "below the cutoff. Returns the first element of the part, and its length: 0 if all is silent.")
      .input("input", "The signals, of one axis: float32 or integers.")
      .outputs(2)
      .arg("cutoff_db", &Args::cutoff_db, "The threshold, in decibels of `reference_power`.", fixed)
      .arg("reference_power", &Args::reference_power,
           "The power of 0 decibels; by default the greatest power of a window of the signal.", fixed)
      .arg("reset_interval", &Args::reset_interval,
           "The number of elements after which the moving sum is computed anew, without rounding errors: a multiple of "
           "`window_length`, or -1 for never. Without effect on integers.",
           fixed)
      .arg("window_length", &Args::window_length, "The length of the windows; at most that of the signal.", fixed)
      .example("avida.nonsilent_region(np.array([0, 0, 5, 7, 0, 0, 0], np.int16), window_length=1)")
      .infer(infer)
      .each_sample<RegionPlan>()
      .cost(8);
}

}  // namespace avida::ops
