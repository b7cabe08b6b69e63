// transforms.*: matrices [M T] of affine maps, and what comes of them one after the other.
#include <algorithm>

#include "operator/declare.h"
#include "ops/geometry/affine.h"

namespace avida::ops {
namespace {

constexpr int kMostDims = 6;

// n rows of n + 1 numbers.
struct Transform {
  explicit Transform(int n) : n(n) {
    if (n < 1 || n > kMostDims) refuse("expected a transform of 1 to ", kMostDims, " dimensions, got ", n);
    for (int d = 0; d < n; d++) m[d][d] = 1;
  }

  int n;
  float m[kMostDims][kMostDims + 1] = {};

  // Makes a point stay where it is.
  void fix(const float* center) {
    for (int r = 0; r < n; r++) {
      float moved = 0;
      for (int c = 0; c < n; c++) moved += m[r][c] * center[c];
      m[r][n] = center[r] - moved;
    }
  }
};

// out = last(first(x)), for matrices that lie in memory row by row.
void chain(int n, const float* last, const float* first, float* out) {
  for (int r = 0; r < n; r++)
    for (int c = 0; c <= n; c++) {
      float sum = c == n ? last[r * (n + 1) + n] : 0;
      for (int k = 0; k < n; k++) sum += last[r * (n + 1) + k] * first[k * (n + 1) + c];
      out[r * (n + 1) + c] = sum;
    }
}

// Number d of a list that has n numbers, or one for all.
float number_at(const char* name, const Vec<float>& list, int d, int n) {
  if (list.size() != n && list.size() != 1)
    refuse("expected one or ", n, " numbers in \"", name, "\", got ", list.size());
  return list[list.size() == 1 ? 0 : d];
}

void fix_center(Transform& transform, const std::optional<Vec<float>>& center) {
  if (!center) return;
  float point[kMostDims];
  for (int d = 0; d < transform.n; d++) point[d] = number_at("center", *center, d, transform.n);
  transform.fix(point);
}

// The dimensions of the transforms in a sample, which may have one for each frame.
int dims_of(const SampleView& in) {
  int64_t rows = in.shape[in.ndim() - 2];
  if (in.shape[in.ndim() - 1] != rows + 1 || rows < 1 || rows > kMostDims)
    refuse("expected a matrix of n by n + 1 numbers, n from 1 to ", kMostDims, ", got the shape ", in.shape);
  return static_cast<int>(rows);
}

void check_input(const Meta& in) {
  if (in.dtype != DType::float32) refuse("expected matrices of float32, got ", in.dtype);
  if (in.ndim != 2 && in.ndim != 3) refuse("expected a matrix, got ", in.ndim, " axes");
}

struct TransformArgs {
  bool reverse_order = false;
};

// make(args, dims) is the operator's own transform; dims is the input's, or 0.
template <auto make, class Args>
class TransformPlan {
 public:
  explicit TransformPlan(const Sample<Args>& sample)
      : in_(sample.in[0]), given_(in_.data ? dims_of(in_) : 0), own_(make(sample.args, given_)) {
    if (in_.data && own_.n != given_)
      refuse("expected a transform of ", own_.n, " dimensions to go on from, got ", given_);
  }

  Shape shape() const { return in_.data ? in_.shape : Shape{own_.n, own_.n + 1}; }
  void run(const Sample<Args>& sample) const {
    const int n = own_.n, size = n * (n + 1);
    float own[kMostDims * (kMostDims + 1)];
    float* out = sample.out[0].template as<float>();
    for (int i = 0; i < size; i++) own[i] = own_.m[i / (n + 1)][i % (n + 1)];
    if (!in_.data) std::copy_n(own, size, out);
    for (int64_t i = 0; in_.data && i < in_.elements(); i += size)
      if (sample.args.reverse_order)
        chain(n, in_.as<const float>() + i, own, out + i);
      else
        chain(n, own, in_.as<const float>() + i, out + i);
  }

