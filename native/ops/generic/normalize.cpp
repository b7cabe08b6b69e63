#include "ops/generic/normalize.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/clones.h"
#include "loops/elementwise/elementwise.h"
#include "loops/items/kernel_types.h"
#include "loops/moving/convert_run.h"
#include "loops/reducing/reduce.h"
#include "operator/axes.h"
#include "ops/reductions/reducers.h"
#include "runtime/memory.h"

namespace avida {
namespace ops {
namespace {

// An argument that is one number, or an array with the extent 1 along the normalized axes.
struct Numbers {
  Shape shape;
  std::vector<double> values;
  bool single() const { return shape.size() <= 1 && values.size() == 1; }
};

struct NormalizeArgs {
  std::optional<Vec<int64_t>> axes;
  std::optional<Layout> axis_names;
  bool batch = false;
  int ddof = 0;
  DType dtype = DType::float32;
  double epsilon = 0;
  std::optional<Numbers> mean;
  double scale = 1, shift = 0;
  std::optional<Numbers> stddev;
};

}  // namespace
}  // namespace ops

template <>
struct arg::Traits<ops::Numbers> {
  static constexpr ArgType type = ArgType::reals;
  static void assign(ops::Numbers& member, const ArgValue& value) {
    Traits<std::vector<double>>::assign(member.values, value);
    bool is_list = std::holds_alternative<std::vector<double>>(value);
    member.shape = is_list ? Shape{static_cast<int64_t>(member.values.size())} : Shape{};
  }
  static void from_sample(ops::Numbers& member, const void* data, const Shape& shape, DType dtype) {
    member.shape = shape;
    member.values.resize(volume(shape));
    rounding_run(DType::float64, dtype)(member.values.data(), data, volume(shape));
  }
  static std::string text(const ops::Numbers&) { return ""; }
};

namespace ops {
namespace {

const NormalizeArgs& args_of(const Run& run, int sample) {
  return *static_cast<const NormalizeArgs*>(run.args.at(sample));
}
const Shape shape_of(const Run& run, int sample) { return run.in[0]->shapes[run.index_in(0, sample)]; }

// The axes to normalize along, one bit each: those that are named; else those along which the given means or deviations
// have the extent 1.
unsigned normalized_axes(const Run& run) {
  const int ndim = run.in[0]->shapes.ndim();
  const NormalizeArgs& args = args_of(run, 0);
  if (args.axes || args.axis_names) {
    unsigned axes = 0;
    for (int axis : resolve_axes(args.axes, args.axis_names, ndim, run.in[0]->layout)) axes |= 1u << axis;
    return axes;
  }
  unsigned axes = (1u << ndim) - 1;
  for (int i = 0; i < run.samples; i++)
    for (auto* numbers : {&args_of(run, i).mean, &args_of(run, i).stddev})
      if (*numbers && !(*numbers)->single())
        for (int d = 0; d < std::min(ndim, (*numbers)->shape.size()); d++)
          if ((*numbers)->shape[d] != 1) axes &= ~(1u << d);
  return axes;
}

// The sample's shape with the extent 1 along the axes to normalize.
Shape shape_of_statistics(Shape shape, unsigned axes) {
  for (int d = 0; d < shape.size(); d++)
    if (axes >> d & 1) shape[d] = 1;
  return shape;
}

void check_numbers(const Run& run, int i, unsigned axes) {
  const NormalizeArgs& args = args_of(run, i);
  const Shape expected = shape_of_statistics(shape_of(run, i), axes);
  auto check = [&](const std::optional<Numbers>& numbers, const char* name) {
    if (!numbers || numbers->single()) return;
    if (args.batch)
      refuse("expected one number for \"", name, "\" when the whole batch is normalized, got the shape ",
             numbers->shape);
    if (!(numbers->shape == expected))
      refuse("expected \"", name, "\" as one number or of the shape ", expected, ", got ", numbers->shape);
  };
  check(args.mean, "mean");
  check(args.stddev, "stddev");
  if (args.batch && !(expected == shape_of_statistics(shape_of(run, 0), axes)))
    refuse("expected samples that differ along the normalized axes only, got the shape ", shape_of(run, i), " after ",
           shape_of(run, 0));
}

// Numbers of all samples; `numbers_of(i)` are shape and values of one.
template <class Fn>
Data gather(const Run& run, Fn numbers_of) {
  ShapeList shapes(run.samples, run.samples ? numbers_of(0).shape.size() : 0);
  for (int i = 0; i < run.samples; i++) at_sample(run, i, [&] { shapes.set(i, numbers_of(i).shape); });
  Meta meta;
  meta.dtype = DType::float64;
  Data data = allocate_data(meta, shapes);
  for (int i = 0; i < run.samples; i++)
    std::copy(numbers_of(i).values.begin(), numbers_of(i).values.end(), static_cast<double*>(data.at(i)));
  return data;
}

double* doubles(const Data& data, int i) { return static_cast<double*>(data.at(i)); }

// Runs a reduction over the samples, in double precision.
Data reduce_with(const char* name, const Run& run, std::initializer_list<const Data*> in, unsigned axes) {
  auto args = std::make_shared<ReduceArgs>();
  args->keep_dims = true;
  args->axes.emplace();
  for (int d = 0; d < run.in[0]->shapes.ndim(); d++)
    if (axes >> d & 1) args->axes->push_back(d);
  Meta meta;
  meta.is_batch = run.is_batch;
  meta.samples = run.samples;
  meta.dtype = DType::float64;
  meta.ndim = run.in[0]->shapes.ndim();
  const Run reduction{{in.begin(), in.size()}, run.samples, run.is_batch, CallArgs(args, 0), {&meta, 1}, run.pool, {}};
  return op_at(find_op(name)).run(reduction)[0];
}

// How many elements one mean comes from.
int64_t count_of(const Run& run, int i, unsigned axes) {
  int64_t count = 1;
  for (int d = 0; d < run.in[0]->shapes.ndim(); d++)
    if (axes >> d & 1) count *= shape_of(run, i)[d];
  return count;
}

// Replaces the means of single samples by those of the whole batch; returns how many elements each comes from.
int64_t average_over_batch(const Run& run, const Data& means, unsigned axes) {
  if (run.samples == 0) return 0;
  const int64_t n = volume(means.shapes[0]);
  int64_t count = 0;
  std::vector<double> sums(n);
  for (int i = 0; i < run.samples; i++) {
    const int64_t weight = count_of(run, i, axes);
    count += weight;
    if (weight > 0)
      for (int64_t k = 0; k < n; k++) sums[k] += doubles(means, i)[k] * static_cast<double>(weight);
  }
  for (int i = 0; i < run.samples; i++)
    for (int64_t k = 0; k < n; k++) doubles(means, i)[k] = sums[k] / static_cast<double>(count);
  return count;
}

Data means(const Run& run, unsigned axes) {
  if (run.samples && args_of(run, 0).mean)
    return gather(run, [&](int i) -> const Numbers& { return *args_of(run, i).mean; });
  Data means = reduce_with("reductions.mean", run, {run.in[0]}, axes);
  if (run.samples && args_of(run, 0).batch) average_over_batch(run, means, axes);
  return means;
}

// What variances are multiplied with, for the degrees of freedom of `all` elements; 0: there is none left.
double correction_of(int64_t all, int ddof) {
  return all - ddof > 0 ? static_cast<double>(all) / static_cast<double>(all - ddof) : 0;
}

Data factors(const Run& run, const Data& means, unsigned axes) {
  Data factors;
  const bool given = run.samples && args_of(run, 0).stddev;
  int64_t count = 0;
  if (given) {
    factors = gather(run, [&](int i) -> const Numbers& { return *args_of(run, i).stddev; });
  } else {
    factors = reduce_with("reductions.variance", run, {run.in[0], &means}, axes);
    if (run.samples && args_of(run, 0).batch) count = average_over_batch(run, factors, axes);
  }
  for (int i = 0; i < run.samples; i++) {
    const NormalizeArgs& args = args_of(run, i);
    const double correction = correction_of(args.batch ? count : count_of(run, i, axes), args.ddof);
    for (int64_t k = 0; k < volume(factors.shapes[i]); k++) {
      double& number = doubles(factors, i)[k];
      const double variance = given ? number * number : correction == 0 ? 0 : number * correction;
      number = normalizing_factor(variance, given ? number : std::sqrt(variance), args.scale, args.epsilon);
    }
  }
  return factors;
}

AVIDA_CLONES void normalize_tile(float* out, const float* in, const float* mean, const float* factor, float shift,
                                 int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = (in[i] - mean[i]) * factor[i] + shift;
}
AVIDA_CLONES void normalize_tile(double* out, const double* in, const double* mean, const double* factor, double shift,
                                 int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = (in[i] - mean[i]) * factor[i] + shift;
}

// Tiles [begin, end) of one sample, computed as Real.
template <class Real>
void normalize_tiles(const SampleWork& work, const SampleView& mean, const SampleView& factor, double shift) {
  const SampleView& out = work.out[0];
  const SampleView views[] = {work.in[0], mean, factor};
  const TilePlan plan = plan_tiles(views, out.shape);
  const ConvertRun convert = out.dtype == dtype_of<Real> ? nullptr : rounding_run(out.dtype, dtype_of<Real>);
  alignas(64) Real tiles[4][kTile];
  bool repeated[3] = {};
  for (int64_t t = work.begin; t < work.end; t++) {
    const int64_t begin = t * plan.tile, n = std::min(plan.tile, plan.elements - begin);
    const Real* in[3];
    for (int k = 0; k < 3; k++) {
      const TiledInput::Kind kind = plan.inputs[k].kind;
      in[k] = tiles[k];
      if (kind == TiledInput::Kind::dense && views[k].dtype == dtype_of<Real>)
        in[k] = views[k].as<Real>() + begin;
      else if (!repeated[k])
        load_tile(plan, plan.inputs[k], views[k].data, views[k].dtype, begin, n, dtype_of<Real>, tiles[k]);
      // The first of these tiles is the longest.
      repeated[k] = kind == TiledInput::Kind::single || kind == TiledInput::Kind::periodic;
    }
    Real* to = convert ? tiles[3] : out.as<Real>() + begin;
    normalize_tile(to, in[0], in[1], in[2], static_cast<Real>(shift), n);
    if (convert) convert(out.as<char>() + begin * size_of(out.dtype), to, n);
  }
}

// Whether float holds the elements of a type exactly, or as well as the library whose results these are.
bool computes_in_float(DType in, DType out) {
  return out != DType::float64 && (size_of(in) <= 2 || in == DType::float32);
}

SampleView view_of(const Data& data, int i) { return {data.at(i), data.shapes[i], data.dtype, Layout()}; }

// The same on a GPU: statistics that are not given are made there, too.
class Normalizer {
 public:
  Normalizer(const Run& run, unsigned axes) : run_(run), launches_(*run.launches), axes_(axes) {
    if (run.samples == 0 || !args_of(run, 0).batch) return;
    shared_items_ = volume(shape_of_statistics(shape_of(run, 0), axes));
    for (int i = 0; i < run.samples; i++) counts_.push_back(count_of(run, i, axes));
    for (Shared* shared : {&mean_, &variance_}) {
      shared->of_samples = doubles(run.samples * shared_items_);
      shared->of_all = doubles(shared_items_);
    }
  }

