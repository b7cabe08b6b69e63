#include <numeric>

#include "operator/declare.h"

namespace avida::ops {
namespace {

struct BatchPermutationArgs {
  bool allow_repetitions = false, no_fixed_points = false;
};

// Each sample's index comes from one stream, the first sample's: the indices of a permutation depend on one another.
std::vector<int> draw_indices(RandomStream stream, int n, const BatchPermutationArgs& args) {
  std::vector<int> indices(n);
  if (args.allow_repetitions) {
    for (int i = 0; i < n; i++) {
      if (args.no_fixed_points && n > 1) {
        int other = static_cast<int>(stream.below(n - 1));
        indices[i] = other + (other >= i);
      } else {
        indices[i] = static_cast<int>(stream.below(n));
      }
    }
    return indices;
  }
  bool fixed_point;
  do {  // about three attempts on average for a permutation without fixed points, whatever its size
    std::iota(indices.begin(), indices.end(), 0);
    for (int i = n - 1; i > 0; i--) std::swap(indices[i], indices[stream.below(i + 1)]);
    fixed_point = false;
    for (int i = 0; i < n; i++) fixed_point |= indices[i] == i;
  } while (args.no_fixed_points && fixed_point && n > 1);
  return indices;
}

std::vector<Data> permutation(const Run& run) {
  const auto& args = *static_cast<const BatchPermutationArgs*>(run.args.at(0));
  std::vector<int> indices = draw_indices(RandomStream(run.random_key(0)), run.samples, args);
  Data out = allocate_output(run, 0, ShapeList(run.samples, 0));
  for (int i = 0; i < run.samples; i++) *static_cast<int*>(out.at(i)) = indices[i];
  return {std::move(out)};
}

}  // namespace

AVIDA_OP(batch_permutation, BatchPermutationArgs) {
  op.doc("Draws a random permutation of the indices of a batch, for `permute_batch`.")
      .arg("allow_repetitions", &BatchPermutationArgs::allow_repetitions, "Draw each number on its own.", fixed)
      .arg("no_fixed_points", &BatchPermutationArgs::no_fixed_points,
           "No sample gets its own number. Without effect on a batch of one.", fixed)
      .example("avida.permute_batch(batch, indices=avida.batch_permutation(batch_size=2))")
      .random_per_batch()
      .infer([](Infer<BatchPermutationArgs>& call) {
        if (!call.out[0].is_batch) value_error("batch_size is missing, and there is no input to tell it");
        call.out[0].dtype = DType::int32;
      })
      .custom(permutation);
}

}  // namespace avida::ops
