#include "loops/moving/strided_move.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct PermuteBatchArgs {
  int indices = 0;
};

std::vector<Data> permute(const Run& run) {
  auto source = [&](const SampleWork& work) {
    int index = static_cast<const PermuteBatchArgs*>(work.args)->indices;
    if (index < 0 || index >= run.samples) refuse("the index ", index, " is out of range for a batch of ", run.samples);
    return run.index_in(0, index);
  };
  SampleLoop loop;
  loop.shape = [&](SampleWork& work) { work.out[0].shape = run.in[0]->shapes[source(work)]; };
  loop.rows = [](const SampleWork& work) { return DenseMove(work.out[0].bytes()).rows(); };
  loop.body = [&](const SampleWork& work) {
    DenseMove(work.out[0].bytes()).run(work, work.out[0].data, run.in[0]->at(source(work)));
  };
  std::vector<Data> out = run_samples(run, loop);
  if (const Origins& origins = run.in[0]->origins) {
    std::vector<Origin> permuted;
    for (int i = 0; i < run.samples; i++)
      permuted.push_back((*origins)[run.index_in(0, static_cast<const PermuteBatchArgs*>(run.args.at(i))->indices)]);
    out[0].origins = std::make_shared<const std::vector<Origin>>(std::move(permuted));
  }
  return out;
}

}  // namespace

AVIDA_OP(permute_batch, PermuteBatchArgs) {
  op.doc("Reorders the samples of a batch. A sample may come several times or not at all.")
      .input("input", "The batch.")
      .arg("indices", &PermuteBatchArgs::indices, "For each sample of the result, the index of the sample to take.",
           required)
      .example("avida.permute_batch(batch, indices=avida.as_batch([1, 0]))")
      .takes_enums()
      .permutes()
      .custom(permute)
      .on_gpu();
}

}  // namespace avida::ops
