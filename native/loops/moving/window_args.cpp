#include "loops/moving/window_args.h"

namespace avida {

void infer_window(const WindowTypeArgs& args, Meta& out) {
  if (args.dtype != DType::none && args.output_dtype != DType::none)
    type_error("\"output_dtype\" is the old name of \"dtype\"; expected one of them, got both");
  if (args.output_dtype != DType::none) out.dtype = args.output_dtype;
  if (args.dtype != DType::none) out.dtype = args.dtype;
}

Layout layout_or_default(const Layout& layout, int ndim) {
  constexpr const char* kDefaults[] = {"", "", "HW", "HWC", "DHWC", "FDHWC"};
  return layout.empty() && ndim < static_cast<int>(std::size(kDefaults)) ? Layout(kDefaults[ndim]) : layout;
}

void fit_window(Window& window, const SampleView& in, const WindowArgs& args) {
  place_window(window, in.shape, args.out_of_bounds_policy);
  if (args.out_of_bounds_policy != OutOfBounds::constant || args.fill_values.size() <= 1) return;
  int channel = layout_or_default(in.layout, in.ndim()).find('C');
  if (channel < 0) refuse("several numbers in \"fill_values\" need a layout with an axis C");
  if (window.size[channel] != static_cast<int64_t>(args.fill_values.size()))
    refuse("expected one or ", window.size[channel], " numbers in \"fill_values\", got ", args.fill_values.size());
}

WindowCopy window_copy(const SampleView& out, const SampleView& in, const Window& window, const WindowArgs& args) {
  static constexpr float kZero = 0;
  std::span<const float> fill = args.fill_values;
  if (fill.empty()) fill = {&kZero, 1};
  int channel = fill.size() > 1 ? layout_or_default(in.layout, in.ndim()).find('C') : -1;
  return WindowCopy(out, in, window, args.out_of_bounds_policy, fill, channel);
}

}  // namespace avida
