#include <cmath>
#include <cstring>

#include "ops/random/random.h"

namespace avida::ops {
namespace {

struct ChoiceArgs {
  std::optional<std::vector<double>> p;
  std::optional<Vec<int64_t>> shape;
};

// The count of items to choose from: a number stands for all integers below it.
int64_t choices(const SampleView& a) { return a.ndim() ? a.shape[0] : arg::element<int64_t>(a.data, a.dtype, 0); }

void check_probabilities(const std::vector<double>& p, int64_t count) {
  if (static_cast<int64_t>(p.size()) != count)
    refuse("expected ", count, " probabilities, one for each choice, got ", p.size());
  double sum = 0;
  for (double one : p) {
    if (!(one >= 0 && one <= 1)) refuse("expected probabilities from 0 to 1, got ", one);
    sum += one;
  }
  if (!(std::fabs(sum - 1) < 1e-4)) refuse("expected probabilities with the sum 1, got ", sum);
}

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

class ChoicePlan {
 public:
  explicit ChoicePlan(const Sample<ChoiceArgs>& sample)
      : a_(sample.in[0]),
        count_(choices(a_)),
        key_(sample.random),
        shape_(drawn_shape(sample.args.shape, sample.in[1])) {
    if (count_ <= 0) refuse("expected at least one item to choose from, got ", count_);
    if (sample.args.p) cumulate(*sample.args.p);
    draws_ = checked_volume(shape_);
    if (shape_.size() + std::max(0, a_.ndim() - 1) > kMaxDim)
      refuse("the result would have more than ", kMaxDim, " axes");
    for (int i = 1; i < a_.ndim(); i++) shape_.push_back(a_.shape[i]);
  }

  Shape shape() const { return shape_; }
  int64_t rows() const { return draw_rows(draws_); }

  void run(const Sample<ChoiceArgs>& sample) const {
    const SampleView& out = sample.out[0];
    auto choose = [this](int64_t* indices, int64_t first, int64_t n) { draw(indices, first, n); };
    if (a_.ndim() == 0) return fill_drawn<int64_t>(out, sample.begin, sample.end, choose);
    const int64_t item_bytes = a_.bytes() / a_.shape[0], last = std::min(sample.end * kDrawRow, draws_);
    for (int64_t first = sample.begin * kDrawRow; first < last; first += kDrawRow) {
      int64_t n = std::min(kDrawRow, last - first), indices[kDrawRow];
      draw(indices, first, n);
      copy_items(out.as<char>() + first * item_bytes, a_.data, item_bytes, indices, n);
    }
  }

 private:
  void cumulate(const std::vector<double>& p) {
    check_probabilities(p, count_);
    double sum = 0;
    for (double one : p) cumulative_.push_back(sum += one);
    for (double& one : cumulative_) one /= sum;
  }

  void draw(int64_t* indices, int64_t first, int64_t n) const {
    if (cumulative_.empty()) return draw_indices(indices, key_, first, n, count_);
    double drawn[kDrawRow];
    draw_numbers(drawn, key_, first, n, Units());
    for (int64_t i = 0; i < n; i++) indices[i] = std::ranges::upper_bound(cumulative_, drawn[i]) - cumulative_.begin();
  }

  const SampleView& a_;
  const int64_t count_;  // of the items to choose from
  const RandomKey key_;
  Shape shape_;
  int64_t draws_;
  std::vector<double> cumulative_;  // probabilities
};

void infer(Infer<ChoiceArgs>& call) {
  const Meta& a = call.in[0];
  Meta& out = call.out[0];
  if (a.ndim == 0 && !is_integer(a.dtype))
    refuse("expected an integer or a list to choose from, got a single ", a.dtype);
  const int drawn = drawn_ndim(call, call.in[1]), item = std::max(0, a.ndim - 1);
  out.ndim = drawn < 0 ? -1 : drawn + item;
  // The items' axes keep their letters; a list of items has the layout of `a`.
  out.layout = drawn == 0 && a.layout.size() > 1 ? Layout(a.layout.view().substr(1)) : drawn <= 1 ? a.layout : Layout();
}

}  // namespace

AVIDA_OP_IN(random, choice, ChoiceArgs) {
  op.doc("Chooses random items of a list, with replacement.")
      .input("a", "The items, along the first axis. A single integer n stands for the integers from 0 to n - 1.")
      .optional_input("shape_like", kShapeLikeText)
      .arg("p", &ChoiceArgs::p, "The probability of each item; by default all are equally likely.")
      .arg("shape", &ChoiceArgs::shape, "The shape of the output, in items; by default one item is chosen.")
      .example("avida.random.choice([10, 20, 30], p=[0.5, 0.3, 0.2], shape=[4])")
      .takes_enums()
      .draws_numbers()
      .infer(infer)
      .on_cpu()
      .each_sample<ChoicePlan>()
      .cost(2);
}

}  // namespace avida::ops
