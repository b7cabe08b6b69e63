#include "ops/image/crop_mirror_normalize.h"

#include <bit>
#include <cstring>

#include "codecs/codec.h"
#include "core/clones.h"
#include "loops/items/each_item.h"
#include "loops/items/kernel_types.h"
#include "loops/moving/convert_run.h"
#include "loops/moving/window_args.h"
#include "ops/image/crop.h"
#include "ops/scenes/moves.h"

namespace avida::ops {
namespace {

enum class BeyondSample { error, pad, trim };
AVIDA_CHOICES_WITH(BeyondSample, kAnyCase, "error", "pad", "trim_to_shape", {"constant", BeyondSample::pad})

struct CropMirrorNormalizeArgs : WindowTypeArgs, CropPlace {
  CropMirrorNormalizeArgs() { dtype = DType::float32; }
  std::vector<float> mean = {0}, std = {1};
  int mirror = 0;
  BeyondSample out_of_bounds_policy = BeyondSample::error;
  Layout output_layout = "CHW";
  bool pad_output = false;
  float scale = 1, shift = 0;
};

OutOfBounds beyond(const CropMirrorNormalizeArgs& args) {
  switch (args.out_of_bounds_policy) {
    case BeyondSample::error:
      return OutOfBounds::error;
    case BeyondSample::pad:
      return OutOfBounds::constant;
    default:
      return OutOfBounds::trim;
  }
}

template <class T>
AVIDA_INLINE void normalize(float* __restrict out, const T* __restrict in, int64_t n, Normalization by, bool mirrored) {
  auto normalized = [by](T x) { return by(static_cast<float>(x)); };
  if (mirrored)
    for (int64_t i = 0; i < n; i++) out[i] = normalized(in[n - 1 - i]);
  else
    for (int64_t i = 0; i < n; i++) out[i] = normalized(in[i]);
}
AVIDA_CLONES void normalize_line(float* out, const uint8_t* in, int64_t n, Normalization by, bool mirrored) {
  normalize(out, in, n, by, mirrored);
}
AVIDA_CLONES void normalize_line(float* out, const float* in, int64_t n, Normalization by, bool mirrored) {
  normalize(out, in, n, by, mirrored);
}

// Pixels of three channels that stay side by side.
AVIDA_CLONES void normalize_triples(float* __restrict out, const uint8_t* __restrict in, int64_t n,
                                    const Normalization* by) {
  constexpr int kStep = 48;  // elements: whole pixels and whole vectors
  float mean[kStep], factor[kStep], shift[kStep];
  for (int k = 0; k < kStep; k++) mean[k] = by[k % 3].mean, factor[k] = by[k % 3].factor, shift[k] = by[k % 3].shift;
  int64_t i = 0;
  for (; i + kStep <= 3 * n; i += kStep)
    for (int k = 0; k < kStep; k++) out[i + k] = (static_cast<float>(in[i + k]) - mean[k]) * factor[k] + shift[k];
  for (; i < 3 * n; i++) out[i] = by[i % 3](in[i]);
}

// One plane of n pixels for each channel, from pixels that lie side by side.
template <int channels, class T>
AVIDA_INLINE void split(T* __restrict planes, const T* __restrict pixels, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < channels; c++) planes[c * n + i] = pixels[i * channels + c];
}
template <class T>
AVIDA_INLINE void split_any(T* __restrict planes, const T* __restrict pixels, int64_t n, int64_t channels) {
  if (channels == 3) return split<3>(planes, pixels, n);
  if (channels == 4) return split<4>(planes, pixels, n);
  for (int64_t c = 0; c < channels; c++)
    for (int64_t i = 0; i < n; i++) planes[c * n + i] = pixels[i * channels + c];
}
AVIDA_CLONES void split_channels(uint8_t* planes, const uint8_t* pixels, int64_t n, int64_t channels) {
  split_any(planes, pixels, n, channels);
}
AVIDA_CLONES void split_channels(float* planes, const float* pixels, int64_t n, int64_t channels) {
  split_any(planes, pixels, n, channels);
}

float at_channel(const std::vector<float>& numbers, int64_t channel) {
  return numbers.size() == 1 ? numbers[0] : numbers[channel];
}

class NormalizePlan {
 public:
  explicit NormalizePlan(const Sample<CropMirrorNormalizeArgs>& sample)
      : args_(sample.args),
        in_(sample.in[0]),
        out_(sample.out[0]),
        w_(in_.layout.find('W')),
        c_(in_.layout.find('C')),
        channels_(in_.shape[c_]),
        out_channels_(args_.pad_output ? std::bit_ceil(static_cast<uint64_t>(channels_)) : channels_),
        window_(crop_window(args_, in_.shape, in_.layout)) {
    pads_ = args_.out_of_bounds_policy == BeyondSample::pad;
    place_window(window_, in_.shape, beyond(args_));
    auto check = [&](const char* name, const std::vector<float>& numbers) {
      if (numbers.size() != 1 && std::ssize(numbers) != channels_)
        refuse("expected one or ", channels_, " numbers in \"", name, "\", got ", numbers.size());
    };
    check("mean", args_.mean);
    check("std", args_.std);
    if (pads_ && std::ssize(args_.fill_values) != out_channels_) check("fill_values", args_.fill_values);
    for (int d = 0; d < in_.ndim(); d++)
      if (d != w_ && d != c_) outer_.push_back(d);
    find_strides();
    const int64_t start = window_.start[w_];
    width_ = window_.size[w_];
    begin_ = std::clamp<int64_t>(-start, 0, width_);
    pixels_ = std::clamp<int64_t>(in_.shape[w_] - start, begin_, width_) - begin_;
  }

