#include "ops/generic/lookup_table.h"

#include <algorithm>
#include <memory>

#include "op/byte_table.h"
#include "op/each_item.h"
#include "op/op.h"

namespace avida::ops {
namespace {

struct LookupTableArgs {
  float default_value = 0;
  DType dtype = DType::float32;
  std::vector<int> keys;
  std::optional<DType> output_dtype;
  std::vector<float> values;
};

constexpr int kMaxKey = 0xffff;
constexpr int64_t kRow = 16 << 10;  // elements

void infer(Infer<LookupTableArgs>& call) {
  const LookupTableArgs& args = call.args;
  if (is_float(call.in[0].dtype)) fail(ErrorKind::runtime, "expected integers to look up, got ", call.in[0].dtype);
  if (args.keys.size() != args.values.size())
    fail(ErrorKind::runtime, "expected as many keys as values, got ", args.keys.size(), " and ", args.values.size());
  for (int key : args.keys)
    if (key < 0 || key > kMaxKey) fail(ErrorKind::runtime, "expected keys from 0 to ", kMaxKey, ", got ", key);
  call.out[0].dtype = args.output_dtype.value_or(args.dtype);
}

template <class In, class Out>
void look_up(const SampleWork& work, const Out* table, uint64_t size, Out otherwise) {
  const In* from = work.in[0].as<const In>();
  Out* to = work.out[0].as<Out>();
  const int64_t begin = work.begin * kRow, end = std::min(work.end * kRow, work.out[0].elements());
  if constexpr (!same_type<In, uint8_t>) {
    each_item<LookUp<In, Out>>(work, begin, end, {to, from, table, size, otherwise});
  } else if (work.launches) {
    using Item = LookUpBytes<Out>;
    const int64_t n = work.out[0].elements();
    work.launches->add<Item>(0, pieces_of(n, Item::kPiece), {to, from, table, n});
  } else if constexpr (same_type<Out, uint8_t>) {
    look_up_bytes(to + begin, from + begin, end - begin, table);
  } else {
    for (int64_t i = begin; i < end; i++) to[i] = table[from[i]];
  }
}

std::vector<Data> run_lookup(const Run& run) {
  const auto& args = *static_cast<const LookupTableArgs*>(run.args.at(0));
  return with_dtype(run.out[0].dtype, [&](auto type) {
    using Out = typename decltype(type)::type;
    int largest = args.keys.empty() ? 0 : *std::max_element(args.keys.begin(), args.keys.end());
    int size = std::max(largest + 1, 256);
    Out otherwise = convert<Out>(args.default_value);
    std::unique_ptr<Out[]> table(new Out[size]);
    std::fill_n(table.get(), size, otherwise);
    for (size_t k = 0; k < args.keys.size(); k++) table[args.keys[k]] = convert<Out>(args.values[k]);
    const Out* entries = readable(run.launches, table.get(), size);
    SampleLoop loop;
    loop.shape = [](SampleWork& work) { work.out[0].shape = work.in[0].shape; };
    loop.rows = [](const SampleWork& work) { return (work.out[0].elements() + kRow - 1) / kRow; };
    loop.body = [&](const SampleWork& work) {
      with_dtype(work.in[0].dtype, [&](auto in) {
        using In = typename decltype(in)::type;
        if constexpr (!TypeTraits<In>::is_float) look_up<In>(work, entries, size, otherwise);
      });
    };
    return run_samples(run, loop);
  });
}

}  // namespace

AVIDA_OP(lookup_table, LookupTableArgs) {
  op.doc("Replaces each number by the value that a table has for it.")
      .input("input", "Integers to look up.")
      .arg("default_value", &LookupTableArgs::default_value, "The value of numbers that are no key.", fixed | takes_nan)
      .arg("dtype", &LookupTableArgs::dtype, "The element type of the result.")
      .arg("keys", &LookupTableArgs::keys, "The numbers that have a value, from 0 to 65535.", fixed)
      .arg("output_dtype", &LookupTableArgs::output_dtype, "The older name of `dtype`.")
      .arg("values", &LookupTableArgs::values, "The value of each key.", fixed | takes_nan)
      .example("avida.lookup_table(np.array([0, 1, 2]), keys=[1, 2], values=[0.5, 0.25])")
      .infer(infer)
      .custom(run_lookup)
      .on_gpu();
}

}  // namespace avida::ops
