#include <cstring>

#include "op/op.h"
#include "op/strided_copy.h"

namespace avida::ops {
namespace {

struct ElementExtractArgs {
  std::vector<int> element_map;
};

void infer(Infer<ElementExtractArgs>& call) {
  const Meta& in = call.in[0];
  if (in.ndim < 2) fail(ErrorKind::runtime, "expected sequences of at least 2 axes, got ", in.ndim);
  if (!in.layout.empty() && in.layout[0] != 'F')
    fail(ErrorKind::runtime, "expected a sequence, with a layout that begins with F, got ", in.layout);
  for (Meta& out : call.out) {
    out.ndim = in.ndim - 1;
    out.layout = in.layout.empty() ? Layout() : Layout(in.layout.view().substr(1));
  }
}

void shape(Sample<ElementExtractArgs>& sample) {
  const Shape& in = sample.in[0].shape;
  for (size_t k = 0; k < sample.out.size(); k++) {
    int element = sample.args.element_map[k];
    if (element < 0 || element >= in[0])
      fail(ErrorKind::runtime, "the element ", element, " is out of range for a sequence of ", in[0]);
    sample.out[k].shape = Shape(in.span().subspan(1));
  }
}

// A row is one output.
void body(const Sample<ElementExtractArgs>& sample) {
  for (int64_t k = sample.begin; k < sample.end; k++) {
    int64_t bytes = sample.out[k].bytes();
    const char* from = sample.in[0].as<char>() + bytes * sample.args.element_map[k];
    if (sample.launches)
      StridedCopy(1, {bytes}, {1}).launch(*sample.launches, sample.out[k].data, from);
    else if (bytes)
      std::memcpy(sample.out[k].data, from, bytes);
  }
}

}  // namespace

AVIDA_OP(element_extract, ElementExtractArgs) {
  op.doc("Takes single elements out of sequences, such as frames out of videos, each as an output of its own.")
      .input("input", "The sequences.")
      .arg("element_map", &ElementExtractArgs::element_map, "The indices of the elements, one for each output.",
           fixed | required)
      .example("first, last = avida.element_extract(np.zeros((5, 4, 6, 3), np.uint8), element_map=[0, 4])")
      .outputs_from([](const ElementExtractArgs& args) {
        if (args.element_map.empty()) fail(ErrorKind::runtime, "element_map is empty");
        return static_cast<int>(args.element_map.size());
      })
      .infer(infer)
      .each_sample(shape, body)
      .rows([](const Sample<ElementExtractArgs>& sample) { return static_cast<int64_t>(sample.out.size()); })
      .on_gpu();
}

}  // namespace avida::ops