  void launch(const SampleWork& work) {
    const NormalizeArgs& args = args_of(run_, work.index);
    if (!args.mean && !args.stddev && counts_.empty() && work.in[0].dtype == DType::uint8) {
      const auto [mean, factor] = statistics_of_bytes(work, args);
      return launch(work, args, mean, factor);
    }
    const SampleView mean = mean_of(work, args);
    launch(work, args, mean, factor_of(work, args, mean));
  }

 private:
  struct Shared {  // by all samples
    double *of_samples, *of_all;
    bool joined;  // of_all is being made
  };

  void launch(const SampleWork& work, const NormalizeArgs& args, const SampleView& mean, const SampleView& factor) {
    const SampleView &in = work.in[0], &out = work.out[0], views[] = {in, mean, factor};
    if (out.dtype == DType::float32 && in.dtype == DType::uint8) {
      if (launch_channels<float, uint8_t>(in, out, mean, factor, args.shift)) return;
    } else if (out.dtype == DType::float32 && in.dtype == DType::float32) {
      if (launch_channels<float, float>(in, out, mean, factor, args.shift)) return;
    }
    const TilePlan plan = plan_tiles(views, out.shape);
    auto launch = [&]<class Real, class To, class From>() {
      using Item = NormalizeItem<Real, To, From>;
      typename Item::Params params{.out = out.data,
                                   .in = in.data,
                                   .to = static_cast<int>(out.dtype),
                                   .from = static_cast<int>(in.dtype),
                                   .mean = mean.as<double>(),
                                   .factor = factor.as<double>(),
                                   .axes = std::max(1, plan.shape.size()),
                                   .shift = args.shift};
      // Without axes, statistics run along with the elements or are one number.
      params.mean_step[0] = plan.inputs[1].kind == TiledInput::Kind::dense;
      params.factor_step[0] = plan.inputs[2].kind == TiledInput::Kind::dense;
      for (int d = 0; d < plan.shape.size(); d++) {
        params.extent[d] = plan.shape[d];
        params.mean_step[d] = plan.inputs[1].strides[d];
        params.factor_step[d] = plan.inputs[2].strides[d];
      }
      launches_.add<Item>(0, plan.elements, params);
    };
    if (!computes_in_float(in.dtype, out.dtype)) return launch.template operator()<double, AnyElement, AnyElement>();
    with_kernel_types(out.dtype, in.dtype, [&](auto to, auto from) {
      launch.template operator()<float, typename decltype(to)::type, typename decltype(from)::type>();
    });
  }