 private:
  const SampleView& in_;
  const int given_;
  const Transform own_;
};

template <auto make, class Args>
Op<Args>& transforms(Op<Args>& op) {
  return op.optional_input("input", "A transform to go on from.")
      .per_frame()
      .arg("reverse_order", &Args::reverse_order, "Apply this transform before the input's, not after it.", fixed)
      .infer([](Infer<Args>& call) {
        if (call.in[0].dtype != DType::none) check_input(call.in[0]);
        Meta& out = call.out[0];
        out.dtype = DType::float32;
        out.ndim = call.in[0].dtype == DType::none ? 2 : call.in[0].ndim;
        out.layout = out.ndim == 2 ? "**" : "F**";
      })
      .on_cpu()
      .template each_sample<TransformPlan<make, Args>>();
}

struct TranslationArgs : TransformArgs {
  Vec<float> offset;
};
Transform translation(const TranslationArgs& args, int) {
  Transform transform(args.offset.size());
  for (int d = 0; d < transform.n; d++) transform.m[d][transform.n] = args.offset[d];
  return transform;
}

struct ScaleArgs : TransformArgs {
  Vec<float> scale;
  std::optional<Vec<float>> center;
  std::optional<int> ndim;
};
Transform scaling(const ScaleArgs& args, int given) {
  int n = args.scale.size();
  if (n == 1) n = given ? given : args.ndim.value_or(1);
  Transform transform(n);
  for (int d = 0; d < n; d++) transform.m[d][d] = number_at("scale", args.scale, d, n);
  fix_center(transform, args.center);
  return transform;
}

struct RotationArgs : TransformArgs {
  float angle = 0;
  std::optional<Vec<float>> axis, center;
};
Transform turning(const RotationArgs& args, int) {
  Transform transform(args.axis ? 3 : 2);
  double m[3][3];
  args.axis ? rotation(args.angle, *args.axis, m) : rotation(args.angle, m);
  for (int r = 0; r < transform.n; r++)
    for (int c = 0; c < transform.n; c++) transform.m[r][c] = static_cast<float>(m[r][c]);
  fix_center(transform, args.center);
  return transform;
}

struct ShearArgs : TransformArgs {
  std::optional<Matrix> angles, shear;
  std::optional<Vec<float>> center;
};
Transform shearing(const ShearArgs& args, int) {
  if (args.angles.has_value() == args.shear.has_value())
    refuse("expected \"shear\" or \"angles\", got ", args.shear ? "both" : "neither");
  const std::vector<float>& factors = (args.shear ? args.shear : args.angles)->numbers;
  int n = 2;
  while (n < kMostDims && n * (n - 1) < std::ssize(factors)) n++;
  if (std::ssize(factors) != n * (n - 1))
    refuse("expected n * (n - 1) numbers for n dimensions: 2 or 6, got ", factors.size());
  Transform transform(n);
  int next = 0;
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) {
      if (r == c) continue;
      float factor = factors[next++];
      if (args.angles && !(factor >= -90 && factor <= 90)) refuse("expected angles from -90 to 90, got ", factor);
      transform.m[r][c] = args.angles ? std::tan(static_cast<float>(factor * (M_PI / 180))) : factor;
    }
  fix_center(transform, args.center);
  return transform;
}

struct CropTransformArgs : TransformArgs {
  CropTransformArgs() {
    from_start.push_back(0), to_start.push_back(0);
    from_end.push_back(1), to_end.push_back(1);
  }
  bool absolute = false;
  Vec<float> from_end, from_start, to_end, to_start;
};
Transform cropping(const CropTransformArgs& args, int) {
  int n = std::max({args.from_start.size(), args.from_end.size(), args.to_start.size(), args.to_end.size()});
  Transform transform(n);
  for (int d = 0; d < n; d++) {
    float from = number_at("from_start", args.from_start, d, n), from_end = number_at("from_end", args.from_end, d, n);
    float to = number_at("to_start", args.to_start, d, n), to_end = number_at("to_end", args.to_end, d, n);
    if (args.absolute && from > from_end) std::swap(from, from_end);
    if (args.absolute && to > to_end) std::swap(to, to_end);
    float factor = (to_end - to) / (from_end - from);
    transform.m[d][d] = factor;
    transform.m[d][n] = to - factor * from;
  }
  return transform;
}

class CombinePlan {
 public:
  explicit CombinePlan(const Sample<TransformArgs>& sample) : n_(dims_of(sample.in[0])) {
    for (const SampleView& in : sample.in)
      if (in.shape != sample.in[0].shape)
        refuse("expected transforms of one shape, got ", sample.in[0].shape, " and ", in.shape);
  }

