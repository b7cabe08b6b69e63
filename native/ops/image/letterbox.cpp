#include "ops/image/letterbox.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/clones.h"
#include "loops/items/each_item.h"
#include "loops/moving/convert_run.h"
#include "loops/moving/strided_move.h"
#include "operator/declare.h"
#include "ops/scenes/moves.h"

namespace avida::ops {
namespace {

struct LetterboxArgs {
  bool center = true;
  std::vector<float> fill_value = {114};
  bool save_matrix = false;
  bool scale_up = true;
  std::vector<int64_t> size;
};

std::vector<Neighbours> neighbours(int64_t in, int64_t out, bool keeps_ends, bool bytes) {
  const double step = 1 / (static_cast<double>(out) / static_cast<double>(in));
  std::vector<Neighbours> list(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; i++) {
    const auto place = static_cast<float>((static_cast<double>(i) + 0.5) * step - 0.5);
    auto first = static_cast<int64_t>(std::floor(place));
    float part = place - static_cast<float>(first);
    if (keeps_ends && (first < 0 || first >= in - 1)) part = 0;
    auto at = [&](int64_t k) { return static_cast<int>(std::clamp<int64_t>(k, 0, in - 1)); };
    auto weight = [&](float share) { return bytes ? std::nearbyint(share * 2048) : share; };
    list[i] = {{at(first), at(part == 0 ? first : first + 1)}, {weight(1 - part), weight(part)}};
  }
  return list;
}

template <int channels, class T>
AVIDA_INLINE void mix_pixels(typename Mixing<T>::Sum* __restrict out, const T* __restrict in, const Neighbours* columns,
                             int64_t count, int64_t any) {
  const int64_t n = channels ? channels : any;
  for (int64_t x = 0; x < count; x++) {
    const Neighbours by = columns[x];
    for (int64_t c = 0; c < n; c++) out[x * n + c] = Mixing<T>::along(in[by.at[0] * n + c], in[by.at[1] * n + c], by);
  }
}

template <class T>
void mix_along(typename Mixing<T>::Sum* out, const T* in, const Neighbours* columns, int64_t count, int64_t channels) {
  if (channels == 3) return mix_pixels<3>(out, in, columns, count, 3);
  if (channels == 1) return mix_pixels<1>(out, in, columns, count, 1);
  mix_pixels<0>(out, in, columns, count, channels);
}

template <class T>
AVIDA_INLINE void mix_across_any(T* __restrict out, const typename Mixing<T>::Sum* __restrict upper,
                                 const typename Mixing<T>::Sum* __restrict lower, const Neighbours& by, int64_t n) {
  const Neighbours weights = by;  // which stores of bytes cannot change
  for (int64_t i = 0; i < n; i++) out[i] = Mixing<T>::across(upper[i], lower[i], weights);
}
template <class T>
void mix_across(T* out, const typename Mixing<T>::Sum* upper, const typename Mixing<T>::Sum* lower,
                const Neighbours& by, int64_t n) {
  mix_across_any(out, upper, lower, by, n);
}
template <>
AVIDA_CLONES void mix_across(uint8_t* out, const int* upper, const int* lower, const Neighbours& by, int64_t n) {
  mix_across_any(out, upper, lower, by, n);
}

// The rows [begin, end) of the canvases. Rows of the image that follow each other share what was mixed along them.
template <class T>
void make_rows(const typename Letterbox<T>::Params& params, int64_t begin, int64_t end) {
  using Sum = typename Mixing<T>::Sum;
  const int64_t channels = params.inner_channels, shown = params.column_count * channels,
                in_row = params.in_width * channels;
  std::vector<Sum> mixed[2] = {std::vector<Sum>(shown), std::vector<Sum>(shown)};
  int64_t held[2] = {-1, -1};
  auto mixed_row = [&](int64_t row) {
    const int64_t slot = row % 2;
    if (held[slot] != row)
      mix_along(mixed[slot].data(), params.in + row * in_row, params.columns, params.column_count, channels);
    held[slot] = row;
    return mixed[slot].data();
  };
  for (int64_t row = begin; row < end; row++) {
    const int64_t plane = row / params.height, y = row % params.height - params.top;
    T* out = params.out + row * params.width * channels;
    const T* fills = params.fills + plane % params.outer_channels;
    auto fill = [&](int64_t from, int64_t to) {
      for (int64_t x = from; x < to; x++) std::copy_n(fills, channels, out + x * channels);
    };
    if (y < 0 || y >= params.row_count) {
      fill(0, params.width);
      continue;
    }
    const Neighbours& by = params.rows[y];
    const int64_t first = plane * params.in_height;
    const Sum* upper = mixed_row(first + by.at[0]);
    const Sum* lower = mixed_row(first + by.at[1]);
    fill(0, params.left);
    mix_across(out + params.left * channels, upper, lower, by, shown);
    fill(params.left + params.column_count, params.width);
  }
}

class LetterboxPlan {
 public:
  explicit LetterboxPlan(const Sample<LetterboxArgs>& sample)
      : in_(sample.in[0]), args_(sample.args), w_(in_.layout.find('W')), canvas_(in_.shape) {
    const int64_t height = in_.shape[w_ - 1], width = in_.shape[w_];
    if (height == 0 || width == 0) refuse("expected an image that is not empty, got the shape ", in_.shape);
    canvas_[w_ - 1] = args_.size.front();
    canvas_[w_] = args_.size.back();
    auto share = [](int64_t canvas, int64_t extent) {
      return static_cast<double>(canvas) / static_cast<double>(extent);
    };
    scale_ = std::min(share(canvas_[w_ - 1], height), share(canvas_[w_], width));
    if (!args_.scale_up) scale_ = std::min(scale_, 1.0);
    const bool bytes = in_.dtype == DType::uint8;
    rows_ = neighbours(height, scaled(height), !bytes, bytes);
    columns_ = neighbours(width, scaled(width), true, bytes);
    top_ = args_.center ? (canvas_[w_ - 1] - std::ssize(rows_)) / 2 : 0;
    left_ = args_.center ? (canvas_[w_] - std::ssize(columns_)) / 2 : 0;
    const int64_t channels = in_.layout.find('C') < 0 ? 1 : in_.shape[in_.layout.find('C')];
    (in_.layout.find('C') > w_ ? inner_channels_ : outer_channels_) = channels;
    if (args_.fill_value.size() != 1 && std::ssize(args_.fill_value) != channels)
      refuse("expected one number or ", channels, " in \"fill_value\", got ", args_.fill_value.size());
  }

