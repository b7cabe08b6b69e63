#include <cstring>

#include "op/op.h"
#include "op/strided_copy.h"

namespace avida::ops {
namespace {

constexpr int64_t kRow = 64 << 10;  // bytes that one thread copies at a time

void copy_bytes(const Sample<NoArgs>& sample) {
  if (sample.launches)
    return StridedCopy(1, {sample.out[0].bytes()}, {1}).launch(*sample.launches, sample.out[0].data, sample.in[0].data);
  int64_t begin = sample.begin * kRow, end = std::min(sample.end * kRow, sample.out[0].bytes());
  std::memcpy(sample.out[0].as<char>() + begin, sample.in[0].as<char>() + begin, end - begin);
}

}  // namespace

AVIDA_OP(copy, NoArgs) {
  op.doc("Copies the samples into memory of their own.")
      .input("input", "The samples to copy.")
      .example("avida.copy(image)")
      .each_sample([](Sample<NoArgs>& sample) { sample.out[0].shape = sample.in[0].shape; }, copy_bytes)
      .rows([](const Sample<NoArgs>& sample) { return (sample.out[0].bytes() + kRow - 1) / kRow; })
      .on_gpu();
}

}  // namespace avida::ops
