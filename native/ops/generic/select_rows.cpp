// x[mask] of Tensors and batch.slice[mask]: the rows whose boolean is true.
#include "loops/moving/strided_move.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct Rows {
  int64_t begin, end;
};

class SelectRowsPlan {
 public:
  explicit SelectRowsPlan(const Sample<NoArgs>& sample) : shape_(sample.in[0].shape) {
    const SampleView &in = sample.in[0], &mask = sample.in[1];
    if (mask.shape[0] != in.shape[0])
      fail(ErrorKind::index, "expected a mask of ", in.shape[0], " booleans, one for each row, got ", mask.shape[0]);
    row_bytes_ = in.shape[0] ? in.bytes() / in.shape[0] : 0;
    shape_[0] = 0;
    for (int64_t row = 0; row < in.shape[0]; row++) {
      if (!mask.as<bool>()[row]) continue;
      if (runs_.empty() || runs_.back().end != row) runs_.push_back({row, row});
      runs_.back().end++;
      shape_[0]++;
    }
  }

  const Shape& shape() const { return shape_; }
  void run(const Sample<NoArgs>& sample) const {
    int64_t row = 0;
    for (const Rows& run : runs_) {
      const DenseMove move((run.end - run.begin) * row_bytes_);
      move.run_whole(sample, sample.out[0].as<char>() + row * row_bytes_,
                     sample.in[0].as<char>() + run.begin * row_bytes_);
      row += run.end - run.begin;
    }
  }

 private:
  Shape shape_;
  std::vector<Rows> runs_;  // of rows that are selected, one after the other
  int64_t row_bytes_;
};

}  // namespace

AVIDA_OP_NAMED(select_rows, "_select_rows", NoArgs) {
  op.doc("Selects rows by a mask.")
      .hidden()
      .input("data", "The samples whose rows are selected, along their first axis.")
      .input("mask", "A boolean for each row.")
      .on_host()
      .takes_enums()
      .infer([](Infer<NoArgs>& call) {
        const Meta &data = call.in[0], &mask = call.in[1];
        if (data.ndim == 0) value_error("a mask selects rows, and numbers have none");
        if (mask.dtype != DType::boolean || mask.ndim != 1)
          value_error("expected a mask of booleans along one axis, got ", mask.dtype, " with ", mask.ndim, " axes");
      })
      .each_sample<SelectRowsPlan>();
}

}  // namespace avida::ops
