#include "loops/moving/strided_move.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct ElementExtractArgs {
  std::vector<int> element_map;
};

void infer(Infer<ElementExtractArgs>& call) {
  const Meta& in = call.in[0];
  if (in.ndim < 2) refuse("expected sequences of at least 2 axes, got ", in.ndim);
  if (!in.layout.empty() && in.layout[0] != 'F')
    refuse("expected a sequence, with a layout that begins with F, got ", in.layout);
  for (Meta& out : call.out) {
    out.ndim = in.ndim - 1;
    out.layout = in.layout.empty() ? Layout() : Layout(in.layout.view().substr(1));
  }
}

// A row is one output.
struct ExtractPlan {
  static void shape(Sample<ElementExtractArgs>& sample) {
    const Shape& in = sample.in[0].shape;
    for (size_t k = 0; k < sample.out.size(); k++) {
      int element = sample.args.element_map[k];
      if (element < 0 || element >= in[0])
        refuse("the element ", element, " is out of range for a sequence of ", in[0]);
      sample.out[k].shape = Shape(in.span().subspan(1));
    }
  }
  static int64_t rows(const Sample<ElementExtractArgs>& sample) { return std::ssize(sample.out); }
  static void run(const Sample<ElementExtractArgs>& sample) {
    for (int64_t k = sample.begin; k < sample.end; k++) {
      const int64_t bytes = sample.out[k].bytes();
      DenseMove(bytes).run_whole(sample, sample.out[k].data,
                                 sample.in[0].as<char>() + bytes * sample.args.element_map[k]);
    }
  }
};

}  // namespace

AVIDA_OP(element_extract, ElementExtractArgs) {
  op.doc("Extracts single elements of sequences, such as frames of videos. Each is an output of its own.")
      .input("input", "The sequences.")
      .arg("element_map", &ElementExtractArgs::element_map, "The indices of the elements, one for each output.",
           fixed | required)
      .example("first, last = avida.element_extract(np.zeros((5, 4, 6, 3), np.uint8), element_map=[0, 4])")
      .outputs_from([](const ElementExtractArgs& args) {
        if (args.element_map.empty()) refuse("element_map is empty");
        return static_cast<int>(args.element_map.size());
      })
      .infer(infer)
      .each_sample<ExtractPlan>();
}

}  // namespace avida::ops