  void shape(Sample<LetterboxArgs>& sample) const {
    sample.out[0].shape = canvas_;
    if (sample.out.size() > 1) sample.out[1].shape = {2, 3};
  }
  int64_t rows() const { return inner_channels_ == 0 ? 0 : volume(canvas_) / (canvas_[w_] * inner_channels_); }
  Moves moves() const {
    Moves moves;
    const double counts[] = {static_cast<double>(columns_.size()), static_cast<double>(rows_.size())};
    const int64_t starts[] = {left_, top_};
    for (int axis : {0, 1}) {
      moves.scale(axis, counts[axis] / static_cast<double>(in_.shape[w_ - axis]));
      moves.shift(axis, static_cast<double>(starts[axis]));
    }
    return moves;
  }
  void run(const Sample<LetterboxArgs>& sample) const {
    with_dtype(in_.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      if constexpr (!std::is_same_v<T, bool>) make<T>(sample);
    });
    if (!args_.save_matrix || sample.begin > 0) return;
    const auto scale = static_cast<float>(scale_);
    const float matrix[] = {scale, 0, static_cast<float>(left_), 0, scale, static_cast<float>(top_)};
    StridedMove(sizeof(float), {std::ssize(matrix)}, {1}).run(sample, sample.out[1].data, readable(sample, matrix));
  }

 private:
  // As Python's round(): halves to even.
  int64_t scaled(int64_t extent) const {
    return std::max<int64_t>(1, std::llrint(static_cast<double>(extent) * scale_));
  }