  Shape shape() const {
    Shape shape = window_.size;
    for (int d = 0; d < in_.ndim(); d++) {
      int from = in_.layout.find(args_.output_layout[d]);
      shape[d] = from == c_ ? out_channels_ : window_.size[from];
    }
    return shape;
  }

  int64_t rows() const {
    int64_t rows = 1;
    for (int d : outer_) rows *= window_.size[d];
    return rows;
  }

  Part reads() const { return shown_part(window_, in_); }

  void run(const Sample<CropMirrorNormalizeArgs>& sample) const {
    if (sample.launches) return launch(*sample.launches);
    if (width_ == 0) return;
    Buffers buffers(*this);
    for (int64_t row = sample.begin; row < sample.end; row++) make_row(row, buffers);
  }

 private:
  // What the rows of one part pass through.
  struct Buffers {
    explicit Buffers(const NormalizePlan& plan)
        : row(plan.channels_ * plan.pixels_),
          planes(plan.channels_ * plan.pixels_),
          line(plan.width_),
          stored(plan.width_ * size_of(plan.out_.dtype)) {}
    std::vector<float> row, planes, line;
    std::vector<char> stored;
  };

  void launch(Launches& launches) const {
    if (in_.dtype == DType::uint8 && out_.dtype == DType::float32 && launch_pixels<float, uint8_t>(launches)) return;
    if (in_.dtype == DType::uint8 && out_.dtype == DType::float16 && launch_pixels<float16, uint8_t>(launches)) return;
    if (in_.dtype == DType::float32 && out_.dtype == DType::float32 && launch_pixels<float, float>(launches)) return;
    std::vector<Normalization> by;
    for (int64_t c = 0; c < channels_; c++) by.push_back(normalization(c));
    std::vector<float> fill;
    for (int64_t c = 0; c < out_channels_; c++) fill.push_back(fill_value(c));
    with_kernel_types(out_.dtype, in_.dtype, [&](auto to, auto from) {
      using Item = CropMirrorNormalize<typename decltype(to)::type, typename decltype(from)::type>;
      typename Item::Params params{.out = out_.data,
                                   .in = in_.data,
                                   .to = static_cast<int>(out_.dtype),
                                   .from = static_cast<int>(in_.dtype),
                                   .mirror = args_.mirror != 0,
                                   .channels = static_cast<int>(channels_),
                                   .out_channels = static_cast<int>(out_channels_),
                                   .channel_step = in_strides_[c_],
                                   .out_channel_step = out_strides_[c_],
                                   .by = readable(&launches, by.data(), channels_),
                                   .fill = readable(&launches, fill.data(), out_channels_)};
      int64_t pixels = 1;
      for (char name : args_.output_layout.view()) {
        const int d = in_.layout.find(name);
        if (d == c_) continue;
        if (d == w_) params.width_axis = params.axes;
        params.size[params.axes] = window_.size[d];
        params.out_step[params.axes] = out_strides_[d];
        params.start[params.axes] = window_.start[d];
        params.in_extent[params.axes] = in_.shape[d];
        params.in_step[params.axes++] = in_strides_[d];
        pixels *= window_.size[d];
      }
      launches.add<Item>(0, pixels, params);
    });
  }

