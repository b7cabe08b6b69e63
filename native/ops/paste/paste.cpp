#include "ops/paste/paste.h"

#include <cmath>
#include <cstring>

#include "op/convert_run.h"
#include "op/each_piece.h"
#include "op/op.h"

namespace avida::ops {
namespace {

struct PasteArgs {
  std::vector<int> fill_value;
  float min_canvas_size = 0;
  int n_channels = 3;
  float paste_x = 0.5f, paste_y = 0.5f;
  float ratio = 1;
};

int64_t canvas_extent(int64_t extent, const PasteArgs& args) {
  const float scaled = std::max(args.ratio * static_cast<float>(extent), args.min_canvas_size);
  if (!(scaled <= 0x1p31f)) fail(ErrorKind::runtime, "expected a canvas of at most 2^31 pixels a side, got ", scaled);
  return static_cast<int64_t>(scaled);
}

void check_share(const char* name, float share) {
  if (!(share >= 0 && share <= 1)) fail(ErrorKind::runtime, "expected \"", name, "\" from 0 to 1, got ", share);
}

void set_shape(Sample<PasteArgs>& sample) {
  const PasteArgs& args = sample.args;
  if (!(args.ratio >= 1)) fail(ErrorKind::runtime, "expected a ratio of at least 1, got ", args.ratio);
  if (std::isnan(args.min_canvas_size)) fail(ErrorKind::runtime, "expected a number for \"min_canvas_size\", got NaN");
  check_share("paste_x", args.paste_x);
  check_share("paste_y", args.paste_y);
  const Shape& shape = sample.in[0].shape;
  if (args.fill_value.size() > 1 && shape[2] != args.n_channels)
    fail(ErrorKind::runtime, "expected ", args.n_channels, " channels, as \"n_channels\" says, got ", shape[2]);
  sample.out[0].shape = {canvas_extent(shape[0], args), canvas_extent(shape[1], args), shape[2]};
}

template <class T>
void make_rows(const typename Paste<T>::Params& params, int64_t begin, int64_t end) {
  std::vector<T> empty(params.width);
  for (int64_t i = 0; i < params.width; i++) empty[i] = params.fills[i % params.fill_count];
  auto copy = [](T* to, const T* from, int64_t n) { std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T)); };
  const int64_t right = params.left + params.in_width;
  for (int64_t y = begin; y < end; y++) {
    T* row = params.out + y * params.width;
    const int64_t from = y - params.top;
    if (from < 0 || from >= params.in_height) {
      copy(row, empty.data(), params.width);
      continue;
    }
    copy(row, empty.data(), params.left);
    copy(row + params.left, params.in + from * params.in_width, params.in_width);
    copy(row + right, empty.data(), params.width - right);
  }
}

template <class T>
void run(const Sample<PasteArgs>& sample) {
  const SampleView &in = sample.in[0], &out = sample.out[0];
  const PasteArgs& args = sample.args;
  const int64_t width = out.shape[1] * out.shape[2], in_width = in.shape[1] * in.shape[2];
  const auto top = static_cast<int64_t>(args.paste_y * static_cast<float>(out.shape[0] - in.shape[0]));
  const auto left = static_cast<int64_t>(args.paste_x * static_cast<float>(out.shape[1] - in.shape[1])) * out.shape[2];

  std::vector<T> fills(args.fill_value.size());
  rounding_run(in.dtype, DType::int32)(fills.data(), args.fill_value.data(), std::ssize(fills));
  const typename Paste<T>::Params params{.out = out.as<T>(),
                                         .in = in.as<T>(),
                                         .fills = readable(sample.launches, fills.data(), std::ssize(fills)),
                                         .fill_count = std::ssize(fills),
                                         .width = width,
                                         .in_width = in_width,
                                         .in_height = in.shape[0],
                                         .top = top,
                                         .left = left};
  each_piece<Paste<T>, sizeof(T)>(sample, sample.begin * width, sample.end * width, params,
                                  [&] { make_rows<T>(params, sample.begin, sample.end); });
}

}  // namespace

AVIDA_OP(paste, PasteArgs) {
  using Args = PasteArgs;
  op.doc("Puts images on larger canvases of one colour.")
      .input("input", "The images.", {"HWC"})
      .arg("fill_value", &Args::fill_value, "The colour of the canvas: one number, or one for each channel.",
           fixed | required)
      .arg("min_canvas_size", &Args::min_canvas_size, "The least height and width of the canvas.")
      .arg("n_channels", &Args::n_channels, "How many channels the images have, where `fill_value` lists a colour.",
           fixed)
      .arg("paste_x", &Args::paste_x, "Where the image is: 0 at the left, 1 at the right.")
      .arg("paste_y", &Args::paste_y, "Where the image is: 0 at the top, 1 at the bottom.")
      .arg("ratio", &Args::ratio, "How many times as high and wide as the image the canvas is, at least 1.", required)
      .example("avida.paste(image, ratio=2, fill_value=[255, 0, 0])")
      .infer([](Infer<Args>& call) {
        const int64_t fills = std::ssize(call.args.fill_value);
        if (fills != 1 && (fills == 0 || fills != call.args.n_channels))
          fail(ErrorKind::runtime, "expected one number or ", call.args.n_channels, " in \"fill_value\", got ", fills);
        call.out[0].layout = "HWC";
      })
      .each_sample(set_shape,
                   [](const Sample<Args>& sample) {
                     with_size_of(sample.in[0].dtype, [&](auto type) { run<typename decltype(type)::type>(sample); });
                   })
      .rows([](const Sample<Args>& sample) { return sample.out[0].shape[0]; })
      .on_gpu();
}

}  // namespace avida::ops
