#include <cstring>

#include "op/op.h"

namespace avida::ops {
namespace {

struct SelectMasksArgs {
  bool reindex_masks = false;
};

struct Polygon {
  int mask, begin, end;  // vertices, from begin to before end
};

// Calls fn(polygon, mask) for the polygons of the wanted masks: mask by mask, each one's parts in their order.
template <class Fn>
void each_selected(const Sample<SelectMasksArgs>& sample, Fn fn) {
  const SampleView &wanted = sample.in[0], &polygons = sample.in[1];
  for (int64_t w = 0; w < wanted.elements(); w++) {
    const int mask = wanted.as<int>()[w];
    bool found = false;
    for (int64_t p = 0; p < polygons.shape[0]; p++) {
      const Polygon& polygon = polygons.as<Polygon>()[p];
      if (polygon.mask != mask) continue;
      fn(polygon, sample.args.reindex_masks ? static_cast<int>(w) : mask);
      found = true;
    }
    if (!found) fail(ErrorKind::runtime, "expected masks that have polygons, got ", mask);
  }
}

void infer(Infer<SelectMasksArgs>& call) {
  auto expect = [&](int k, const char* what, int ndim) {
    if (k < 2 && call.in[k].dtype != DType::int32)
      fail(ErrorKind::runtime, "expected ", what, " of int32, got ", call.in[k].dtype);
    if (call.in[k].ndim != ndim)
      fail(ErrorKind::runtime, "expected ", what, " of rank ", ndim, ", got ", call.in[k].ndim);
  };
  expect(0, "mask_ids", 1);
  expect(1, "polygons", 2);
  expect(2, "vertices", 2);
  call.out[0].ndim = 2;
  call.out[1].ndim = 2;
  call.out[1].dtype = call.in[2].dtype;
  for (Meta& out : call.out) out.layout = {};
}

void set_shape(Sample<SelectMasksArgs>& sample) {
  const SampleView &wanted = sample.in[0], &polygons = sample.in[1], &vertices = sample.in[2];
  if (polygons.shape[1] != 3)
    fail(ErrorKind::runtime, "expected polygons as rows of mask, begin and end, got the shape ", polygons.shape);
  for (int64_t i = 1; i < wanted.elements(); i++)
    if (const int* ids = wanted.as<int>(); std::find(ids, ids + i, ids[i]) != ids + i)
      fail(ErrorKind::runtime, "expected each mask once in mask_ids, got ", ids[i], " again");
  int64_t count = 0, corners = 0;
  each_selected(sample, [&](const Polygon& polygon, int) {
    if (polygon.begin < 0 || polygon.begin > polygon.end || polygon.end > vertices.shape[0])
      fail(ErrorKind::runtime, "expected a part of the vertices 0 to ", vertices.shape[0], " for mask ", polygon.mask,
           ", got ", polygon.begin, " to ", polygon.end);
    count++;
    corners += polygon.end - polygon.begin;
  });
  if (corners > INT32_MAX) fail(ErrorKind::runtime, "expected fewer than 2^31 vertices, got ", corners);
  sample.out[0].shape = {count, 3};
  sample.out[1].shape = {corners, vertices.shape[1]};
}

void run(const Sample<SelectMasksArgs>& sample) {
  const SampleView& vertices = sample.in[2];
  const int64_t vertex = vertices.shape[1] * size_of(vertices.dtype);
  Polygon* to = sample.out[0].as<Polygon>();
  int begin = 0;
  each_selected(sample, [&](const Polygon& polygon, int mask) {
    const int corners = polygon.end - polygon.begin;
    *to++ = {mask, begin, begin + corners};
    std::memcpy(sample.out[1].as<char>() + begin * vertex, vertices.as<char>() + polygon.begin * vertex,
                corners * vertex);
    begin += corners;
  });
}

}  // namespace

AVIDA_OP_IN(segmentation, select_masks, SelectMasksArgs) {
  using Args = SelectMasksArgs;
  op.doc("Keeps the polygons of some masks, with all parts of each, in the order in which the masks are named.")
      .input("mask_ids", "The masks to keep, each once.")
      .input("polygons", "Rows of a mask's number and the range of its vertices, as readers.COCO gives them.")
      .input("vertices", "Rows of coordinates, of any type and number.")
      .arg("reindex_masks", &Args::reindex_masks, "Masks are numbered anew, by their places in `mask_ids`.", fixed)
      .example("avida.segmentation.select_masks([1], np.int32([[0, 0, 3], [1, 3, 6]]), np.zeros((6, 2), np.float32))")
      .outputs(2)
      .infer(infer)
      .each_sample(set_shape, run);
}

}  // namespace avida::ops