  // False if the general body must do it.
  template <class To, class From>
  bool launch_pixels(Launches& launches) const {
    if (channels_ == 3 && out_channels_ == 3) return launch_pixels<NormalizedPixels<To, From, 3, 3>>(launches);
    if (channels_ == 3 && out_channels_ == 4) return launch_pixels<NormalizedPixels<To, From, 3, 4>>(launches);
    if (channels_ == 1 && out_channels_ == 1) return launch_pixels<NormalizedPixels<To, From, 1, 1>>(launches);
    return false;
  }
  template <class Item>
  bool launch_pixels(Launches& launches) const {
    const int c = args_.output_layout.find('C'), w = args_.output_layout.find('W'), last = in_.ndim() - 1;
    const bool interleaved = c == last && w == last - 1, planar = w == last;
    if (c_ != last || w_ != last - 1 || !(interleaved || planar)) return false;
    for (const Shape& extents : {in_.shape, window_.size, window_.start})
      for (int64_t extent : extents)
        if (std::abs(extent) >> 30) return false;
    const int64_t width = window_.size[w_], pieces = pieces_of(width, Item::kPiece);
    typename Item::Params params{.out = static_cast<decltype(Item::Params::out)>(out_.data),
                                 .in = static_cast<decltype(Item::Params::in)>(in_.data),
                                 .pieces = static_cast<unsigned>(pieces),
                                 .mirror = args_.mirror != 0,
                                 .width = static_cast<int>(width),
                                 .start = static_cast<int>(window_.start[w_]),
                                 .in_width = static_cast<int>(in_.shape[w_]),
                                 .plane = planar ? out_strides_[c_] : 0,
                                 .size = {1, 1, 1},
                                 .first = {},
                                 .in_extent = {1, 1, 1}};
    int64_t items = pieces;
    for (int k = Item::kRowAxes - 1, d = last; d >= 0; d--) {  // in the order of the output
      const int from = in_.layout.find(args_.output_layout[d]);
      if (from == c_ || from == w_) continue;
      items *= window_.size[from];
      params.size[k] = static_cast<int>(window_.size[from]);
      params.first[k] = static_cast<int>(window_.start[from]);
      params.in_extent[k] = static_cast<int>(in_.shape[from]);
      params.out_step[k] = out_strides_[from];
      params.in_step[k--] = in_strides_[from];
    }
    if (items >> 31) return false;
    for (int k = 0; k < static_cast<int>(std::size(params.by)); k++) params.by[k] = normalization(k);
    for (int k = 0; k < static_cast<int>(std::size(params.fill)); k++) params.fill[k] = fill_value(k);
    launches.add<Item>(0, items, params);
    return true;
  }

  void find_strides() {
    checked_volume(shape());
    in_strides_ = dense_strides(in_.shape);
    Shape strides = dense_strides(shape());
    out_strides_.resize(in_.ndim(), 0);
    for (int d = 0; d < in_.ndim(); d++) out_strides_[d] = strides[args_.output_layout.find(in_.layout[d])];
  }

  // Channel c of a row of pixels begins at first + c * stride.
  template <class T>
  struct Planes {
    const T* first;
    int64_t stride;
  };

