#include "ops/paste/paste.h"

#include <cmath>

#include "core/rows.h"
#include "loops/items/each_piece.h"
#include "loops/moving/convert_run.h"
#include "operator/declare.h"
#include "ops/scenes/moves.h"

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
  if (!(scaled <= 0x1p31f)) refuse("expected a canvas of at most 2^31 pixels a side, got ", scaled);
  return std::max(extent, static_cast<int64_t>(scaled));  // a float rounds large extents
}

void check_share(const char* name, float share) {
  if (!(share >= 0 && share <= 1)) refuse("expected \"", name, "\" from 0 to 1, got ", share);
}

template <class T>
void make_rows(const typename Paste<T>::Params& params, int64_t begin, int64_t end) {
  std::vector<T> empty(params.width);
  for (int64_t i = 0; i < params.width; i++) empty[i] = params.fills[i % params.fill_count];
  auto copy = [](T* to, const T* from, int64_t n) { copy_row(to, from, n * sizeof(T)); };
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

class PastePlan {
 public:
  explicit PastePlan(const Sample<PasteArgs>& sample) : in_(sample.in[0]), args_(sample.args) {
    if (!(args_.ratio >= 1)) refuse("expected a ratio of at least 1, got ", args_.ratio);
    if (std::isnan(args_.min_canvas_size)) refuse("expected a number for \"min_canvas_size\", got NaN");
    check_share("paste_x", args_.paste_x);
    check_share("paste_y", args_.paste_y);
    if (args_.fill_value.size() > 1 && in_.shape[2] != args_.n_channels)
      refuse("expected ", args_.n_channels, " channels, as \"n_channels\" says, got ", in_.shape[2]);
    canvas_ = {canvas_extent(in_.shape[0], args_), canvas_extent(in_.shape[1], args_), in_.shape[2]};
  }

  Shape shape() const { return canvas_; }
  int64_t rows() const { return canvas_[0]; }
  Moves moves() const {
    Moves moves;
    moves.shift(0, static_cast<double>(offset(args_.paste_x, 1)));
    moves.shift(1, static_cast<double>(offset(args_.paste_y, 0)));
    return moves;
  }
  void run(const Sample<PasteArgs>& sample) const {
    with_size_of(in_.dtype, [&](auto type) { paste<typename decltype(type)::type>(sample); });
  }

 private:
  template <class T>
  void paste(const Sample<PasteArgs>& sample) const {
    const int64_t channels = canvas_[2], width = canvas_[1] * channels;
    std::vector<T> fills(args_.fill_value.size());
    rounding_run(in_.dtype, DType::int32)(fills.data(), args_.fill_value.data(), std::ssize(fills));
    const typename Paste<T>::Params params{.out = sample.out[0].template as<T>(),
                                           .in = in_.as<T>(),
                                           .fills = readable(sample, fills),
                                           .fill_count = std::ssize(fills),
                                           .width = width,
                                           .in_width = in_.shape[1] * channels,
                                           .in_height = in_.shape[0],
                                           .top = offset(args_.paste_y, 0),
                                           .left = offset(args_.paste_x, 1) * channels};
    each_piece<Paste<T>, sizeof(T)>(sample, sample.begin * width, sample.end * width, params,
                                    [&] { make_rows<T>(params, sample.begin, sample.end); });
  }

  int64_t offset(float share, int axis) const {
    return static_cast<int64_t>(share * static_cast<float>(canvas_[axis] - in_.shape[axis]));
  }

  const SampleView& in_;
  const PasteArgs& args_;
  Shape canvas_;
};

Moves paste_moves(const Sample<PasteArgs>& sample) { return PastePlan(sample).moves(); }

}  // namespace

AVIDA_OP(paste, PasteArgs) {
  using Args = PasteArgs;
  op.doc("Pastes images onto larger canvases of one colour.")
      .input("input", "The images.", {"HWC"})
      .arg("fill_value", &Args::fill_value, "The colour of the canvas: one number, or one for each channel.",
           fixed | required)
      .arg("min_canvas_size", &Args::min_canvas_size, "The least height and width of the canvas.")
      .arg("n_channels", &Args::n_channels, "The number of channels, if `fill_value` has a number for each.", fixed)
      .arg("paste_x", &Args::paste_x, "The horizontal position of the image on the canvas, from 0 (left) to 1 (right).")
      .arg("paste_y", &Args::paste_y, "The vertical position of the image on the canvas, from 0 (top) to 1 (bottom).")
      .arg("ratio", &Args::ratio, "The extents of the canvas divided by those of the image, at least 1.", required)
      .example("avida.paste(image, ratio=2, fill_value=[255, 0, 0])")
      .infer([](Infer<Args>& call) {
        const int64_t fills = std::ssize(call.args.fill_value);
        if (fills != 1 && (fills == 0 || fills != call.args.n_channels))
          refuse("expected one number or ", call.args.n_channels, " in \"fill_value\", got ", fills);
        call.out[0].layout = "HWC";
      })
      .each_sample<PastePlan>();
}

AVIDA_MOVES(paste, PasteArgs, paste_moves)

}  // namespace avida::ops