  template <class T>
  void make(const Sample<LetterboxArgs>& sample) const {
    std::vector<float> numbers = args_.fill_value;
    numbers.resize(static_cast<size_t>(std::max<int64_t>(1, inner_channels_ * outer_channels_)), numbers.front());
    std::vector<T> fills(numbers.size());
    rounding_run(in_.dtype, DType::float32)(fills.data(), numbers.data(), std::ssize(numbers));
    const typename Letterbox<T>::Params params{.out = sample.out[0].template as<T>(),
                                               .in = in_.as<T>(),
                                               .rows = readable(sample, rows_),
                                               .columns = readable(sample, columns_),
                                               .fills = readable(sample, fills),
                                               .row_count = std::ssize(rows_),
                                               .column_count = std::ssize(columns_),
                                               .height = canvas_[w_ - 1],
                                               .width = canvas_[w_],
                                               .top = top_,
                                               .left = left_,
                                               .in_height = in_.shape[w_ - 1],
                                               .in_width = in_.shape[w_],
                                               .inner_channels = inner_channels_,
                                               .outer_channels = outer_channels_};
    const int64_t length = params.width * inner_channels_;
    each_item<Letterbox<T>>(sample, sample.begin * length, sample.end * length, params,
                            [&] { make_rows<T>(params, sample.begin, sample.end); });
  }

  const SampleView& in_;
  const LetterboxArgs& args_;
  const int w_;  // axis of the columns, which follows that of the rows
  Shape canvas_;
  double scale_ = 1;
  std::vector<Neighbours> rows_, columns_;
  int64_t top_ = 0, left_ = 0, inner_channels_ = 1, outer_channels_ = 1;
};

void infer(Infer<LetterboxArgs>& call) {
  const auto& size = call.args.size;
  if (size.empty() || size.size() > 2) refuse("expected one number or two in \"size\", got ", size.size());
  for (int64_t extent : size)
    if (extent < 1 || extent > INT32_MAX) refuse("expected sizes from 1 to ", INT32_MAX, ", got ", extent);
  check_numbers(call.in[0].dtype);
  if (!call.args.save_matrix) return;
  call.out.resize(2, call.out[0]);
  call.out[1].dtype = DType::float32;
  call.out[1].ndim = 2;
  call.out[1].layout = {};
}

Moves letterbox_moves(const Sample<LetterboxArgs>& sample) { return LetterboxPlan(sample).moves(); }

}  // namespace

AVIDA_OP(letterbox, LetterboxArgs) {
  using Args = LetterboxArgs;
  op.doc(
        "Fits images into a canvas, with their aspect ratio kept. The rest of the canvas is filled. "
        "Sizes, places and (of uint8) pixels equal those of Ultralytics' LetterBox, which resizes with OpenCV's "
        "INTER_LINEAR: without antialiasing.")
      .input("input", "Images or videos.", {"HWC", "CHW", "HW", "FHWC", "FCHW"})
      .arg(
          "center", &Args::center,
          "Whether the image is in the middle of the canvas, half a pixel up and left where the rest is odd; otherwise "
          "it is in the upper left corner.",
          fixed)
      .arg("fill_value", &Args::fill_value, "The colour of the rest: one number, or one for each channel.", fixed)
      .arg("save_matrix", &Args::save_matrix,
           "Whether to return the matrices too that coord_transform() moves points of the image with.",
           fixed | adds_output)
      .arg("scale_up", &Args::scale_up, "Whether small images are enlarged.", fixed)
      .arg("size", &Args::size, "The height and width of the canvas, or one number for both.", fixed | required)
      .example("avida.letterbox(image, size=[64, 64])")
      .outputs_from([](const Args& args) { return args.save_matrix ? 2 : 1; })
      .infer(infer)
      .each_sample<LetterboxPlan>()
      .cost(4)
      .chains();
}

AVIDA_MOVES(letterbox, LetterboxArgs, letterbox_moves)

}  // namespace avida::ops
