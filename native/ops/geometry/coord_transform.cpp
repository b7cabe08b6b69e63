#include "ops/geometry/coord_transform.h"

#include "op/convert_run.h"
#include "op/kernel_types.h"
#include "op/launches.h"
#include "op/matrix_arg.h"
#include "op/op.h"

namespace avida::ops {
namespace {

struct CoordTransformArgs {
  DType dtype = DType::float32;
  std::optional<Matrix> M, MT, T;  // the API's names
};

// The linear map for points of `n` numbers.
struct Linear {
  int64_t rows, columns;
  std::vector<float> m, shift;

  Linear(const CoordTransformArgs& args, int64_t n) : rows(n), columns(n) {
    if (args.MT && (args.M || args.T)) fail(ErrorKind::runtime, "expected \"MT\" or \"M\" and \"T\", got both");
    const std::optional<Matrix>& given = args.MT ? args.MT : args.M;
    const int64_t extra = args.MT && !args.MT->shape.empty();  // a column for the shift
    if (given && !given->shape.empty()) {
      if (given->shape.size() == 1 && n + extra > 0) rows = given->shape[0] / (n + extra);  // a flat list
      if (given->shape.size() == 2) rows = given->shape[0];
      if (volume(given->shape) != rows * (n + extra) || (given->shape.size() == 2 && given->shape[1] != n + extra))
        fail(ErrorKind::runtime, "expected a matrix with ", n + extra, " columns for points of ", n,
             " numbers, got the shape ", given->shape);
    }
    m.resize(rows * n);
    shift.resize(rows);
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t c = 0; c < n; c++)
        m[r * n + c] = given && !given->shape.empty() ? given->numbers[r * (n + extra) + c]
                       : r != c                       ? 0
                       : given                        ? given->numbers[0]
                                                      : 1;
      if (extra) shift[r] = given->numbers[r * (n + 1) + n];
    }
    if (!args.T) return;
    const int64_t numbers = std::ssize(args.T->numbers);
    if (numbers != 1 && numbers != rows)
      fail(ErrorKind::runtime, "expected ", rows, " numbers in \"T\", got ", numbers);
    for (int64_t r = 0; r < rows; r++) shift[r] = args.T->numbers[numbers == 1 ? 0 : r];
  }
};

constexpr int64_t kPoints = 1024;  // of a part of the work

int64_t points_of(const SampleView& in) {
  int64_t n = in.shape[in.ndim() - 1];
  return n == 0 ? volume(Shape(in.shape.span().first(in.ndim() - 1))) : in.elements() / n;
}

void shape(Sample<CoordTransformArgs>& sample) {
  const SampleView& in = sample.in[0];
  sample.out[0].shape = in.shape;
  sample.out[0].shape[in.ndim() - 1] = Linear(sample.args, in.shape[in.ndim() - 1]).rows;
}

void launch(const Sample<CoordTransformArgs>& sample, const Linear& map) {
  const SampleView &in = sample.in[0], &out = sample.out[0];
  const float* matrix = readable(sample.launches, map.m.data(), std::ssize(map.m));
  const float* shift = readable(sample.launches, map.shift.data(), map.rows);
  with_kernel_types(out.dtype, in.dtype, [&](auto to, auto from) {
    using Item = CoordTransform<typename decltype(to)::type, typename decltype(from)::type>;
    sample.launches->add<Item>(0, out.elements(),
                               {out.data, in.data, static_cast<int>(out.dtype), static_cast<int>(in.dtype), matrix,
                                shift, map.rows, map.columns});
  });
}

void transform(const Sample<CoordTransformArgs>& sample) {
  const SampleView &in = sample.in[0], &out = sample.out[0];
  const Linear map(sample.args, in.shape[in.ndim() - 1]);
  if (sample.launches) return launch(sample, map);
  const int64_t rows = map.rows, columns = map.columns, points = points_of(in);
  std::vector<float> from(kPoints * columns), to(kPoints * rows);
  for (int64_t part = sample.begin; part < sample.end; part++) {
    const int64_t first = part * kPoints, n = std::min(kPoints, points - first);
    rounding_run(DType::float32, in.dtype)(from.data(), in.as<char>() + first * columns * size_of(in.dtype),
                                           n * columns);
    for (int64_t i = 0; i < n; i++)
      for (int64_t r = 0; r < rows; r++) {
        float sum = map.shift[r];
        for (int64_t c = 0; c < columns; c++) sum += map.m[r * columns + c] * from[i * columns + c];
        to[i * rows + r] = sum;
      }
    rounding_run(out.dtype, DType::float32)(out.as<char>() + first * rows * size_of(out.dtype), to.data(), n * rows);
  }
}

}  // namespace

AVIDA_OP(coord_transform, CoordTransformArgs) {
  using Args = CoordTransformArgs;
  op.doc("Applies M * point + T to points, vectors or colours: the numbers along the last axis.")
      .input("input", "The points, at least as the rows of a matrix.")
      .arg("M", &Args::M, "The matrix: m rows for points of m numbers; or one factor for all.", takes_nan)
      .arg("MT", &Args::MT, "M and T in one, T as the last column.", takes_nan)
      .arg("T", &Args::T, "What is added to each number of a point, or one number for all.", takes_nan)
      .arg("dtype", &Args::dtype, "The element type of the output; integers are rounded and saturated.")
      .per_frame()
      .example("avida.coord_transform(np.float32([[1, 2], [3, 4]]), MT=avida.transforms.rotation(angle=90))")
      .infer([](Infer<Args>& call) {
        if (call.in[0].ndim < 2)
          fail(ErrorKind::runtime, "expected points as the rows of a matrix, got ", call.in[0].ndim, " axes");
        call.out[0].dtype = call.args.dtype;
      })
      .each_sample(shape, transform)
      .rows([](const Sample<Args>& sample) { return (points_of(sample.in[0]) + kPoints - 1) / kPoints; })
      .on_gpu();
}

}  // namespace avida::ops
