#include "core/vectors.h"

#include <hwy/highway.h>

#include "core/error.h"
#include "core/made_once.h"

namespace avida {
namespace {

const std::vector<int64_t>& targets() {
  static constinit MadeOnce<const std::vector<int64_t>> found;
  return found.get([] { return std::make_unique<const std::vector<int64_t>>(hwy::SupportedAndGeneratedTargets()); });
}

}  // namespace

std::vector<std::string_view> vector_targets() {
  std::vector<std::string_view> names;
  for (int64_t target : targets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void use_vectors(std::string_view name) {
  int64_t enabled = 0;
  for (int64_t target : targets())
    if (enabled || hwy::TargetName(target) == name) enabled |= target;
  if (!enabled) refuse("there is no instruction set ", name, " on this machine");
  hwy::SetSupportedTargetsForTest(enabled);
}

}  // namespace avida