  // A row of pixels along W is split into its channels, normalised, and stored where the output wants it.
  void make_row(int64_t row, Buffers& buffers) const {
    int64_t from = (window_.start[w_] + begin_) * in_strides_[w_], to = 0;
    bool inside = pixels_ > 0;
    for (int k = outer_.size() - 1; k >= 0; k--) {
      int d = outer_[k];
      int64_t at = row % window_.size[d], source = window_.start[d] + at;
      row /= window_.size[d];
      inside &= source >= 0 && source < in_.shape[d];
      from += source * in_strides_[d];
      to += at * out_strides_[d];
    }
    const char* pixels = in_.as<char>() + from * size_of(in_.dtype);
    int64_t shown = inside ? channels_ : 0;
    if (shown && stays_interleaved()) {
      const Normalization by[] = {normalization(0), normalization(1), normalization(2)};
      return normalize_triples(out_.as<float>() + to, reinterpret_cast<const uint8_t*>(pixels), width_, by);
    }
    if (shown && in_.dtype == DType::uint8)
      make_lines(planes<uint8_t>(pixels, buffers), to, buffers);
    else if (shown)
      make_lines(planes<float>(pixels, buffers), to, buffers);
    for (int64_t c = shown; c < out_channels_; c++) {
      float* line = begin_line(c, to, buffers);
      std::fill(line, line + width_, fill_value(c));
      store_line(line, c, to, buffers);
    }
  }

  // Bytes whose rows become rows of as many floats in the same order.
  bool stays_interleaved() const {
    return channels_ == 3 && out_channels_ == 3 && in_.dtype == DType::uint8 && out_.dtype == DType::float32 &&
           in_strides_[c_] == 1 && in_strides_[w_] == 3 && out_strides_[c_] == 1 && out_strides_[w_] == 3 &&
           pixels_ == width_ && !args_.mirror;
  }

  template <class T>
  Planes<T> planes(const char* pixels, Buffers& buffers) const {
    bool converted = in_.dtype == dtype_of<T>;
    T *row = reinterpret_cast<T*>(buffers.row.data()), *split = reinterpret_cast<T*>(buffers.planes.data());
    if (c_ < w_) {  // they are planes already
      if (converted) return {reinterpret_cast<const T*>(pixels), in_strides_[c_]};
      for (int64_t c = 0; c < channels_; c++)
        to_float_(split + c * pixels_, pixels + c * in_strides_[c_] * size_of(in_.dtype), pixels_);
      return {split, pixels_};
    }
    if (converted)
      row = const_cast<T*>(reinterpret_cast<const T*>(pixels));
    else
      to_float_(row, pixels, channels_ * pixels_);
    if (channels_ == 1) return {row, 0};
    split_channels(split, row, pixels_, channels_);
    return {split, pixels_};
  }

  template <class T>
  void make_lines(Planes<T> planes, int64_t to, Buffers& buffers) const {
    for (int64_t c = 0; c < channels_; c++) {
      float* line = begin_line(c, to, buffers);
      if (pixels_ < width_) std::fill(line, line + width_, fill_value(c));
      int64_t at = args_.mirror ? width_ - begin_ - pixels_ : begin_;
      normalize_line(line + at, planes.first + c * planes.stride, pixels_, normalization(c), args_.mirror);
      store_line(line, c, to, buffers);
    }
  }

  Normalization normalization(int64_t c) const {
    return {at_channel(args_.mean, c), args_.scale / at_channel(args_.std, c), args_.shift};
  }

  float fill_value(int64_t c) const {
    const auto& fill = args_.fill_values;
    if (!pads_) return 0;
    return fill.size() == 1 ? fill[0] : c < std::ssize(fill) ? fill[c] : 0;
  }

  // Lines are written to the output directly if they can be, else to a buffer.
  bool in_place() const { return out_.dtype == DType::float32 && out_strides_[w_] == 1; }
  float* begin_line(int64_t c, int64_t to, Buffers& buffers) const {
    return in_place() ? out_.as<float>() + to + c * out_strides_[c_] : buffers.line.data();
  }
  void store_line(const float* line, int64_t c, int64_t to, Buffers& buffers) const {
    if (in_place()) return;
    int64_t step = out_strides_[w_];
    char* out = out_.as<char>() + (to + c * out_strides_[c_]) * size_of(out_.dtype);
    if (step == 1) return from_float_(out, line, width_);
    from_float_(buffers.stored.data(), line, width_);
    with_size_of(out_.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      for (int64_t i = 0; i < width_; i++)
        reinterpret_cast<T*>(out)[i * step] = reinterpret_cast<const T*>(buffers.stored.data())[i];
    });
  }

