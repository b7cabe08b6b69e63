// Adjacent elements that are read or written at once.
#pragma once
#include "device/macros.h"

namespace avida {

constexpr int kNeighbours = 4;

template <class T, int n = kNeighbours>
struct alignas(sizeof(T) * n) NeighbourElements {
  T at[n];
};

}  // namespace avida
