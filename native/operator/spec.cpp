#include "operator/spec.h"

#include <algorithm>
#include <deque>

#include "core/made_once.h"

namespace avida {
namespace {
std::deque<OpSpec>& registry() {
  static constinit MadeOnce<std::deque<OpSpec>> ops;
  return ops.get();
}
}  // namespace

OpSpec::OpSpec() = default;
OpSpec::OpSpec(OpSpec&&) noexcept = default;
OpSpec::~OpSpec() = default;

int OpSpec::min_inputs() const {
  int n = 0;
  for (auto& input : inputs) n += !input.optional;
  return n;
}

int OpSpec::max_inputs() const {
  return !inputs.empty() && inputs.back().variadic ? -1 : static_cast<int>(inputs.size());
}

const OpSpec& op_at(int id) { return registry().at(id); }
int op_count() { return static_cast<int>(registry().size()); }

int find_op(std::string_view name) {
  for (int i = 0; i < op_count(); i++)
    if (op_at(i).name == name) return i;
  return -1;
}

int register_op(OpSpec&& spec) {
  // Sorts arguments, since operators may add ones that they share with others. Hidden operators are called by position.
  if (!spec.hidden) std::ranges::sort(spec.args, {}, &ArgSpec::name);
  registry().push_back(std::move(spec));
  return op_count() - 1;
}

}  // namespace avida
