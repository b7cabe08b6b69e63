// The declaration of an operator:
//
//   AVIDA_OP(flip, FlipArgs) { op.doc("...").input("input", "...").arg("horizontal", &FlipArgs::horizontal, "...").
//   ...; }
#pragma once
#include <memory>
#include <memory_resource>
#include <string_view>
#include <utility>

#include "arguments/traits.h"
#include "operator/frames.h"
#include "operator/sample.h"
#include "operator/spec.h"

namespace avida {

// For infer(): sets the metadata of the outputs before data is available.
template <class Args>
struct Infer {
  std::span<const Meta> in;
  const Args& args;
  std::pmr::vector<Meta>& out;
  const Inference& call;
};

// One sample of a call, with its arguments.
template <class Args>
struct Sample : SampleWork {
  explicit Sample(const SampleWork& work) : SampleWork(work), args(*static_cast<const Args*>(work.args)) {}

  const Args& args;
};

// For infer(): booleans are refused, as an input and as the type of the output.
void check_numbers(DType in, DType out = DType::none);

// For loops: the output has the shape of the first input.
inline constexpr auto same_shape = [](auto& sample) { sample.out[0].shape = sample.in[0].shape; };

// The part of a declaration that does not depend on the arguments struct, compiled once.
class Declaration {
 public:
  OpSpec spec;

 protected:
  explicit Declaration(std::string_view name);
  ~Declaration();
  void add_input(std::string_view name, std::string_view text, std::span<const Layout> layouts, bool optional = false,
                 bool variadic = false);
  void add_arg(std::string_view name, std::string_view text, const MemberKind& kind, unsigned flags,
               const void* default_value, size_t offset = 0);
  void finish_loop();

  SampleLoop loop_;
  bool on_cpu_ = false;
};

template <class Args>
class Op : public Declaration {
 public:
  explicit Op(std::string_view name) : Declaration(name) {
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
  }

  Op& doc(std::string_view text) { return spec.doc = text, *this; }
  // A line of Python that runs after `import avida`; `image` and `batch` are defined.
  Op& example(std::string_view code) { return spec.example = code, *this; }
  Op& hidden() { return spec.hidden = true, *this; }
  // A Python function without `batch_size` and `device`, whose inputs may be given by name.
  Op& plain() { return spec.plain = true, *this; }

  Op& input(std::string_view name, std::string_view text, std::initializer_list<Layout> layouts = {}) {
    return add_input(name, text, layouts), *this;
  }
  Op& optional_input(std::string_view name, std::string_view text, std::initializer_list<Layout> layouts = {}) {
    return add_input(name, text, layouts, true), *this;
  }
  // Any number of further inputs of the same kind.
  Op& more_inputs(std::string_view name, std::string_view text) { return add_input(name, text, {}, true, true), *this; }

  // The inputs are the bytes of files, or their paths: see InputKind.
  Op& takes_files() { return spec.input_kind = InputKind::files, *this; }
  Op& takes_paths() { return spec.input_kind = InputKind::paths, *this; }
  // An error that the documentation mentions, as "TypeOfError: when".
  Op& raises(std::string_view text) { return spec.raises = text, *this; }

  template <class Owner, class M>
  Op& arg(std::string_view name, M Owner::* member, std::string_view text, unsigned flags = 0) {
    const Args& defaults = *static_cast<const Args*>(spec.default_args.get());
    const void* value = &(defaults.*member);
    const size_t offset = static_cast<const char*>(value) - reinterpret_cast<const char*>(&defaults);
    return add_arg(name, text, arg::kind_of<M>(), flags, value, offset), *this;
  }
  // An argument that is accepted for compatibility and has no effect.
  template <class M>
  Op& ignored(std::string_view name, const M& value) {
    return add_arg(name, {}, arg::kind_of<M>(), fixed | deprecated, &value), *this;
  }

  Op& outputs(int n) { return spec.outputs = n, *this; }
  // The fixed arguments determine the number of outputs.
  Op& outputs_from(int (*fn)(const Args&)) {
    spec.count_outputs = [fn](const void* args) { return fn(*static_cast<const Args*>(args)); };
    return *this;
  }
  // There is one more output for each optional input that is given.
  Op& output_per_optional_input() { return spec.output_per_optional_input = true, *this; }

