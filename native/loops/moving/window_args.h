// What operators that show a window of their input (slice, crop) have in common.
#pragma once
#include "op/op.h"
#include "op/window.h"

namespace avida {

struct WindowArgs {
  DType dtype = DType::none, output_dtype = DType::none;
  std::vector<float> fill_values = {0};
  std::string out_of_bounds_policy = "error";
  int image_type = 0;
};

constexpr const char* kWindowDTypeText =
    "The element type of the output, by default the input's. Fractions are dropped.";
constexpr const char* kOutputDTypeText = "The old name of dtype.";
constexpr const char* kFillValuesText = "What the policy \"pad\" fills with: one number, or one for each channel.";
constexpr const char* kOutOfBoundsText =
    "What to do where the window reaches beyond the sample: \"error\", \"pad\" (or \"constant\"), \"edge\" (or "
    "\"clamp\"), "
    "\"reflect\" (or \"reflect_1001\"), \"reflect_101\", \"wrap\", or \"trim_to_shape\".";

// Sets the output's element type and checks what does not need the data.
void infer_window(const WindowArgs& args, Meta& out);

// The layout that a sample without one is taken to have.
Layout layout_or_default(const Layout& layout, int ndim);

// Fits the window into the sample; checks it and the numbers to fill with.
void fit_window(Window& window, const SampleView& in, const WindowArgs& args);

WindowCopy window_copy(const SampleView& out, const SampleView& in, const Window& window, const WindowArgs& args);

// The output is the window that find(sample) returns.
template <auto find, class Args>
Op<Args>& shows_window(Op<Args>& op) {
  static constexpr auto fitted = [](const Sample<Args>& sample) {
    Window window = find(sample);
    fit_window(window, sample.in[0], sample.args);
    return window;
  };
  return op
      .each_sample([](Sample<Args>& sample) { sample.out[0].shape = fitted(sample).size; },
                   [](const Sample<Args>& sample) {
                     window_copy(sample.out[0], sample.in[0], fitted(sample), sample.args).run(sample);
                   })
      .rows([](const Sample<Args>& sample) {
        return window_copy(sample.out[0], sample.in[0], fitted(sample), sample.args).rows();
      })
      .on_gpu();
}

}  // namespace avida
