#include "ops/generic/lookup_table.h"

#include <algorithm>

#include "loops/items/each_item.h"
#include "loops/moving/convert_run.h"
#include "loops/pixels/byte_table.h"
#include "operator/declare.h"

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
  if (is_float(call.in[0].dtype)) refuse("expected integers to look up, got ", call.in[0].dtype);
  if (args.keys.size() != args.values.size())
    refuse("expected equal counts of keys and values, got ", args.keys.size(), " and ", args.values.size());
  for (int key : args.keys)
    if (key < 0 || key > kMaxKey) refuse("expected keys from 0 to ", kMaxKey, ", got ", key);
  call.out[0].dtype = args.output_dtype.value_or(args.dtype);
}

// Bits is an unsigned type of the size of an output element.
template <class In, class Bits>
void look_up(const SampleWork& work, const Bits* entries, uint64_t size, Bits otherwise) {
  const In* __restrict from = work.in[0].as<const In>();
  Bits* __restrict to = work.out[0].as<Bits>();
  const Bits* __restrict table = entries;
  const int64_t n = work.out[0].elements(), begin = work.begin * kRow, end = std::min(work.end * kRow, n);
  if constexpr (same_type<In, uint8_t>) {
    using Item = LookUpBytes<Bits>;
    each_item<Item>(work, 0, pieces_of(n, Item::kPiece), {to, from, table, n}, [=] {
      if constexpr (same_type<Bits, uint8_t>)
        look_up_bytes(to + begin, from + begin, end - begin, table);
      else
        for (int64_t i = begin; i < end; i++) to[i] = table[from[i]];
    });
  } else {
    using Item = LookUp<In, Bits>;
    const typename Item::Params params{to, from, table, size, otherwise};
    each_item<Item>(work, begin, end, params, [=] {
      for (int64_t i = begin; i < end; i++) to[i] = Item::look_up(from[i], table, size, otherwise);
    });
  }
}

std::vector<Data> run_lookup(const Run& run) {
  const auto& args = *static_cast<const LookupTableArgs*>(run.args.at(0));
  const int largest = args.keys.empty() ? 0 : *std::max_element(args.keys.begin(), args.keys.end());
  std::vector<float> values(std::max(largest + 1, 256) + 1, args.default_value);  // the last: of what is no key
  for (size_t k = 0; k < args.keys.size(); k++) values[args.keys[k]] = args.values[k];
  const DType dtype = run.out[0].dtype;
  return with_size_of(dtype, [&](auto type) {
    using Bits = typename decltype(type)::type;
    std::vector<Bits> table(values.size());
    rounding_run(dtype, DType::float32)(table.data(), values.data(), std::ssize(values));
    const Bits otherwise = table.back();
    table.pop_back();
    const Bits* entries = readable(run, table);
    SampleLoop loop;
    loop.shape = same_shape;
    loop.rows = [](const SampleWork& work) { return (work.out[0].elements() + kRow - 1) / kRow; };
    loop.body = [&](const SampleWork& work) {
      with_dtype(work.in[0].dtype, [&](auto in) {
        using In = typename decltype(in)::type;
        if constexpr (!TypeTraits<In>::is_float) look_up<In>(work, entries, table.size(), otherwise);
      });
    };
    return run_samples(run, loop);
  });
}

}  // namespace

AVIDA_OP(lookup_table, LookupTableArgs) {
  op.doc("Maps integers to values by a table.")
      .input("input", "Integers to look up.")
      .arg("default_value", &LookupTableArgs::default_value, "The value of integers that are not among the keys.",
           fixed | takes_nan)
      .arg("dtype", &LookupTableArgs::dtype, "The element type of the result.")
      .arg("keys", &LookupTableArgs::keys, "The integers that have a value, from 0 to 65535.", fixed)
      .arg("output_dtype", &LookupTableArgs::output_dtype, "The older name of `dtype`.")
      .arg("values", &LookupTableArgs::values, "The value of each key.", fixed | takes_nan)
      .example("avida.lookup_table(np.array([0, 1, 2]), keys=[1, 2], values=[0.5, 0.25])")
      .infer(infer)
      .custom(run_lookup)
      .on_gpu();
}

}  // namespace avida::ops
