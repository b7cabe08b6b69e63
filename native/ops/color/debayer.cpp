#include "ops/color/debayer.h"

#include <cctype>

#include "core/clones.h"
#include "op/interleave.h"
#include "op/launches.h"
#include "op/op.h"
#include "ops/color/vng_rows.h"
#include "ops/color/vng_tile.h"

namespace avida::ops {
namespace {

struct DebayerArgs {
  std::optional<std::string> algorithm;
  Vec<int> blue_position;
};

Demosaic parse_algorithm(const DebayerArgs& args) {
  std::string name = args.algorithm.value_or("bilinear_ocv");
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (name == "bilinear_ocv") return Demosaic::bilinear;
  if (name == "edgeaware_ocv") return Demosaic::edge_aware;
  if (name == "gray_ocv") return Demosaic::gray;
  if (name == "vng_ocv") return Demosaic::vng;
  fail(ErrorKind::runtime,
       "expected \"bilinear_ocv\", \"edgeaware_ocv\", \"vng_ocv\" or \"gray_ocv\" as algorithm, got \"", name, '"');
}

// The axis of rows: only frames may come before it. Columns follow.
int row_axis(const SampleView& in) { return in.layout.find('F') + 1; }

// The position of blue is counted from the second row and column.
BayerPattern pattern_of(const DebayerArgs& args) {
  return {(1 + args.blue_position[0]) % 2, (1 + args.blue_position[1]) % 2};
}

// Three rows of a sensor, and what is known of the middle one.
template <class T>
struct SensorRows {
  const T *upper, *row, *lower;
  int width;
  bool blue;     // beside green it has blue, else red
  int green_at;  // the parity of the columns that are green
};

// Colours are made plane by plane, and interleaved while they are in cache: so both loops vectorise well.
constexpr int kBlock = 256;

template <bool edge_aware, int own, class T>
AVIDA_INLINE void make_colors(T* __restrict out, const SensorRows<T>& rows) {
  const T *upper = rows.upper, *row = rows.row, *lower = rows.lower;
  const int green_at = rows.green_at, last = rows.width - 1;
  T planes[3][kBlock];
  for (int first = 1; first < last; first += kBlock) {
    int n = std::min(kBlock, last - first);
    const T first_is_green = static_cast<T>((first ^ green_at) & 1 ? 0 : ~0);
    for (int i = 0; i < n; i++) {
      int x = first + i;
      T is_green = static_cast<T>(i % 2 ? ~first_is_green : first_is_green);
      Colors<T> made = demosaic<edge_aware>(Neighbourhood<T>(upper, row, lower, x), is_green);
      planes[own][i] = made.own;
      planes[1][i] = made.green;
      planes[2 - own][i] = made.other;
    }
    interleave(out + 3 * first, planes[0], planes[1], planes[2], n);
  }
}
template <class T>
AVIDA_INLINE void make_row(T* __restrict out, const SensorRows<T>& rows, Demosaic algorithm) {
  if (algorithm == Demosaic::gray) {
    const GrayWeights weights(rows.blue);
    const T *upper = rows.upper, *row = rows.row, *lower = rows.lower;
    const int green_at = rows.green_at, last = rows.width - 1;
    for (int x = 1; x < last; x++) {
      Neighbourhood<T> at(upper, row, lower, x);
      out[x] = static_cast<T>(demosaic_gray(at, ((x ^ green_at) & 1) == 0, weights.own, weights.other));
    }
  } else if (algorithm == Demosaic::edge_aware) {
    rows.blue ? make_colors<true, 2>(out, rows) : make_colors<true, 0>(out, rows);
  } else {
    rows.blue ? make_colors<false, 2>(out, rows) : make_colors<false, 0>(out, rows);
  }
}
AVIDA_CLONES void debayer_row(uint8_t* out, const SensorRows<uint8_t>& rows, Demosaic algorithm) {
  make_row(out, rows, algorithm);
}
AVIDA_CLONES void debayer_row(uint16_t* out, const SensorRows<uint16_t>& rows, Demosaic algorithm) {
  make_row(out, rows, algorithm);
}

// The outermost rows and columns are those beside them; where there are none, nothing is known, and all is 0.
template <class T>
void debayer_rows(const Sample<DebayerArgs>& sample) {
  const SampleView &in = sample.in[0], &out = sample.out[0];
  const int64_t height = in.shape[row_axis(in)], width = in.shape[row_axis(in) + 1];
  const int64_t channels = out.shape[out.ndim() - 1];
  const Demosaic algorithm = parse_algorithm(sample.args);
  const BayerPattern pattern = pattern_of(sample.args);
  for (int64_t i = sample.begin; i < sample.end; i++) {
    T* to = out.as<T>() + i * width * channels;
    if (height <= 2 || width <= 2) {
      std::fill_n(to, width * channels, T(0));
      continue;
    }
    int64_t y = std::clamp<int64_t>(i % height, 1, height - 2);
    const T* row = in.as<T>() + (i - i % height + y) * width;
    debayer_row(to,
                {row - width, row, row + width, static_cast<int>(width), pattern.has_blue(y), pattern.green_column(y)},
                algorithm);
    std::copy_n(to + channels, channels, to);
    std::copy_n(to + (width - 2) * channels, channels, to + (width - 1) * channels);
  }
}

void debayer_rows_by_vng(const Sample<DebayerArgs>& sample) {
  const SampleView &in = sample.in[0], &out = sample.out[0];
  const int64_t height = in.shape[row_axis(in)], width = in.shape[row_axis(in) + 1];
  const BayerPattern pattern = pattern_of(sample.args);
  std::optional<VngRows> rows;
  for (int64_t i = sample.begin; i < sample.end; i++) {
    int64_t y = i % height;
    if (!rows || y == 0)
      rows.emplace(in.as<uint8_t>() + (i - y) * width, height, width, pattern.blue_row, pattern.blue_column);
    rows->make(out.as<uint8_t>() + i * width * 3, y);
  }
}

// Images that are small for its gradients are made as by default.
bool runs_vng(const Sample<DebayerArgs>& sample) {
  constexpr int64_t least = 8;
  const SampleView& in = sample.in[0];
  return parse_algorithm(sample.args) == Demosaic::vng && in.shape[row_axis(in)] >= least &&
         in.shape[row_axis(in) + 1] >= least;
}

template <class T>
void launch(const Sample<DebayerArgs>& sample) {
  const SampleView &in = sample.in[0], &out = sample.out[0];
  if (in.elements() == 0) return;
  const int64_t height = in.shape[row_axis(in)], width = in.shape[row_axis(in) + 1];
  const int64_t frames = in.elements() / height / width;
  const BayerPattern pattern = pattern_of(sample.args);
  if (runs_vng(sample)) {
    const VngTile::Params params{out.as<uint8_t>(), in.as<uint8_t>(), frames, height, width, pattern};
    const auto [all, down, across] = params.tiles().at;
    sample.launches->add<VngTile>(0, all * down * across, params);
    return;
  }
  using Body = Debayer<T>;
  const int64_t pixels = height * width, channels = out.shape[out.ndim() - 1];
  for (int64_t frame = 0; frame < frames; frame++) {
    const typename Body::Params params{out.as<T>() + frame * pixels * channels,
                                       in.as<T>() + frame * pixels,
                                       height,
                                       static_cast<int>(width),
                                       pattern,
                                       parse_algorithm(sample.args)};
    sample.launches->add<Body>(0, (params.quads() + Body::kThreads - 1) / Body::kThreads, params);
  }
}

void debayer_sample(const Sample<DebayerArgs>& sample) {
  if (sample.launches)
    return sample.in[0].dtype == DType::uint8 ? launch<unsigned char>(sample) : launch<unsigned short>(sample);
  if (runs_vng(sample)) return debayer_rows_by_vng(sample);
  sample.in[0].dtype == DType::uint8 ? debayer_rows<uint8_t>(sample) : debayer_rows<uint16_t>(sample);
}

void set_shape(Sample<DebayerArgs>& sample) {
  const SampleView& in = sample.in[0];
  const Vec<int>& blue = sample.args.blue_position;
  if (blue.size() != 2) fail(ErrorKind::runtime, "expected 2 numbers in \"blue_position\", got ", blue.size());
  for (int at : blue)
    if (at != 0 && at != 1) fail(ErrorKind::runtime, "expected 0 or 1 in \"blue_position\", got ", at);
  int h = row_axis(in), c = in.layout.find('C');
  if (c >= 0 && in.shape[c] != 1) fail(ErrorKind::runtime, "expected one channel, got ", in.shape[c]);
  if (in.shape[h + 1] >= int64_t{1} << 31)
    fail(ErrorKind::runtime, "expected a width below 2**31, got ", in.shape[h + 1]);
  if (in.shape[h] % 2 || in.shape[h + 1] % 2)
    fail(ErrorKind::runtime, "expected an even height and width, got ", in.shape[h], " x ", in.shape[h + 1]);
  Shape shape = in.shape;
  if (c < 0) shape.push_back(1);
  shape[shape.size() - 1] = parse_algorithm(sample.args) == Demosaic::gray ? 1 : 3;
  sample.out[0].shape = shape;
}

}  // namespace

AVIDA_OP(debayer, DebayerArgs) {
  using Args = DebayerArgs;
  op.doc("Makes colour images of what a sensor with a Bayer filter sees: one colour in each pixel.")
      .input("input", "Images or videos of one channel, uint8 or uint16, of even height and width.",
             {"HW", "HWC", "FHW", "FHWC"})
      .arg(
          "algorithm", &Args::algorithm,
          "\"bilinear_ocv\" (the default) takes the mean of the neighbours, \"edgeaware_ocv\" takes green along edges, "
          "\"vng_ocv\" (uint8 only) looks where least changes among eight directions, \"gray_ocv\" gives one channel "
          "of gray.")
      .arg(
          "blue_position", &Args::blue_position,
          "Row and column of blue, 0 or 1 each, in the square of four pixels that begins in the second row and column.",
          required)
      .example("avida.debayer(np.zeros((4, 6), np.uint8), blue_position=[0, 0])")
      .infer([](Infer<Args>& call) {
        DType dtype = call.in[0].dtype;
        if (dtype != DType::uint8 && dtype != DType::uint16)
          fail(ErrorKind::runtime, "expected uint8 or uint16, got ", dtype);
        if (parse_algorithm(call.args) == Demosaic::vng && dtype != DType::uint8)
          fail(ErrorKind::runtime, "expected uint8 for \"vng_ocv\", got ", dtype);
        Layout& layout = call.out[0].layout;
        if (layout.find('C') < 0) layout.push_back('C');
        call.out[0].ndim = layout.size();
      })
      .each_sample(set_shape, debayer_sample)
      .rows([](const Sample<Args>& sample) {
        int64_t width = sample.in[0].shape[row_axis(sample.in[0]) + 1];
        return width == 0 ? 0 : sample.in[0].elements() / width;
      })
      .cost(2)
      .on_gpu();
}

}  // namespace avida::ops
