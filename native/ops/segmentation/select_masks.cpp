#include <cstring>

#include "operator/declare.h"

namespace avida::ops {
namespace {

struct SelectMasksArgs {
  bool reindex_masks = false;
};

struct Polygon {
  int mask, begin, end;  // vertices, from begin to before end
};

// The polygons of the selected masks: mask by mask, the parts of each in their order.
class SelectMasks {
 public:
  explicit SelectMasks(const Sample<SelectMasksArgs>& sample) : vertices_(sample.in[2]) {
    const SampleView &selected = sample.in[0], &polygons = sample.in[1];
    if (polygons.shape[1] != 3)
      refuse("expected polygons as rows of mask, begin and end, got the shape ", polygons.shape);
    const int* ids = selected.as<int>();
    for (int i = 0; i < selected.elements(); i++) {
      if (std::find(ids, ids + i, ids[i]) != ids + i)
        refuse("expected each mask once in mask_ids, got ", ids[i], " again");
      const size_t before = chosen_.size();
      for (int64_t p = 0; p < polygons.shape[0]; p++)
        if (const Polygon polygon = polygons.as<Polygon>()[p]; polygon.mask == ids[i])
          add(polygon, sample.args.reindex_masks ? i : ids[i]);
      if (chosen_.size() == before) refuse("expected masks that have polygons, got ", ids[i]);
    }
    if (corners_ > INT32_MAX) refuse("expected fewer than 2^31 vertices, got ", corners_);
  }

  void shape(Sample<SelectMasksArgs>& sample) const {
    sample.out[0].shape = {std::ssize(chosen_), 3};
    sample.out[1].shape = {corners_, vertices_.shape[1]};
  }

  void run(const Sample<SelectMasksArgs>& sample) const {
    const int64_t vertex = vertices_.shape[1] * size_of(vertices_.dtype);
    Polygon* to = sample.out[0].as<Polygon>();
    int begin = 0;
    for (const Polygon& polygon : chosen_) {
      const int corners = polygon.end - polygon.begin;
      *to++ = {polygon.mask, begin, begin + corners};
      std::memcpy(sample.out[1].as<char>() + begin * vertex, vertices_.as<char>() + polygon.begin * vertex,
                  corners * vertex);
      begin += corners;
    }
  }

 private:
  void add(const Polygon& polygon, int mask) {
    if (polygon.begin < 0 || polygon.begin > polygon.end || polygon.end > vertices_.shape[0])
      refuse("expected a range of the vertices 0 to ", vertices_.shape[0], " for mask ", polygon.mask, ", got ",
             polygon.begin, " to ", polygon.end);
    chosen_.push_back({mask, polygon.begin, polygon.end});
    corners_ += polygon.end - polygon.begin;
  }

  const SampleView& vertices_;
  std::vector<Polygon> chosen_;  // with the input's vertices, and the output's masks
  int64_t corners_ = 0;
};

void infer(Infer<SelectMasksArgs>& call) {
  auto expect = [&](int k, const char* what, int ndim) {
    if (k < 2 && call.in[k].dtype != DType::int32) refuse("expected ", what, " of int32, got ", call.in[k].dtype);
    if (call.in[k].ndim != ndim) refuse("expected ", what, " of rank ", ndim, ", got ", call.in[k].ndim);
  };
  expect(0, "mask_ids", 1);
  expect(1, "polygons", 2);
  expect(2, "vertices", 2);
  call.out[0].ndim = 2;
  call.out[1].ndim = 2;
  call.out[1].dtype = call.in[2].dtype;
  for (Meta& out : call.out) out.layout = {};
}

}  // namespace

AVIDA_OP_IN(segmentation, select_masks, SelectMasksArgs) {
  using Args = SelectMasksArgs;
  op.doc("Selects the polygons of some masks, in the order in which the masks are listed.")
      .input("mask_ids", "The indices of the masks to select, each once.")
      .input("polygons", "Rows of a mask's index and the range of its vertices, as readers.COCO returns them.")
      .input("vertices", "Rows of coordinates, of any element type and count.")
      .arg("reindex_masks", &Args::reindex_masks, "Whether masks get new indices: their positions in `mask_ids`.",
           fixed)
      .example("avida.segmentation.select_masks([1], np.int32([[0, 0, 3], [1, 3, 6]]), np.zeros((6, 2), np.float32))")
      .outputs(2)
      .infer(infer)
      .on_cpu()
      .each_sample<SelectMasks>();
}

}  // namespace avida::ops
