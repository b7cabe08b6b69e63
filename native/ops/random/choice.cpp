#include <cmath>
#include <cstring>

#include "core/clones.h"
#include "ops/random/random.h"

namespace avida::ops {
namespace {

struct ChoiceArgs {
  std::optional<std::vector<double>> p;
  std::optional<Vec<int64_t>> shape;
};

// How many things there are to choose from: a number stands for all integers below it.
int64_t choices(const SampleView& a) { return a.ndim() ? a.shape[0] : arg::element<int64_t>(a.data, a.dtype, 0); }

void check_probabilities(const std::vector<double>& p, int64_t count) {
  if (static_cast<int64_t>(p.size()) != count)
    fail(ErrorKind::runtime, "expected ", count, " probabilities, one for each choice, got ", p.size());
  double sum = 0;
  for (double one : p) {
    if (!(one >= 0 && one <= 1)) fail(ErrorKind::runtime, "expected probabilities from 0 to 1, got ", one);
    sum += one;
  }
  if (!(std::fabs(sum - 1) < 1e-4)) fail(ErrorKind::runtime, "expected probabilities with the sum 1, got ", sum);
}

// Of how many draws the output consists: each is a whole item of `a`.
int64_t draws(const Sample<ChoiceArgs>& sample) {
  const SampleView &a = sample.in[0], &out = sample.out[0];
  int64_t count = 1;
  for (int i = 0; i < out.ndim() - std::max(0, a.ndim() - 1); i++) count *= out.shape[i];
  return count;
}

void set_shape(Sample<ChoiceArgs>& sample) {
  const SampleView& a = sample.in[0];
  int64_t count = choices(a);
  if (count <= 0) fail(ErrorKind::runtime, "expected at least one thing to choose from, got ", count);
  if (sample.args.p) check_probabilities(*sample.args.p, count);
  Shape shape = drawn_shape(sample.args.shape, sample.in[1]);
  if (shape.size() + std::max(0, a.ndim() - 1) > kMaxDim)
    fail(ErrorKind::runtime, "the result would have more than ", kMaxDim, " axes");
  for (int i = 1; i < a.ndim(); i++) shape.push_back(a.shape[i]);
  sample.out[0].shape = shape;
}

AVIDA_CLONES void draw_units(double* out, const RandomKey& key, int64_t first, int64_t n) {
  draw_run(out, key, first, n, Units());
}

class Chooser {
 public:
  explicit Chooser(const Sample<ChoiceArgs>& sample) : key_(sample.random), count_(choices(sample.in[0])) {
    if (!sample.args.p) return;
    double sum = 0;
    for (double one : *sample.args.p) cumulated_.push_back(sum += one);
    for (double& one : cumulated_) one /= sum;
  }
  void operator()(int64_t* indices, int64_t first, int64_t n) const {
    if (cumulated_.empty()) return draw_indices(indices, key_, first, n, count_);
    double drawn[kDrawRow];
    draw_units(drawn, key_, first, n);
    for (int64_t i = 0; i < n; i++)
      indices[i] = std::upper_bound(cumulated_.begin(), cumulated_.end(), drawn[i]) - cumulated_.begin();
  }

 private:
  RandomKey key_;
  int64_t count_;
  std::vector<double> cumulated_;  // probabilities
};

void copy_items(void* to, const void* from, int64_t item_bytes, const int64_t* indices, int64_t n) {
  auto copy = [&](auto type) {
    using Item = typename decltype(type)::type;
    for (int64_t i = 0; i < n; i++) static_cast<Item*>(to)[i] = static_cast<const Item*>(from)[indices[i]];
  };
  switch (item_bytes) {
    case 1:
      return copy(Type<uint8_t>{});
    case 2:
      return copy(Type<uint16_t>{});
    case 4:
      return copy(Type<uint32_t>{});
    case 8:
      return copy(Type<uint64_t>{});
  }
  for (int64_t i = 0; i < n; i++)
    std::memcpy(static_cast<char*>(to) + i * item_bytes, static_cast<const char*>(from) + indices[i] * item_bytes,
                item_bytes);
}

void choose(const Sample<ChoiceArgs>& sample) {
  const SampleView &a = sample.in[0], &out = sample.out[0];
  const Chooser chooser(sample);
  if (a.ndim() == 0) return fill_drawn<int64_t>(out, sample.begin, sample.end, chooser);
  const int64_t item_bytes = a.bytes() / a.shape[0], last = std::min(sample.end * kDrawRow, draws(sample));
  for (int64_t first = sample.begin * kDrawRow; first < last; first += kDrawRow) {
    int64_t n = std::min(kDrawRow, last - first), indices[kDrawRow];
    chooser(indices, first, n);
    copy_items(out.as<char>() + first * item_bytes, a.data, item_bytes, indices, n);
  }
}

void infer(Infer<ChoiceArgs>& call) {
  const Meta& a = call.in[0];
  Meta& out = call.out[0];
  if (a.ndim == 0 && !is_integer(a.dtype))
    fail(ErrorKind::runtime, "expected an integer or a list to choose from, got a single ", a.dtype);
  const int drawn = drawn_ndim(call, call.in[1]), item = std::max(0, a.ndim - 1);
  out.ndim = drawn < 0 ? -1 : drawn + item;
  // The items' axes keep their letters; a list of them is again what `a` is.
  out.layout = drawn == 0 && a.layout.size() > 1 ? Layout(a.layout.view().substr(1)) : drawn <= 1 ? a.layout : Layout();
}

}  // namespace

AVIDA_OP_IN(random, choice, ChoiceArgs) {
  op.doc("Chooses items of a list at random; an item can be chosen more than once.")
      .input("a", "The items, along the first axis. A single integer stands for all numbers from 0 to below it.")
      .optional_input("shape_like", kShapeLikeText)
      .arg("p", &ChoiceArgs::p, "How likely each item is; by default all are equally likely.")
      .arg("shape", &ChoiceArgs::shape, "How many items, as a shape; one item by default.")
      .example("avida.random.choice([10, 20, 30], p=[0.5, 0.3, 0.2], shape=[4])")
      .random()
      .infer(infer)
      .each_sample(set_shape, choose)
      .rows([](const Sample<ChoiceArgs>& sample) { return draw_rows(draws(sample)); })
      .cost(2);
}

}  // namespace avida::ops
