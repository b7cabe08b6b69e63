// Arguments and plans of operators whose output is a window of their input: slice and crop.
#pragma once
#include "arguments/out_of_bounds.h"
#include "loops/moving/window.h"
#include "operator/declare.h"

namespace avida {

struct WindowTypeArgs {
  DType dtype = DType::none, output_dtype = DType::none;
  std::vector<float> fill_values = {0};
};

struct WindowArgs : WindowTypeArgs {
  OutOfBounds out_of_bounds_policy = OutOfBounds::error;
};

constexpr const char* kWindowDTypeText =
    "The element type of the output, by default that of the input. Fractions are truncated.";
constexpr const char* kOutputDTypeText = "The old name of `dtype`.";
constexpr const char* kFillValuesText = "The value of padding: one number, or one for each channel.";
constexpr const char* kOutOfBoundsText =
    "What to do where the window exceeds the sample: \"error\", \"pad\" (or \"constant\"), \"edge\" (or "
    "\"clamp\"), "
    "\"reflect\" (or \"reflect_1001\"), \"reflect_101\", \"wrap\", or \"trim_to_shape\".";

// Sets the output's element type.
void infer_window(const WindowTypeArgs& args, Meta& out);

// The layout that a sample without one is taken to have.
Layout layout_or_default(const Layout& layout, int ndim);

// Fits the window into the sample; checks it and the numbers to fill with.
void fit_window(Window& window, const SampleView& in, const WindowArgs& args);

WindowCopy window_copy(const SampleView& out, const SampleView& in, const Window& window, const WindowArgs& args);

// The window that find(sample) returns, fitted into the sample.
template <auto find, class Args>
class WindowPlan {
 public:
  explicit WindowPlan(const Sample<Args>& sample)
      : in_(sample.in[0]), window_(fitted(sample)), copy_(window_copy(sample.out[0], in_, window_, sample.args)) {}

  Shape shape() const { return window_.size; }
  int64_t rows() const { return copy_.rows(); }
  Part reads() const { return shown_part(window_, in_); }
  void run(const Sample<Args>& sample) const { copy_.run(sample); }

 private:
  static Window fitted(const Sample<Args>& sample) {
    Window window = find(sample);
    fit_window(window, sample.in[0], sample.args);
    checked_volume(window.size);
    return window;
  }

  const SampleView& in_;
  const Window window_;
  const WindowCopy copy_;
};

// The output is the window that find(sample) returns.
template <auto find, class Args>
Op<Args>& shows_window(Op<Args>& op) {
  return op.template each_sample<WindowPlan<find, Args>>();
}

}  // namespace avida