  // Arguments may have a value per frame of a sequence, as for all operators that declare a layout with frames.
  Op& per_frame() { return spec.per_frame = true, *this; }
  // All frames of a sequence get the largest of their shapes.
  Op& frames_share_shape() { return loop_.frames_share_shape = true, with_loop(); }

  // The operator draws random numbers: it takes `rng`, and every call takes a new position of that generator, at the
  // call itself. A body makes RandomStream(sample.random), which gives each sample its own numbers, in any mode and for
  // any number of threads. It also takes `keyed_by`, which gives a sample the same numbers in any batch.
  Op& random() { return spec.random = spec.keyed = true, *this; }
  // The same for an operator that draws for the batch as a whole: its draws cannot be keyed by a sample.
  Op& random_per_batch() { return spec.random = true, *this; }
  // The same for an operator whose results are the numbers that it draws: it also takes `like`.
  Op& draws_numbers() { return spec.draws_numbers = true, random(); }
  // Results of numbers that were drawn once, without a batch size, are such numbers too. So are those of hidden and of
  // plain operators.
  Op& passes_numbers() { return spec.passes_numbers = true, *this; }
  // Sample i of the output is not computed from sample i of the input; the operator sets the origins itself.
  Op& permutes() { return spec.permutes = true, *this; }

  // The results depend on files that the inputs name, and not on their bytes alone.
  Op& reads_files() { return spec.reads_files = true, *this; }
  // Every call runs, and exactly once, since it leaves files behind.
  Op& writes_files() { return spec.writes_files = true, *this; }

  // Moves or converts elements of any type, enum values among them, which the samples show as int32.
  Op& takes_enums() { return spec.takes_enums = true, *this; }

  // Called as soon as the inputs' metadata is known, at the latest before the operator runs.
  Op& infer(void (*fn)(Infer<Args>&)) {
    spec.infer = [fn](Inference& call) {
      Infer<Args> typed{call.in, *static_cast<const Args*>(call.args), call.out, call};
      fn(typed);
    };
    return *this;
  }

  // Code on one sample: a plan for each, made once in a call before any output has memory.
  //   explicit Plan(const Sample<Args>&);           optional: draws, checks, computes
  //   Shape shape() const;                          of the output; without it, that of the first input
  //   int64_t rows() const;                         optional: the number of independent parts of the work
  //   Part reads() const;                           optional: the part of the first input that run() reads; in a chain,
  //                                                 the previous call computes only this part
  //   void run(const Sample<Args>& sample) const;   does the parts [sample.begin, sample.end)
  //   static constexpr bool takes_long = true;      optional: creates plans on the thread pool
  // With a parameter `Sample<Args>& sample`, shape() sets the shapes of sample.out itself; with `const Sample<Args>&
  // sample`, rows() sees outputs that have memory.
  template <class Plan>
  Op& each_sample() {
    using Typed = Sample<Args>;
    loop_.plan_bytes = sizeof(Plan);
    loop_.plan_alignment = alignof(Plan);
    if constexpr (!std::is_trivially_destructible_v<Plan>)
      loop_.drop_plan = [](void* plan) { std::destroy_at(static_cast<Plan*>(plan)); };
    loop_.plans_take_long = requires { Plan::takes_long; };
    loop_.shape = [](SampleWork& work) {
      Typed sample(work);
      Plan* plan;
      if constexpr (std::is_constructible_v<Plan, const Typed&>)
        plan = new (work.plan) Plan(std::as_const(sample));
      else
        plan = new (work.plan) Plan();
      try {
        if constexpr (requires { plan->shape(sample); })
          plan->shape(sample);
        else if constexpr (requires { plan->shape(); })
          work.out[0].shape = plan->shape();
        else {
          static_assert(!requires { &Plan::shape; }, "shape() takes nothing, or Sample<Args>&");
          same_shape(work);
        }
      } catch (...) {
        std::destroy_at(plan);
        throw;
      }
    };
    loop_.body = [](const SampleWork& work) { plan_of<Plan>(work).run(Typed(work)); };
    if constexpr (requires(const Plan& plan) { plan.rows(); })
      loop_.rows = [](const SampleWork& work) { return int64_t{plan_of<Plan>(work).rows()}; };
    else if constexpr (requires(const Plan& plan, const Typed& sample) { plan.rows(sample); })
      loop_.rows = [](const SampleWork& work) { return int64_t{plan_of<Plan>(work).rows(Typed(work))}; };
    else
      static_assert(!requires { &Plan::rows; }, "rows() is const, and takes nothing, or const Sample<Args>&");
    if constexpr (requires(const Plan& plan) { plan.reads(); })
      loop_.reads = [](const SampleWork& work) { return plan_of<Plan>(work).reads(); };
    else
      static_assert(!requires { &Plan::reads; }, "reads() is const, and takes nothing");
    return with_loop();
  }
  // A loop of a loop family.
  Op& loop(SampleLoop loop) { return loop_ = std::move(loop), with_loop(); }
  // Called for a sample that failed. Returns true if it has set the shapes of a placeholder.
  Op& replace(bool (*fn)(Sample<Args>&)) {
    loop_.replace = [fn](SampleWork& work) {
      Sample<Args> sample(work);
      return fn(sample);
    };
    return with_loop();
  }
  Op& largest_first() { return loop_.largest_first = true, with_loop(); }
  Op& cost(double per_byte) { return loop_.cost = per_byte, with_loop(); }