  // False unless mean and factor are each one number, or as many as the last axis is long.
  template <class To, class From>
  bool launch_channels(const SampleView& in, const SampleView& out, const SampleView& mean, const SampleView& factor,
                       double shift) {
    using Item = NormalizeChannels<To, From>;
    const int64_t channels = std::max(mean.elements(), factor.elements()),
                  last = in.ndim() ? in.shape[in.ndim() - 1] : 1;
    if (channels < 1 || channels > Item::kThreads) return false;
    for (const SampleView* numbers : {&mean, &factor})
      if (numbers->elements() != 1 && (numbers->elements() != last || numbers->shape[numbers->ndim() - 1] != last))
        return false;
    const auto count = static_cast<unsigned>(channels);
    launches_.add<Item>(0, Item::items_for(in.elements(), count),
                        {out.as<To>(), in.as<From>(), mean.as<double>(), factor.as<double>(), mean.elements() > 1,
                         factor.elements() > 1, count, in.elements(), static_cast<float>(shift)});
    return true;
  }

  double* doubles(int64_t n) { return static_cast<double*>(launches_.scratch(n * int64_t{sizeof(double)})); }
  SampleView uploaded(const Numbers& numbers) {
    const double* values = readable(&launches_, numbers.values.data(), std::ssize(numbers.values));
    return {const_cast<double*>(values), numbers.shape, DType::float64, Layout()};
  }

