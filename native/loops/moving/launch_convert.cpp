#include "loops/moving/launch_convert.h"

#include "loops/items/kernel_types.h"
#include "loops/moving/convert_item.h"
#include "loops/moving/strided_move.h"
#include "operator/launches.h"

namespace avida {

void launch_convert(Launches& launches, void* out, DType to, const void* in, DType from, int64_t n) {
  if (to == from) return StridedMove(size_of(to), {n}, {1}).launch(launches, out, in);
  with_kernel_types(to, from, [&](auto to_type, auto from_type) {
    using To = typename decltype(to_type)::type;
    using From = typename decltype(from_type)::type;
    if constexpr (!same_type<To, From> || same_type<To, AnyElement>) {
      auto fits = [](const void* data, DType dtype) {
        return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(size_of(dtype) * kNeighbours) == 0;
      };
      launches.add<ConvertItem<true, To, From>>(
          0, (n + kNeighbours - 1) / kNeighbours,
          {out, in, static_cast<int>(to), static_cast<int>(from), fits(out, to) && fits(in, from), n});
    }
  });
}

}  // namespace avida
