#include <cstring>

#include "op/op.h"
#include "op/strided_copy.h"

namespace avida::ops {
namespace {

struct PermuteBatchArgs {
  int indices = 0;
};

constexpr int64_t kRow = 64 << 10;  // bytes that a thread copies at a time

std::vector<Data> permute(const Run& run) {
  auto source = [&](const SampleWork& work) {
    int index = static_cast<const PermuteBatchArgs*>(work.args)->indices;
    if (index < 0 || index >= run.samples)
      fail(ErrorKind::runtime, "the index ", index, " is out of range for a batch of ", run.samples);
    return run.index_in(0, index);
  };
  SampleLoop loop;
  loop.shape = [&](SampleWork& work) { work.out[0].shape = run.in[0]->shapes[source(work)]; };
  loop.rows = [](const SampleWork& work) { return (work.out[0].bytes() + kRow - 1) / kRow; };
  loop.body = [&](const SampleWork& work) {
    int64_t begin = work.begin * kRow, end = std::min(work.end * kRow, work.out[0].bytes());
    const char* from = static_cast<char*>(run.in[0]->at(source(work)));
    if (work.launches)
      StridedCopy(1, {work.out[0].bytes()}, {1}).launch(*work.launches, work.out[0].data, from);
    else if (begin < end)
      std::memcpy(work.out[0].as<char>() + begin, from + begin, end - begin);
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
  op.doc("Puts the samples of a batch into another order; a sample may come several times or not at all.")
      .input("input", "The batch.")
      .arg("indices", &PermuteBatchArgs::indices, "For each sample of the result, the index of the sample to take.",
           required)
      .example("avida.permute_batch(batch, indices=avida.as_batch([1, 0]))")
      .permutes()
      .custom(permute)
      .on_gpu();
}

}  // namespace avida::ops