  // Mean or variance of a sample, or of all: then the first sample's work includes putting them together.
  template <class Reducer>
  SampleView statistics(const SampleWork& work, const SampleView& mean, Shared& shared) {
    SampleView out{nullptr, shape_of_statistics(work.in[0].shape, axes_), DType::float64, Layout()};
    const int64_t items = out.elements();
    out.data = counts_.empty() ? doubles(items) : shared.of_samples + work.index * items;
    reduction::launch(launches_, reduction::steps_of<Reducer>(work.in[0].dtype),
                      reduction::Plan(work.in[0].shape, axes_), work.in[0], mean, out, 0);
    launches_.then();
    if (counts_.empty()) return out;
    if (!std::exchange(shared.joined, true))
      launches_.add<BatchMeanItem>(
          0, items,
          {shared.of_all, shared.of_samples, readable(&launches_, counts_.data(), std::ssize(counts_)),
           std::ssize(counts_), items});
    launches_.then();
    out.data = shared.of_all;
    return out;
  }

  // Mean and factor of one sample, of which each element is read once.
  std::pair<SampleView, SampleView> statistics_of_bytes(const SampleWork& work, const NormalizeArgs& args) {
    const SampleView& in = work.in[0];
    const reduction::Plan plan(in.shape, axes_);
    SampleView mean{nullptr, shape_of_statistics(in.shape, axes_), DType::float64, Layout()};
    mean.data = doubles(plan.outputs);
    SampleView factor = mean;
    factor.data = doubles(plan.outputs);
    const auto [totals, parts] =
        reduction::launch_fold(launches_, reduction::folding<AddByteMoments, uint8_t>(), plan, in, {});
    launches_.then();
    const double correction = correction_of(plan.count, args.ddof);
    launches_.add<StatisticsItem>(0, plan.outputs,
                                  {{factor.as<double>(), nullptr, correction, args.scale, args.epsilon},
                                   mean.as<double>(),
                                   static_cast<const ByteMoments*>(totals),
                                   plan.count,
                                   parts,
                                   plan.width});
    launches_.then();
    return {mean, factor};
  }

  SampleView mean_of(const SampleWork& work, const NormalizeArgs& args) {
    return args.mean ? uploaded(*args.mean) : statistics<Mean>(work, {}, mean_);
  }

