#include "operator/declare.h"

namespace avida {

Declaration::Declaration(std::string_view name) {
  spec.name = name;
  spec.infer = [](Inference&) {};
}

Declaration::~Declaration() = default;

void check_numbers(DType in, DType out) {
  if (in == DType::boolean) refuse("expected numbers, got bool: convert it by cast(x, dtype=\"uint8\") first");
  if (out == DType::boolean) refuse("expected the type of numbers in \"dtype\", got bool");
}

void Declaration::add_input(std::string_view name, std::string_view text, std::span<const Layout> layouts,
                            bool optional, bool variadic) {
  for (auto& layout : layouts) spec.per_frame |= is_sequence(layout);
  spec.inputs.push_back({std::string(name), std::string(text), {layouts.begin(), layouts.end()}, optional, variadic});
}

void Declaration::add_arg(std::string_view name, std::string_view text, const MemberKind& kind, unsigned flags,
                          const void* default_value, size_t offset) {
  if (arg::always_fixed(kind.type)) flags |= fixed;
  spec.args.push_back(
      {std::string(name), std::string(text), kind.type, flags, kind.choices, kind.text(default_value), &kind, offset});
}

void Declaration::finish_loop() {
  spec.on_gpu = !on_cpu_;
  spec.loop = std::make_shared<SampleLoop>(loop_);
  spec.run = [loop = spec.loop](const Run& run) { return run_samples(run, *loop); };
}

}  // namespace avida