  void run(const Sample<TransformArgs>& sample) const;

 private:
  const int n_;
};

void CombinePlan::run(const Sample<TransformArgs>& sample) const {
  const int n = n_, size = n * (n + 1);
  float *out = sample.out[0].as<float>(), before[kMostDims * (kMostDims + 1)];
  for (int64_t i = 0; i < sample.in[0].elements(); i += size) {
    std::copy_n(sample.in[0].as<const float>() + i, size, out + i);
    for (const SampleView& in : sample.in.subspan(1)) {
      std::copy_n(out + i, size, before);
      if (sample.args.reverse_order)
        chain(n, before, in.as<const float>() + i, out + i);
      else
        chain(n, in.as<const float>() + i, before, out + i);
    }
  }
}

constexpr const char* kCenterText = "The fixed point; by default the origin.";

}  // namespace

AVIDA_OP_IN(transforms, translation, TranslationArgs) {
  transforms<translation>(op)
      .doc("Makes the matrix of a translation.")
      .arg("offset", &TranslationArgs::offset, "The offset of each coordinate.", required)
      .example("avida.transforms.translation(offset=[10, 20])");
}

AVIDA_OP_IN(transforms, scale, ScaleArgs) {
  transforms<scaling>(op)
      .doc("Makes the matrix that scales along the axes.")
      .arg("center", &ScaleArgs::center, kCenterText)
      .arg("ndim", &ScaleArgs::ndim, "The count of dimensions, where one number is given for all.", fixed)
      .arg("scale", &ScaleArgs::scale, "The factor of each coordinate.", required)
      .example("avida.transforms.scale(scale=[2, 3], center=[50, 50])");
}

AVIDA_OP_IN(transforms, rotation, RotationArgs) {
  transforms<turning>(op)
      .doc("Makes the matrix of a rotation.")
      .arg("angle", &RotationArgs::angle, "The angle in degrees.", required)
      .arg("axis", &RotationArgs::axis, "The axis (x, y, z) of a rotation in space, of any length.")
      .arg("center", &RotationArgs::center, kCenterText)
      .example("avida.transforms.rotation(angle=30, center=[50, 50])");
}

AVIDA_OP_IN(transforms, shear, ShearArgs) {
  transforms<shearing>(op)
      .doc("Makes the matrix that shifts each coordinate in proportion to the others.")
      .arg("angles", &ShearArgs::angles, "The angles in degrees whose tangents are the factors, instead of shear.")
      .arg("center", &ShearArgs::center, kCenterText)
      .arg("shear", &ShearArgs::shear, "The factors: xy, yx in the plane; xy, xz, yx, yz, zx, zy in space.")
      .example("avida.transforms.shear(shear=[0.5, 0])");
}

AVIDA_OP_IN(transforms, crop, CropTransformArgs) {
  using Args = CropTransformArgs;
  transforms<cropping>(op)
      .doc("Makes the matrix that maps one box to another. It maps from_start to to_start, and from_end to to_end.")
      .arg("absolute", &Args::absolute, "Exchange starts and ends that are in the wrong order.", fixed)
      .arg("from_end", &Args::from_end, "Where the first box ends.")
      .arg("from_start", &Args::from_start, "Where the first box begins.")
      .arg("to_end", &Args::to_end, "Where the second box ends.")
      .arg("to_start", &Args::to_start, "Where the second box begins.")
      .example("avida.transforms.crop(from_end=[640, 480], to_end=[1, 1])");
}

AVIDA_OP_IN(transforms, combine, TransformArgs) {
  op.doc("Makes the matrix of several transforms, applied one after the other.")
      .input("input_0", "The transform that is applied first.")
      .input("input_1", "The one that follows.")
      .more_inputs("inputs", "Those after it.")
      .per_frame()
      .arg("reverse_order", &TransformArgs::reverse_order, "Apply the last transform first.", fixed)
      .example("avida.transforms.combine(np.float32([[2, 0, 0], [0, 2, 0]]), np.float32([[1, 0, 5], [0, 1, 0]]))")
      .infer([](Infer<TransformArgs>& call) {
        for (const Meta& in : call.in) check_input(in);
        call.out[0].layout = call.out[0].ndim == 2 ? "**" : "F**";
      })
      .on_cpu()
      .each_sample<CombinePlan>();
}

}  // namespace avida::ops
