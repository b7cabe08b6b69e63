#include "ops/geometry/coord_transform.h"

#include "core/clones.h"
#include "loops/items/each_item.h"
#include "loops/items/kernel_types.h"
#include "loops/moving/convert_run.h"
#include "operator/declare.h"
#include "ops/geometry/matrix_arg.h"

namespace avida::ops {
namespace {

struct CoordTransformArgs {
  DType dtype = DType::float32;
  std::optional<Matrix> M, MT, T;  // the API's names
};

constexpr int64_t kPoints = 1024;  // of one part of the work

// CoordTransform::run for n points, as it vectorises.
template <int rows, int columns>
AVIDA_INLINE void map_points(float* __restrict out, const float* __restrict in, const float* matrix,
                             const float* shifts, int64_t n) {
  float weight[rows * columns], shift[rows];
  for (int k = 0; k < rows * columns; k++) weight[k] = matrix[k];
  for (int r = 0; r < rows; r++) shift[r] = shifts[r];
  for (int64_t i = 0; i < n; i++)
    for (int r = 0; r < rows; r++) {
      float sum = shift[r];
      for (int c = 0; c < columns; c++) sum += weight[r * columns + c] * in[i * columns + c];
      out[i * rows + r] = sum;
    }
}
template <int columns>
AVIDA_INLINE bool map_points(float* out, const float* in, const float* matrix, const float* shift, int64_t rows,
                             int64_t n) {
  if (rows == 1) return map_points<1, columns>(out, in, matrix, shift, n), true;
  if (rows == 2) return map_points<2, columns>(out, in, matrix, shift, n), true;
  if (rows == 3) return map_points<3, columns>(out, in, matrix, shift, n), true;
  if (rows == 4) return map_points<4, columns>(out, in, matrix, shift, n), true;
  return false;
}
// Returns false for other matrices.
AVIDA_CLONES bool map_points(float* out, const float* in, const float* matrix, const float* shift, int64_t rows,
                             int64_t columns, int64_t n) {
  if (columns == 2) return map_points<2>(out, in, matrix, shift, rows, n);
  if (columns == 3) return map_points<3>(out, in, matrix, shift, rows, n);
  return false;
}

struct AffineMap {
  const SampleView& in;
  int64_t rows_, columns, points;  // of the matrix; of the sample
  std::vector<float> matrix, shift;

  explicit AffineMap(const Sample<CoordTransformArgs>& sample) : in(sample.in[0]) {
    const auto& [dtype, M, MT, T] = sample.args;
    if (MT && (M || T)) refuse("expected \"MT\" or \"M\" and \"T\", got both");
    const int64_t n = in.shape[in.ndim() - 1];
    rows_ = columns = n;
    points = volume(Shape(in.shape.span().first(in.ndim() - 1)));
    const std::optional<Matrix>& given = MT ? MT : M;
    const int64_t extra = MT && !MT->shape.empty();  // a column for the shift
    const bool is_matrix = given && !given->shape.empty();
    if (is_matrix) {
      if (given->shape.size() == 1 && n + extra > 0) rows_ = given->shape[0] / (n + extra);  // a flat list
      if (given->shape.size() == 2) rows_ = given->shape[0];
      if (volume(given->shape) != rows_ * (n + extra) || (given->shape.size() == 2 && given->shape[1] != n + extra))
        refuse("expected a matrix with ", n + extra, " columns for points of ", n, " numbers, got the shape ",
               given->shape);
    }
    if (T && std::ssize(T->numbers) != 1 && std::ssize(T->numbers) != rows_)
      refuse("expected ", rows_, " numbers in \"T\", got ", T->numbers.size());
    matrix.reserve(rows_ * n);
    shift.reserve(rows_);
    for (int64_t r = 0; r < rows_; r++) {
      const float* row = is_matrix ? given->numbers.data() + r * (n + extra) : nullptr;
      for (int64_t c = 0; c < n; c++) matrix.push_back(row ? row[c] : r != c ? 0 : given ? given->numbers[0] : 1);
      shift.push_back(extra ? row[n] : T ? T->numbers[T->numbers.size() == 1 ? 0 : r] : 0);
    }
  }

  Shape shape() const {
    Shape out = in.shape;
    out[in.ndim() - 1] = rows_;
    return out;
  }
  int64_t rows() const { return (points + kPoints - 1) / kPoints; }
  void run(const Sample<CoordTransformArgs>& sample) const {
    const SampleView& out = sample.out[0];
    with_kernel_types(out.dtype, in.dtype, [&](auto to, auto from) {
      using Body = CoordTransform<typename decltype(to)::type, typename decltype(from)::type>;
      each_item<Body>(sample, 0, points,
                      {out.data, in.data, static_cast<int>(out.dtype), static_cast<int>(in.dtype),
                       readable(sample, matrix), readable(sample, shift), rows_, columns},
                      [&] { run_on_host(sample); });
    });
  }
  void run_on_host(const Sample<CoordTransformArgs>& sample) const {
    const SampleView& out = sample.out[0];
    const int64_t begin = sample.begin * kPoints, end = std::min(sample.end * kPoints, points);
    if (in.dtype == DType::float32 && out.dtype == DType::float32)
      return map(out.as<float>() + begin * rows_, in.as<float>() + begin * columns, end - begin);
    const int64_t most = std::min(kPoints, points);  // whose types are converted at a time
    std::vector<float> from(most * columns), to(most * rows_);
    for (int64_t first = begin; first < end; first += kPoints) {
      const int64_t n = std::min(kPoints, end - first);
      rounding_run(DType::float32, in.dtype)(from.data(), in.as<char>() + first * columns * size_of(in.dtype),
                                             n * columns);
      map(to.data(), from.data(), n);
      rounding_run(out.dtype, DType::float32)(out.as<char>() + first * rows_ * size_of(out.dtype), to.data(),
                                              n * rows_);
    }
  }
  void map(float* to, const float* from, int64_t n) const {
    if (map_points(to, from, matrix.data(), shift.data(), rows_, columns, n)) return;
    using Body = CoordTransform<float, float>;
    const Body::Params params{to, from, 0, 0, matrix.data(), shift.data(), rows_, columns};
    for (int64_t i = 0; i < n; i++) Body::run(params, i);
  }
};

}  // namespace

AVIDA_OP(coord_transform, CoordTransformArgs) {
  using Args = CoordTransformArgs;
  op.doc("Applies M * point + T to points, vectors or colours along the last axis.")
      .input("input", "The points, at least as the rows of a matrix.")
      .arg("M", &Args::M, "The matrix: m rows for points of m numbers; or one factor for all.", takes_nan)
      .arg("MT", &Args::MT, "M and T in one, T as the last column.", takes_nan)
      .arg("T", &Args::T, "The numbers added to those of a point, or one number for all.", takes_nan)
      .arg("dtype", &Args::dtype, "The element type of the output; integers are rounded and saturated.")
      .per_frame()
      .example("avida.coord_transform(np.float32([[1, 2], [3, 4]]), MT=avida.transforms.rotation(angle=90))")
      .infer([](Infer<Args>& call) {
        if (call.in[0].ndim < 2) refuse("expected points as the rows of a matrix, got ", call.in[0].ndim, " axes");
        call.out[0].dtype = call.args.dtype;
      })
      .each_sample<AffineMap>();
}

}  // namespace avida::ops
