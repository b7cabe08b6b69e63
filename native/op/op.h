// The declaration of an operator:
//
//   AVIDA_OP(flip, FlipArgs) { op.doc("...").input("input", "...").arg("horizontal", &FlipArgs::horizontal, "...").
//   ...; }
#pragma once
#include <algorithm>
#include <memory>
#include <memory_resource>
#include <string>
#include <utility>

#include "op/arg.h"
#include "op/frames.h"
#include "op/sample.h"
#include "op/spec.h"

namespace avida {

// infer(): sets what is known of the outputs before any data is there.
template <class Args>
struct Infer {
  std::span<const Meta> in;
  const Args& args;
  std::pmr::vector<Meta>& out;
  const Inference& call;
};

// One sample, with its arguments.
template <class Args>
struct Sample {
  const Args& args;
  std::span<const SampleView> in;
  std::span<SampleView> out;
  int64_t begin, end;
  int index;
  RandomKey random;    // for RandomStream, in random operators
  const Part* needed;  // the part of the output that will be read; null: all
  Launches* launches;  // see Run
};

template <class Args>
class Op {
 public:
  explicit Op(std::string name) {
    spec.name = std::move(name);
    spec.default_args = std::make_shared<Args>();
    spec.args_type = {
        [] { return std::static_pointer_cast<void>(std::make_shared<Args>()); },
        [](const void* prototype, int n) {
          std::shared_ptr<Args[]> list(new Args[n]);
          for (int i = 0; i < n; i++) list[i] = *static_cast<const Args*>(prototype);
          return std::shared_ptr<void>(list, list.get());
        },
        sizeof(Args),
    };
    spec.infer = [](Inference&) {};
  }

  Op& doc(std::string text) { return spec.doc = std::move(text), *this; }
  // A line of Python that a reader can run after `import avida`; `image` and `batch` are there.
  Op& example(std::string code) { return spec.example = std::move(code), *this; }
  Op& hidden() { return spec.hidden = true, *this; }
  // A Python function of its inputs alone, which may be given by name.
  Op& plain() { return spec.plain = true, *this; }

  Op& input(std::string name, std::string text, std::vector<Layout> layouts = {}) {
    for (auto& layout : layouts) spec.per_frame |= is_sequence(layout);
    return spec.inputs.push_back({std::move(name), std::move(text), std::move(layouts)}), *this;
  }
  Op& optional_input(std::string name, std::string text) {
    return spec.inputs.push_back({std::move(name), std::move(text), {}, true}), *this;
  }
  // Any number of further inputs of the same kind.
  Op& more_inputs(std::string name, std::string text) {
    return spec.inputs.push_back({std::move(name), std::move(text), {}, true, true}), *this;
  }

  template <class Owner, class M>
  Op& arg(std::string name, M Owner::* member, std::string text, unsigned flags = 0) {
    using Traits = arg::Traits<M>;
    if (arg::always_fixed(Traits::type)) flags |= fixed;
    Args defaults{};
    spec.args.push_back({
        std::move(name),
        std::move(text),
        Traits::type,
        flags,
        Traits::text(defaults.*member),
        [member](void* args, const ArgValue& value) { Traits::assign(static_cast<Args*>(args)->*member, value); },
        [member](void* args, const void* data, const Shape& shape, DType dtype) {
          Traits::from_sample(static_cast<Args*>(args)->*member, data, shape, dtype);
        },
    });
    return *this;
  }

  Op& outputs(int n) { return spec.outputs = n, *this; }
  // The number of outputs follows from the fixed arguments.
  Op& outputs_from(int (*fn)(const Args&)) {
    spec.count_outputs = [fn](const void* args) { return fn(*static_cast<const Args*>(args)); };
    return *this;
  }
  // One more for each optional input that is given.
  Op& output_per_optional_input() { return spec.output_per_optional_input = true, *this; }

  // Arguments may come for each frame of a sequence, as they may for all operators that name a layout with frames.
  Op& per_frame() { return spec.per_frame = true, *this; }
  // All frames of a sequence get the largest of the shapes that they would have.
  Op& frames_share_shape() { return loop_.frames_share_shape = true, finish_loop(); }

  // The operator draws random numbers: it takes `rng`, and every call takes a new position of that generator, at the
  // call itself. A body makes RandomStream(sample.random), which gives each sample its own numbers, in any mode and for
  // any number of threads. It also takes `keyed_by`, which gives a sample the same numbers in any batch.
  Op& random() { return spec.random = spec.keyed = true, *this; }
  // The same for an operator that draws for the batch as a whole: its numbers have no sample to be keyed by.
  Op& random_per_batch() { return spec.random = true, *this; }
  // Sample i of the output is not made of sample i of the input; the operator sets the origins itself.
  Op& permutes() { return spec.permutes = true, *this; }