  SampleView factor_of(const SampleWork& work, const NormalizeArgs& args, const SampleView& mean) {
    if (args.stddev) {
      Numbers factors = *args.stddev;
      for (double& number : factors.values)
        number = normalizing_factor(number * number, number, args.scale, args.epsilon);
      return uploaded(factors);
    }
    const SampleView variance = statistics<Variance>(work, mean, variance_);
    SampleView factor = variance;
    factor.data = doubles(variance.elements());
    int64_t all = count_of(run_, work.index, axes_);
    if (!counts_.empty()) all = std::reduce(counts_.begin(), counts_.end());
    launches_.add<FactorItem>(
        0, factor.elements(),
        {factor.as<double>(), variance.as<double>(), correction_of(all, args.ddof), args.scale, args.epsilon});
    launches_.then();
    return factor;
  }

  const Run& run_;
  Launches& launches_;
  const unsigned axes_;
  int64_t shared_items_ = 0;
  std::vector<int64_t> counts_;  // elements of each sample, where statistics are those of the whole batch
  Shared mean_{}, variance_{};
};

std::vector<Data> normalize(const Run& run) {
  const unsigned axes = normalized_axes(run);
  for (int i = 0; i < run.samples; i++) at_sample(run, i, [&] { check_numbers(run, i, axes); });
  if (run.launches) {
    Normalizer normalizer(run, axes);
    SampleLoop loop;
    loop.shape = same_shape;
    loop.body = [&](const SampleWork& work) { normalizer.launch(work); };
    return run_samples(run, loop);
  }
  const Data mean = means(run, axes), factor = factors(run, mean, axes);
  SampleLoop loop;
  loop.shape = same_shape;
  loop.rows = [&](const SampleWork& work) {
    const SampleView views[] = {work.in[0], view_of(mean, work.index), view_of(factor, work.index)};
    return plan_tiles(views, work.out[0].shape).tiles();
  };
  loop.body = [&](const SampleWork& work) {
    const double shift = static_cast<const NormalizeArgs*>(work.args)->shift;
    auto* tiles =
        computes_in_float(work.in[0].dtype, work.out[0].dtype) ? normalize_tiles<float> : normalize_tiles<double>;
    tiles(work, view_of(mean, work.index), view_of(factor, work.index), shift);
  };
  return run_samples(run, loop);
}

void infer(Infer<NormalizeArgs>& call) {
  const Meta& in = call.in[0];
  if (call.args.axes && call.args.axes->empty()) refuse("expected at least one axis, got none");
  resolve_axes(call.args.axes, call.args.axis_names, in.ndim, in.layout);
  call.out[0].dtype = call.args.dtype;
}

}  // namespace

AVIDA_OP(normalize, NormalizeArgs) {
  op.doc("Subtracts the mean and divides by the standard deviation. Both are computed from the samples unless given.")
      .input("input", "The samples to normalize.")
      .arg("axes", &NormalizeArgs::axes,
           "The axes to normalize along. By default those along which a given mean or deviation has the extent 1, else "
           "all.",
           fixed)
      .arg("axis_names", &NormalizeArgs::axis_names, "The axes by their letters in the layout, instead of `axes`.")
      .arg("batch", &NormalizeArgs::batch, "Take mean and deviation over the whole batch, and not for each sample.",
           fixed)
      .arg("ddof", &NormalizeArgs::ddof, "Delta degrees of freedom: what to subtract from the variance's divisor.",
           fixed)
      .arg("dtype", &NormalizeArgs::dtype, "The element type of the result; integers are rounded and clamped.")
      .arg("epsilon", &NormalizeArgs::epsilon, "Added to the variance, against division by small numbers.", fixed)
      .arg("mean", &NormalizeArgs::mean,
           "The mean: one number, or a tensor of the input's shape with the extent 1 along the normalized axes.")
      .arg("scale", &NormalizeArgs::scale, "The standard deviation of the result.", fixed)
      .arg("shift", &NormalizeArgs::shift, "The mean of the result.", fixed)
      .arg("stddev", &NormalizeArgs::stddev, "The standard deviation, in the same forms as `mean`.")
      .example("avida.normalize(image, axes=[0, 1], epsilon=1e-6)")
      .infer(infer)
      .custom(normalize)
      .on_gpu();
}

}  // namespace ops
}  // namespace avida
