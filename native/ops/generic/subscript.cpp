// x[...] of Tensors and batch.slice[...]: Python takes the index expression apart, this operator applies it.
#include "loops/moving/strided_move.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct SubscriptArgs {  // an entry for each of the first axes
  std::vector<int64_t> kinds, starts, stops, steps;
};

enum Kind : int64_t { full = 0, index = 1, range = 2 };
constexpr int64_t kNotGiven = INT64_MIN, kFromInput = INT64_MIN + 1;

// The part of a sample that the expression shows.
struct Part {
  Shape shape, strides;  // in elements
  int64_t offset = 0;
};

int64_t clamp_bound(int64_t bound, int64_t extent, int64_t lowest, int64_t highest) {
  if (bound < 0) bound = bound < -extent ? lowest : bound + extent;
  return std::clamp(bound, lowest, highest);
}

Part find_part(const Sample<SubscriptArgs>& sample) {
  auto& args = sample.args;
  size_t next_input = 1;
  auto read = [&](int64_t number) -> int64_t {
    if (number != kFromInput) return number;
    const SampleView& in = sample.in[next_input++];
    if (in.elements() != 1) value_error("expected one number as an index, got the shape ", in.shape);
    return arg::element<int64_t>(in.data, in.dtype, 0);
  };

  const Shape& in = sample.in[0].shape;
  Shape strides = dense_strides(in);
  Part part;
  for (int d = 0; d < in.size(); d++) {
    bool given = d < static_cast<int>(args.kinds.size());
    int64_t kind = given ? args.kinds[d] : full;
    if (kind == full) {
      part.shape.push_back(in[d]);
      part.strides.push_back(strides[d]);
      continue;
    }
    int64_t start = read(args.starts[d]);
    if (kind == index) {
      if (start < -in[d] || start >= in[d])
        fail(ErrorKind::index, "index ", start, " is out of range for axis ", d, " of extent ", in[d]);
      part.offset += (start < 0 ? start + in[d] : start) * strides[d];
      continue;
    }
    int64_t stop = read(args.stops[d]), step = read(args.steps[d]);
    if (step == kNotGiven) step = 1;
    if (step == 0) value_error("the step of a slice cannot be zero");
    // As in Python: a backward range runs from the last element and may stop before the first.
    int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? in[d] : in[d] - 1;
    start = start == kNotGiven ? (step > 0 ? lowest : highest) : clamp_bound(start, in[d], lowest, highest);
    stop = stop == kNotGiven ? (step > 0 ? highest : lowest) : clamp_bound(stop, in[d], lowest, highest);
    int64_t span = step > 0 ? stop - start : start - stop;
    uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
    int64_t extent = span <= 0 ? 0 : static_cast<int64_t>((static_cast<uint64_t>(span) - 1) / stride) + 1;
    part.shape.push_back(extent);
    part.strides.push_back(extent > 1 ? strides[d] * step : 0);
    if (extent > 0) part.offset += start * strides[d];
  }
  return part;
}

void infer_subscript(Infer<SubscriptArgs>& call) {
  const Meta& in = call.in[0];
  Meta& out = call.out[0];
  auto& args = call.args;
  auto& kinds = args.kinds;
  auto from_inputs = [](auto& numbers) { return std::count(numbers.begin(), numbers.end(), kFromInput); };
  if (kinds.size() > static_cast<size_t>(in.ndim) || kinds.size() != args.starts.size() ||
      kinds.size() != args.stops.size() || kinds.size() != args.steps.size() ||
      from_inputs(args.starts) + from_inputs(args.stops) + from_inputs(args.steps) + 1 != std::ssize(call.in))
    value_error("the index does not fit ", in.ndim, " axes");
  out.layout = Layout();
  out.ndim = 0;
  for (int d = 0; d < in.ndim; d++) {
    if (d < static_cast<int>(kinds.size()) && kinds[d] == index) continue;
    out.ndim++;
    if (!in.layout.empty()) out.layout.push_back(in.layout[d]);
  }
}

class SubscriptPlan {
 public:
  explicit SubscriptPlan(const Sample<SubscriptArgs>& sample)
      : part_(find_part(sample)), move_(size_of(sample.in[0].dtype), part_.shape, part_.strides) {}

  const Shape& shape() const { return part_.shape; }
  int64_t rows() const { return move_.rows(); }
  void run(const Sample<SubscriptArgs>& sample) const {
    const char* in = sample.in[0].as<char>() + part_.offset * size_of(sample.in[0].dtype);
    move_.run(sample, sample.out[0].data, in);
  }

 private:
  Part part_;
  StridedMove move_;
};

}  // namespace

AVIDA_OP_NAMED(subscript, "_subscript", SubscriptArgs) {
  op.doc("Applies an index expression to every sample.")
      .hidden()
      .input("data", "The samples to index.")
      .more_inputs("indices", "Numbers given as tensors, in the order start, stop, step of each axis.")
      .on_host()
      .arg("kinds", &SubscriptArgs::kinds, "Of each axis: 0 all of it, 1 one index, 2 a range.", fixed)
      .arg("starts", &SubscriptArgs::starts, "The index, or the start of the range.", fixed)
      .arg("stops", &SubscriptArgs::stops, "The end of the range.", fixed)
      .arg("steps", &SubscriptArgs::steps, "The step of the range.", fixed)
      .takes_enums()
      .infer(infer_subscript)
      .each_sample<SubscriptPlan>();
}

}  // namespace avida::ops