  // Called as soon as the inputs' metadata is known, at the latest before the operator runs.
  Op& infer(void (*fn)(Infer<Args>&)) {
    spec.infer = [fn](Inference& call) {
      Infer<Args> typed{call.in, *static_cast<const Args*>(call.args), call.out, call};
      fn(typed);
    };
    return *this;
  }

  // Any code on one sample: `shape` sets the outputs' shapes, `body` fills them.
  Op& each_sample(void (*shape)(Sample<Args>&), void (*body)(const Sample<Args>&)) {
    loop_.shape = [shape](SampleWork& work) { call_typed(shape, work); };
    loop_.body = [body](const SampleWork& work) { call_typed(body, work); };
    return finish_loop();
  }
  // How many independent rows a sample's work has; the body then does [begin, end) of them.
  Op& rows(int64_t (*fn)(const Sample<Args>&)) {
    loop_.rows = [fn](const SampleWork& work) { return call_typed(fn, work); };
    return finish_loop();
  }
  // A loop that a family made.
  Op& loop(SampleLoop loop) { return loop_ = std::move(loop), finish_loop(); }
  // Called for a sample that failed: true when it has set the shapes of an empty one to go on with.
  Op& replace(bool (*fn)(Sample<Args>&)) {
    loop_.replace = [fn](SampleWork& work) { return call_typed(fn, work); };
    return finish_loop();
  }
  Op& largest_first() { return loop_.largest_first = true, finish_loop(); }
  Op& cost(double per_byte) { return loop_.cost = per_byte, finish_loop(); }

  // The body touches elements through a loop family alone, so that it can run for memory of a GPU.
  Op& on_gpu() { return spec.on_gpu = true, *this; }
  // Where a GPU has something better than a loop family; nothing: it has not.
  Op& gpu_run(std::optional<std::vector<Data>> (*fn)(const Run&, const GpuStream&)) { return spec.gpu_run = fn, *this; }
  // The input declared last is read by the body itself: it has to be in the CPU's memory.
  Op& on_host() { return spec.inputs.back().on_host = true, *this; }

  // Consecutive calls of such operators may be run as one. For loops whose shapes follow from the arguments and the
  // first input's shapes alone.
  Op& chains() { return spec.chains = true, *this; }
  // The part of the first input that the body reads: an operator that leads a chain need not make the rest.
  Op& reads(Part (*fn)(const Sample<Args>&)) {
    loop_.reads = [fn](const SampleWork& work) { return call_typed(fn, work); };
    return finish_loop();
  }
  // Most of the work of a usual loop, so that waiting for what follows pays: the first of a chain.
  Op& leads_chains(bool (*fn)(const Args&)) {
    spec.leads = [fn](const void* args) { return fn(*static_cast<const Args*>(args)); };
    return *this;
  }

  // The same memory under another shape, element type or layout: `shape` sets the output's shape, and its layout where
  // infer() could not.
  Op& view(void (*shape)(Sample<Args>&)) {
    spec.run = [shape](const Run& run) {
      return run_view(run, [shape](SampleWork& work) { call_typed(shape, work); });
    };
    return on_gpu();
  }

  // Whatever fits no family: the whole call at once.
  Op& custom(std::vector<Data> (*fn)(const Run&)) { return spec.run = fn, *this; }

  OpSpec spec;

 private:
  template <class Fn, class Work>
  static auto call_typed(Fn fn, Work& work) {
    Sample<Args> sample{*static_cast<const Args*>(work.args),
                        work.in,
                        work.out,
                        work.begin,
                        work.end,
                        work.index,
                        work.random,
                        work.needed,
                        work.launches};
    return fn(sample);
  }
  Op& finish_loop() {
    spec.loop = std::make_shared<SampleLoop>(loop_);
    spec.run = [loop = spec.loop](const Run& run) { return run_samples(run, *loop); };
    return *this;
  }
  SampleLoop loop_;
};

struct NoArgs {};

template <class Args>
int declare(const char* name, void (*fill)(Op<Args>&)) {
  Op<Args> op(name);
  fill(op);
  // Operators may add arguments that they share with others. Hidden ones are called by position.
  if (!op.spec.hidden) std::ranges::sort(op.spec.args, {}, &ArgSpec::name);
  return register_op(std::move(op.spec));
}

#define AVIDA_OP_NAMED(ID, NAME, ARGS)                                                    \
  static void declare_##ID(::avida::Op<ARGS>& op);                                        \
  [[maybe_unused]] static const int id_##ID = ::avida::declare<ARGS>(NAME, declare_##ID); \
  static void declare_##ID(::avida::Op<ARGS>& op)
#define AVIDA_OP(NAME, ARGS) AVIDA_OP_NAMED(NAME, #NAME, ARGS)
// An operator of a Python module: AVIDA_OP_IN(reductions, max, Args) is avida.reductions.max.
#define AVIDA_OP_IN(MODULE, NAME, ARGS) AVIDA_OP_NAMED(MODULE##_##NAME, #MODULE "." #NAME, ARGS)

}  // namespace avida
