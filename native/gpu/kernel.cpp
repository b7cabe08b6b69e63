#include "gpu/kernel.h"

#include "core/made_once.h"

namespace avida {
namespace {

std::vector<const Kernel*>& registry() {
  static constinit MadeOnce<std::vector<const Kernel*>> all;
  return all.get();
}

}  // namespace

const std::vector<const Kernel*>& kernels() { return registry(); }

const Kernel* register_kernel(Kernel& kernel) {
  kernel.number = static_cast<int>(registry().size());
  return registry().emplace_back(&kernel);
}

}  // namespace avida
