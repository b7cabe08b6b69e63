#include "readers/numpy/array_part.h"

#include "core/parts/strided_copy.h"
#include "runtime/memory.h"

namespace avida {
namespace {

constexpr int64_t kShortGap = 4 << 10;    // bytes; reading them takes about as long as starting another read
constexpr int64_t kMostAtOnce = 1 << 20;  // bytes of one read that includes gaps

Shape axes_from(const Shape& shape, int first) { return Shape(shape.span().subspan(first)); }

}  // namespace

void read_array_part(const storage::Object& file, int64_t data, int element_size, const Shape& shape,
                     const Window& part, char* to) {
  if (volume(part.size) == 0) return;
  const Shape strides = dense_strides(shape);
  auto stride_bytes = [&](int d) { return strides[d] * element_size; };

  // The axes from `dense` on are contiguous in the part: the complete ones, and the one before them.
  int dense = shape.size();
  int64_t span = element_size;
  while (dense > 0 && part.size[dense - 1] == shape[dense - 1]) span *= shape[--dense];
  if (dense > 0) span *= part.size[--dense];
  // The axes from `first` on are read at once, including the gaps.
  int first = dense;
  while (first > 0) {
    int64_t n = part.size[first - 1], step = stride_bytes(first - 1), larger = (n - 1) * step + span;
    if (n > 1 && (step - span > kShortGap || larger > kMostAtOnce)) break;
    span = larger;
    first--;
  }

  bool gaps = false;
  for (int d = first; d < dense; d++) gaps |= part.size[d] > 1;
  StridedCopy pick(element_size, axes_from(part.size, first), axes_from(strides, first));
  Block buffer = gaps ? allocate(span) : nullptr;
  const int64_t bytes = volume(axes_from(part.size, first)) * element_size;
  int64_t offset = data;
  for (int d = 0; d < shape.size(); d++) offset += part.start[d] * stride_bytes(d);

  Shape at;
  at.resize(first, 0);
  while (true) {
    file.read_at(offset, gaps ? buffer.get() : to, span);
    if (gaps) pick.run(to, buffer.get());
    to += bytes;
    int d = first - 1;
    for (; d >= 0; d--) {
      offset += stride_bytes(d);
      if (++at[d] < part.size[d]) break;
      offset -= part.size[d] * stride_bytes(d);
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace avida
