#include "loops/flow/find_flow.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

enum class FrameColors { rgb, bgr, gray };
AVIDA_CHOICES_WITH(FrameColors, kImageType, "rgb", "bgr", "gray")

struct OpticalFlowArgs {
  bool enable_external_hints = false, enable_temporal_hints = false;
  int hint_grid = 4, output_grid = 4;
  FrameColors image_type = FrameColors::rgb;
  std::optional<int> output_format;
  float preset = 0;
};

FlowRequest request_of(const OpticalFlowArgs& args) {
  FlowRequest request;
  request.gray = args.image_type == FrameColors::gray;
  request.swapped = args.image_type == FrameColors::bgr;
  request.output_grid = args.output_format.value_or(args.output_grid);
  if (args.enable_external_hints) {
    request.hint_grid = args.hint_grid;
    if (args.hint_grid < 1) value_error("expected a hint_grid of at least 1, got ", args.hint_grid);
  }
  request.temporal_hints = args.enable_temporal_hints;
  if (args.preset == 0)
    request.quality = FlowQuality::best;
  else if (args.preset == 0.5f)
    request.quality = FlowQuality::medium;
  else if (args.preset == 1)
    request.quality = FlowQuality::fastest;
  else
    value_error("expected a preset of 0.0 (best), 0.5 or 1.0 (fastest), got ", args.preset);
  return request;
}

void infer(Infer<OpticalFlowArgs>& call) {
  const Meta &frames = call.in[0], &hints = call.in[1];
  const bool has_hints = hints.dtype != DType::none;
  if (frames.dtype != DType::uint8) refuse("expected frames of uint8, got ", frames.dtype);
  if (call.args.enable_external_hints && !has_hints)
    refuse("expected hints as the second input, since enable_external_hints is True, got none");
  if (!call.args.enable_external_hints && has_hints)
    refuse("expected no hints, since enable_external_hints is False, got some; set it to use them");
  if (has_hints && hints.dtype != DType::float32) refuse("expected hints of float32, got ", hints.dtype);
  request_of(call.args);
  call.out[0].dtype = DType::float32;
}

}  // namespace

AVIDA_OP(optical_flow, OpticalFlowArgs) {
  op.doc(
        "Finds the motion between consecutive frames of videos. It is done by the optical flow engine of a GPU, which "
        "Turing and newer ones have. Returns vectors (x, y) in pixels of the input, one for each cell of a grid: "
        "sequences of float32 with one frame less, ceil(H / output_grid) rows and ceil(W / output_grid) columns. A "
        "vector leads from a place in a frame to the same thing in the frame before: what moves to the right has a "
        "negative x. There is no version for the CPU: inputs there are copied to a GPU.")
      .input("input_0", "Videos of uint8, with frames of 32 x 32 to 8192 x 8192 pixels.", {"FHWC"})
      .optional_input("input_1",
                      "Hints: vectors (x, y) in pixels, of float32, one for each cell of hint_grid and each pair of "
                      "frames, near which to search. Given if, and only if, enable_external_hints is True.",
                      {"FHWC"})
      .arg("enable_external_hints", &OpticalFlowArgs::enable_external_hints, "Whether there are hints.", fixed)
      .arg("enable_temporal_hints", &OpticalFlowArgs::enable_temporal_hints,
           "Whether the vectors of a pair of frames are hints for the next pair of the same video.", fixed)
      .arg("hint_grid", &OpticalFlowArgs::hint_grid,
           "The height and width of the cells of hints, in pixels: 1, 2, 4 or 8 (4 on Turing), not below output_grid.",
           fixed)
      .arg("image_type", &OpticalFlowArgs::image_type, "The colours of the frames: RGB, BGR or GRAY.", fixed)
      .arg("output_format", &OpticalFlowArgs::output_format, "The former name of output_grid, which it replaces.",
           fixed)
      .arg("output_grid", &OpticalFlowArgs::output_grid,
           "The height and width of the cells of the result, in pixels: 1, 2 or 4 (4 on Turing).", fixed)
      .arg("preset", &OpticalFlowArgs::preset, "0.0 for the best vectors, 1.0 for the fastest, or 0.5.", fixed)
      .example(
          "video = np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), np.uint8)\n"
          "avida.optical_flow(video, output_grid=4)")
      .infer(infer)
      .gpu_only([](const Run& run, const GpuStream& stream) {
        return find_flow(run, stream, request_of(*static_cast<const OpticalFlowArgs*>(run.args.at(0))));
      });
}

}  // namespace avida::ops
