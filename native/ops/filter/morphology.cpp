#include <limits>

#include "core/clones.h"
#include "op/op.h"
#include "op/stencil.h"

namespace avida::ops {
namespace {

struct MorphologyArgs {
  std::vector<int> anchor = {-1, -1};
  std::string border_mode = "constant";
  int iterations = 1;
  std::vector<int> mask_size = {3, 3};
};

// out[i] is the larger, or the smaller, of a[i] and b[i]. The output may begin where one of the inputs does, since
// elements are read before, or with, the writing of those at their place.
template <class T>
AVIDA_INLINE void pick(bool larger, T* out, const T* a, const T* b, int64_t n) {
  if (larger)
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) out[i] = a[i] > b[i] ? a[i] : b[i];
  else
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) out[i] = a[i] < b[i] ? a[i] : b[i];
}
AVIDA_CLONES void pick_rows(bool larger, uint8_t* out, const uint8_t* a, const uint8_t* b, int64_t n) {
  pick(larger, out, a, b, n);
}
AVIDA_CLONES void pick_rows(bool larger, uint16_t* out, const uint16_t* a, const uint16_t* b, int64_t n) {
  pick(larger, out, a, b, n);
}
AVIDA_CLONES void pick_rows(bool larger, int16_t* out, const int16_t* a, const int16_t* b, int64_t n) {
  pick(larger, out, a, b, n);
}
AVIDA_CLONES void pick_rows(bool larger, int32_t* out, const int32_t* a, const int32_t* b, int64_t n) {
  pick(larger, out, a, b, n);
}
AVIDA_CLONES void pick_rows(bool larger, float* out, const float* a, const float* b, int64_t n) {
  pick(larger, out, a, b, n);
}
AVIDA_CLONES void pick_rows(bool larger, double* out, const double* a, const double* b, int64_t n) {
  pick(larger, out, a, b, n);
}

// data[i] becomes the largest (smallest) of data[i], data[i + step], ... of `window` elements; the last
// (window - 1) * step of the n elements have no result. What holds for 1, 2, 4 ... elements gives twice as many.
template <class T>
void pick_along(bool larger, T* data, int64_t window, int64_t step, int64_t n) {
  int64_t reached = 1;
  for (; 2 * reached <= window; reached *= 2)
    pick_rows(larger, data, data, data + reached * step, n - (2 * reached - 1) * step);
  if (reached < window) pick_rows(larger, data, data, data + (window - reached) * step, n - (window - 1) * step);
}

// Repeating is the same as doing it once with a larger mask.
Reach mask_reach(const MorphologyArgs& args, const Space& space) {
  if (args.iterations < 0) fail(ErrorKind::runtime, "expected iterations of at least 0, got ", args.iterations);
  Reach reach;
  for (int i = 0; i < 2; i++) {
    int64_t size = for_axis(args.mask_size, i, 2, "mask_size"), anchor = for_axis(args.anchor, i, 2, "anchor");
    if (size < 1) fail(ErrorKind::runtime, "expected a mask_size of at least 1, got ", size);
    if (anchor == -1) anchor = size / 2;
    if (anchor < 0 || anchor >= size)
      fail(ErrorKind::runtime, "expected an anchor from 0 to ", size - 1, ", or -1, got ", anchor);
    int64_t most = 2 * space.size[1 + i];  // beyond, whatever the border is, nothing new is seen
    reach.before[1 + i] = std::min(anchor * args.iterations, most);
    reach.after[1 + i] = std::min((size - 1 - anchor) * args.iterations, most);
  }
  return reach;
}

template <class T>
void pick_in_windows(const Sample<MorphologyArgs>& sample, const Space& space, bool larger) {
  const SampleView &in = sample.in[0], &out = sample.out[0];
  Reach reach = mask_reach(sample.args, space);
  using Limits = std::numeric_limits<T>;
  T never_picked = Limits::has_infinity ? (larger ? -Limits::infinity() : Limits::infinity())
                                        : (larger ? Limits::lowest() : Limits::max());
  PaddedTile<T> tile(space, in, reach, parse_border(sample.args.border_mode, "border_mode"), never_picked);
  ConvertRun convert = rounding_run(out.dtype, dtype_of<T>);
  int64_t n = space.row_elements(), pitch = tile.pitch();
  each_run_of_rows(
      sample.begin, sample.end, space.size[1], tile.rows_at_once(), [&](int64_t part, int64_t y, int64_t count) {
        int64_t loaded = count + reach.size(1) - 1;
        tile.load(part, 0, y - reach.before[1], loaded);
        pick_along(larger, tile.row(0), reach.size(1), pitch, loaded * pitch);
        for (int64_t i = 0; i < count; i++) {
          pick_along(larger, tile.row(i), reach.size(2), space.inner, pitch);
          convert(out.as<char>() + ((part * space.size[1] + y + i) * n) * size_of(out.dtype), tile.row(i), n);
        }
      });
}

template <bool larger>
void declare_morphology(Op<MorphologyArgs>& op) {
  using Args = MorphologyArgs;
  op.input("input", "The images, or sequences of them.", {"HW", "HWC", "FHWC", "CHW", "FCHW"})
      .arg("anchor", &Args::anchor,
           "The element of the mask that lies over the element computed, along height and width; -1 is the middle.")
      .arg("border_mode", &Args::border_mode,
           "What lies beyond the border: \"constant\" (nothing that would be picked), \"replicate\", \"reflect\", "
           "\"reflect_101\" or \"wrap\".")
      .arg("iterations", &Args::iterations, "How many times it is done: each enlarges the mask by its size less 1.",
           fixed)
      .arg("mask_size", &Args::mask_size, "The size of the mask along height and width.")
      .infer([](Infer<Args>& call) {
        parse_border(call.args.border_mode, "border_mode");
        with_ordered_type(call.in[0].dtype, [](auto) {});
      })
      .each_sample(
          [](Sample<Args>& sample) {
            mask_reach(sample.args, space_of(sample.in[0].shape, sample.in[0].layout));
            sample.out[0].shape = sample.in[0].shape;
          },
          [](const Sample<Args>& sample) {
            Space space = space_of(sample.in[0].shape, sample.in[0].layout);
            if (space.empty()) return;
            with_ordered_type(sample.in[0].dtype, [&](auto type) {
              pick_in_windows<typename decltype(type)::type>(sample, space, larger);
            });
          })
      .rows([](const Sample<Args>& sample) { return space_of(sample.in[0].shape, sample.in[0].layout).rows(); })
      .cost(2);
}

}  // namespace

AVIDA_OP_IN(experimental, dilate, MorphologyArgs) {
  op.doc("Replaces each element by the largest of those under a mask: bright parts of images grow.")
      .example("avida.experimental.dilate(image, mask_size=[3, 5])");
  declare_morphology<true>(op);
}

AVIDA_OP_IN(experimental, erode, MorphologyArgs) {
  op.doc("Replaces each element by the smallest of those under a mask: bright parts of images shrink.")
      .example("avida.experimental.erode(image, mask_size=[3, 5])");
  declare_morphology<false>(op);
}

}  // namespace avida::ops