  // The body itself reads and writes elements: calls on a GPU run on the CPU, with copies around them. Other bodies
  // touch elements through loop families alone, which run on either device.
  Op& on_cpu() { return on_cpu_ = true, spec.on_gpu = false, *this; }
  // custom() accesses elements through loop families only, and so runs on either device.
  Op& on_gpu() { return spec.on_gpu = true, *this; }
  // Optional GPU implementation. Return nullopt to fall back to the loop family.
  Op& gpu_run(std::optional<std::vector<Data>> (*fn)(const Run&, const GpuStream&)) { return spec.gpu_run = fn, *this; }
  // For what only GPUs have: runs the whole call. Calls with inputs on the CPU run on a GPU, too.
  Op& gpu_only(std::vector<Data> (*fn)(const Run&, const GpuStream&)) {
    spec.gpu_run = [fn](const Run& run, const GpuStream& stream) { return std::optional(fn(run, stream)); };
    return spec.gpu_only = spec.on_gpu = true, *this;
  }
  // The body itself reads the input declared last, which must be in CPU memory.
  Op& on_host() { return spec.inputs.back().on_host = true, *this; }

  // Calls of this operator may join a chain (chain.h). For loops whose output shapes depend only on the arguments and
  // the shapes of the first input.
  Op& chains() { return spec.chains = true, *this; }
  // Calls of this operator may start a chain: the executor waits for up to 2 ms after each submission for calls to
  // join. For operators that dominate a usual loop, such as decoders.
  Op& leads_chains(bool (*fn)(const Args&)) {
    spec.leads = [fn](const void* args) { return fn(*static_cast<const Args*>(args)); };
    return *this;
  }

  // The same memory with another shape, element type or layout: `shape` sets the output's shape, and its layout if
  // infer() could not.
  Op& view(void (*shape)(Sample<Args>&)) {
    spec.run = [shape](const Run& run) {
      return run_view(run, [shape](SampleWork& work) {
        Sample<Args> sample(work);
        shape(sample);
      });
    };
    spec.view = true;
    return on_gpu();
  }

  // For operators that fit no family: runs the whole call.
  Op& custom(std::vector<Data> (*fn)(const Run&)) { return spec.run = fn, *this; }

 private:
  template <class Plan>
  static const Plan& plan_of(const SampleWork& work) {
    return *static_cast<const Plan*>(work.plan);
  }
  Op& with_loop() { return finish_loop(), *this; }
};

struct NoArgs {};

template <class Args>
int declare(std::string_view name, void (*fill)(Op<Args>&)) {
  Op<Args> op(name);
  fill(op);
  return register_op(std::move(op.spec));
}

#define AVIDA_OP_NAMED(ID, NAME, ARGS)                                                    \
  [[gnu::cold]] static void declare_##ID(::avida::Op<ARGS>& op);                          \
  [[maybe_unused]] static const int id_##ID = ::avida::declare<ARGS>(NAME, declare_##ID); \
  static void declare_##ID(::avida::Op<ARGS>& op)
#define AVIDA_OP(NAME, ARGS) AVIDA_OP_NAMED(NAME, #NAME, ARGS)
// An operator of a Python module: AVIDA_OP_IN(reductions, max, Args) is avida.reductions.max.
#define AVIDA_OP_IN(MODULE, NAME, ARGS) AVIDA_OP_NAMED(MODULE##_##NAME, #MODULE "." #NAME, ARGS)

}  // namespace avida
