// Adjacent elements that are read or written at once.
#pragma once
#include "device/macros.h"

namespace avida {

constexpr int kNeighbours = 4;

template <class T>
struct alignas(sizeof(T) * kNeighbours) NeighbourElements {
  T at[kNeighbours];
};

}  // namespace avida
