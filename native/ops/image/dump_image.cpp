#include <cerrno>
#include <cstdio>
#include <cstring>

#include "operator/declare.h"

namespace avida::ops {
namespace {

struct DumpImageArgs {
  Layout input_layout{"HWC"};
  std::string suffix;
};

// The image in the text form of PPM, or of PGM for one channel: a line for each row.
std::string ppm_text(const SampleView& image) {
  const int64_t channels = image.shape[2];
  std::string text = str(channels == 3 ? "P3" : "P2", '\n', image.shape[1], ' ', image.shape[0], "\n255\n");
  const uint8_t* pixel = image.as<const uint8_t>();
  for (int64_t y = 0; y < image.shape[0]; y++) {
    for (int64_t x = 0; x < image.shape[1] * channels; x++) (text += std::to_string(*pixel++)) += ' ';
    text += '\n';
  }
  return text;
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int error = errno;
  if (file && std::fclose(file) != 0 && written) written = false, error = errno;
  if (!written) refuse("cannot write \"", path, "\": ", std::strerror(error));
}

void infer(Infer<DumpImageArgs>& call) {
  const Meta& in = call.in[0];
  if (!(call.args.input_layout == Layout("HWC")))
    refuse("expected input_layout \"HWC\", got ", call.args.input_layout, "; transpose the images first");
  if (in.dtype != DType::uint8 || in.ndim != 3 || !(in.layout.empty() || in.layout == Layout("HWC")))
    refuse("expected images of uint8 with layout \"HWC\", got ", in.dtype, " with ", in.ndim, " axes and layout ",
           in.layout);
}

struct DumpPlan {
  explicit DumpPlan(const Sample<DumpImageArgs>& sample) {
    const Shape& shape = sample.in[0].shape;
    if (shape[2] != 1 && shape[2] != 3) refuse("expected images of 1 or 3 channels, got the shape ", shape);
  }

  void run(const Sample<DumpImageArgs>& sample) const {
    write_file(str(sample.index, '-', sample.args.suffix, "-0.ppm"), ppm_text(sample.in[0]));
    if (const int64_t bytes = sample.out[0].bytes())
      std::memcpy(sample.out[0].data, sample.in[0].data, static_cast<size_t>(bytes));
  }
};

}  // namespace

AVIDA_OP_NAMED(dump_image, "_dump_image", DumpImageArgs) {
  op.doc("Saves images as PPM files in the working folder, for debugging, and returns them.")
      .hidden()
      .input("input", "Images of uint8, HWC, with 1 or 3 channels.")
      .arg("input_layout", &DumpImageArgs::input_layout, "The layout of images that have none: \"HWC\".")
      .arg("suffix", &DumpImageArgs::suffix, "A part of the names of the files.")
      .infer(infer)
      .writes_files()
      .on_cpu()
      .each_sample<DumpPlan>();
}

}  // namespace avida::ops