  const CropMirrorNormalizeArgs& args_;
  const SampleView &in_, &out_;
  const int w_, c_;
  const int64_t channels_, out_channels_;
  Window window_;
  bool pads_;
  Vec<int> outer_;                              // the axes other than W and C
  int64_t width_ = 0, begin_ = 0, pixels_ = 0;  // of the output; the pixels of a row that lie inside the input
  Shape in_strides_, out_strides_;              // both by the input's axes
  const ConvertRun to_float_ = rounding_run(DType::float32, in_.dtype);
  const ConvertRun from_float_ = rounding_run(out_.dtype, DType::float32);
};

// The same axes, with C before D, H and W.
Layout channels_first(const Layout& layout) {
  std::string letters;
  for (char letter : layout.view())
    if (letter != 'C') letters += letter;
  letters.insert(std::min(letters.find_first_of("DHW"), letters.size()), "C");
  return Layout(letters);
}

void infer_normalized(Infer<CropMirrorNormalizeArgs>& call) {
  auto& args = call.args;
  Meta& out = call.out[0];
  infer_window(args, out);
  check_crop_place(args, call.call);
  const Layout &in = call.in[0].layout, &wanted = args.output_layout;
  if (!std::is_permutation(in.view().begin(), in.view().end(), wanted.view().begin(), wanted.view().end()))
    refuse("expected an \"output_layout\" with the axes of the input, ", in, ", such as ", channels_first(in), ", got ",
           wanted);
  out.layout = wanted;
}

Moves normalized_moves(const Sample<CropMirrorNormalizeArgs>& sample) {
  const SampleView& image = sample.in[0];
  Window window = crop_window(sample.args, image.shape, image.layout);
  place_window(window, image.shape, beyond(sample.args));
  Moves moves = moves_to_window(window, image);
  if (sample.args.mirror) moves.mirror(0, window.size[axis_of(image, 0)]);
  return moves;
}

}  // namespace

AVIDA_OP(crop_mirror_normalize, CropMirrorNormalizeArgs) {
  using Args = CropMirrorNormalizeArgs;
  op.doc(
        "Crops, mirrors, normalises and transposes images, videos or volumes. The output is "
        "scale * (input - mean) / std + shift. It is usually the last step before training.")
      .input("input", "The samples to normalise.",
             {"HWC", "CHW", "DHWC", "CDHW", "FHWC", "FCHW", "CFHW", "FDHWC", "FCDHW", "CFDHW"})
      .arg("dtype", &Args::dtype, "The element type of the output; integers are rounded and saturated.")
      .arg("fill_values", &Args::fill_values,
           "The value of padding, after normalisation: one number, or one for each channel.", fixed | takes_nan)
      .ignored("image_type", codecs::ImageType::rgb)
      .arg("mean", &Args::mean, "The mean that is subtracted: one number, or one for each channel.")
      .arg("mirror", &Args::mirror, "Whether to mirror left to right.")
      .arg("out_of_bounds_policy", &Args::out_of_bounds_policy,
           "What to do where the window exceeds the sample: \"error\", \"pad\" (or \"constant\"), or "
           "\"trim_to_shape\".")
      .arg("output_dtype", &Args::output_dtype, kOutputDTypeText)
      .arg("output_layout", &Args::output_layout, "The order of the axes in the output.")
      .arg("pad_output", &Args::pad_output, "Whether to pad the channels to a power of two.", fixed)
      .arg("scale", &Args::scale, "The factor of the normalised values.", fixed)
      .arg("shift", &Args::shift, "The offset that is added last.", fixed)
      .arg("std", &Args::std, "The standard deviation: one number, or one for each channel.")
      .example("avida.crop_mirror_normalize(image, mirror=1, mean=[124, 117, 104], std=[59, 57, 58])")
      .infer(infer_normalized)
      .each_sample<NormalizePlan>()
      .chains();
  crop_place_args(op);
}

AVIDA_MOVES(crop_mirror_normalize, CropMirrorNormalizeArgs, normalized_moves)

}  // namespace avida::ops
