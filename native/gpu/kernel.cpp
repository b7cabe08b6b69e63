#include "gpu/kernel.h"

namespace avida {
namespace {

std::vector<const Kernel*>& registry() {
  static auto* all = new std::vector<const Kernel*>;
  return *all;
}

}  // namespace

const std::vector<const Kernel*>& kernels() { return registry(); }

const Kernel* register_kernel(Kernel& kernel) {
  kernel.number = static_cast<int>(registry().size());
  return registry().emplace_back(&kernel);
}

}  // namespace avida
