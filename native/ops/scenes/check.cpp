// scenes.Scene: whether the annotations of an image fit it, and each other.
#include <cmath>

#include "ops/scenes/annotations.h"

namespace avida::ops {
namespace {

struct CheckArgs {
  std::string names;  // of the fields, one after the other: what each is follows from its name
  int per_image = 0;  // how many of them, at the end, belong to the image as a whole
};

constexpr double kFarthest = 0x1p24;  // beyond, a float32 does not have every pixel

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(' ', begin), names.size());
    parts.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void check_pixels(const SampleView& rows, int64_t positions, const std::string& name) {
  const int64_t step = rows.ndim() ? rows.shape[rows.ndim() - 1] : 0;
  for (int64_t i = 0; i < rows.elements(); i++) {
    const float number = rows.as<float>()[i];
    if (i % step < positions && !(std::fabs(number) < kFarthest))
      refuse("expected pixels below 2^24 in \"", name, "\", got ", number, " in row ",
             i * rows.shape[0] / rows.elements());
  }
}

void check_extents(const SampleView& image, const Shape& extents, const std::string& name) {
  const Shape wanted{extent_of(image, 1), extent_of(image, 0)};
  if (extents != wanted)
    refuse("expected \"", name, "\" of the image's size, ", wanted, ", got ", extents, " as height and width");
}

void check_runs(const SampleView& image, const SampleView& rows) {
  for (int64_t i = 0; i < rows.shape[0]; i++) {
    const uint32_t* row = rows.as<uint32_t>() + i * rows.shape[1];
    check_extents(image, {row[0], row[1]}, "masks");
    int64_t pixels = 0;
    for (int64_t k = 2; k < rows.shape[1]; k++) pixels += row[k];
    if (pixels != static_cast<int64_t>(row[0]) * row[1])
      refuse("expected run lengths of all pixels in \"masks\", got ", pixels, " pixels in row ", i);
  }
}

void check_masks_of(const SampleView& image, const SampleView& field) {
  const Shape& shape = field.shape;
  if (field.dtype == DType::uint32) {
    if (shape.size() != 2 || shape[1] < 2)
      refuse("expected height, width and run lengths for each object in \"masks\", got the shape ", shape);
    check_runs(image, field);
  } else if (shape.size() != 3) {
    refuse("expected a mask for each object in \"masks\", N x H x W, got the shape ", shape);
  } else if (field.dtype == DType::float32) {
    if (shape[2] != 2) refuse("expected x and y of the corners of polygons in \"masks\", got the shape ", shape);
    for (int64_t i = 0; i < field.elements(); i++)
      if (const float number = field.as<float>()[i]; std::fabs(number) >= kFarthest)
        refuse("expected pixels below 2^24 in \"masks\", got ", number, " in row ", i * shape[0] / field.elements());
  } else {
    check_extents(image, {shape[1], shape[2]}, "masks");
  }
}

void check_field(const SampleView& image, const SampleView& field, const std::string& name) {
  const Shape& shape = field.shape;
  auto rows_of = [&](int64_t numbers, const char* text) {
    if (shape.size() != 2 || shape[1] != numbers)
      refuse("expected ", text, " in \"", name, "\", got the shape ", shape);
    check_pixels(field, 4, name);
  };
  if (name == "boxes") rows_of(4, "rows of 4 numbers");
  if (name == "rotated") rows_of(5, "rows of 5 numbers (centre, extents, angle)");
  if (name == "keypoints") {
    if (shape.size() != 3 || (shape[2] != 2 && shape[2] != 3))
      refuse("expected x, y and perhaps visibility of points for each object in \"keypoints\", got the shape ", shape);
    check_pixels(field, 2, name);
  }
  if (name == "masks") check_masks_of(image, field);
  if (name == "mask") {
    const int h = field.layout.find('H') < 0 ? 0 : field.layout.find('H');
    if (shape.size() < h + 2) refuse("expected height and width in \"mask\", got the shape ", shape);
    check_extents(image, {shape[h], shape[h + 1]}, name);
  }
}

class CheckPlan {
 public:
  explicit CheckPlan(const Sample<CheckArgs>& sample) {
    const auto names = split(sample.args.names);
    const int64_t of_objects = std::ssize(names) - sample.args.per_image;
    std::string_view counted;
    int64_t rows = 0;
    for (int64_t i = 0; i < std::ssize(names); i++) {
      const SampleView& field = sample.in[static_cast<size_t>(i + 1)];
      check_field(sample.in[0], field, names[static_cast<size_t>(i)]);
      if (i >= of_objects) continue;
      if (field.ndim() == 0)
        refuse("expected a row for each object in \"", names[static_cast<size_t>(i)], "\", got one number");
      if (!counted.empty() && field.shape[0] != rows)
        refuse("expected as many rows in \"", names[static_cast<size_t>(i)], "\" as in \"", counted, "\", ", rows,
               ", got ", field.shape[0]);
      counted = names[static_cast<size_t>(i)];
      rows = field.shape[0];
    }
  }
};

// The fields themselves.
std::vector<Data> checked(const Run& run) {
  std::vector<SampleView> views(run.in.size());
  for (int i = 0; i < run.samples; i++) {
    input_views(run, i, views);
    at_sample(run, i, [&] {
      SampleWork work{.index = i, .args = run.args.at(i), .in = views, .out = {}};
      CheckPlan plan{Sample<CheckArgs>(work)};
    });
  }
  std::vector<Data> fields;
  for (size_t i = 1; i < run.in.size(); i++) fields.push_back(*run.in[i]);
  return fields;
}

}  // namespace

AVIDA_OP_IN(scenes, Scene, CheckArgs) {
  op.doc("Checks annotations.")
      .hidden()
      .input("image", "The images, of which the shape is looked at.", {"HWC", "CHW", "HW", "FHWC", "FCHW", "CFHW"})
      .more_inputs("fields", "The annotations.")
      .arg("names", &CheckArgs::names, "Their names, with blanks between them.", fixed)
      .arg("per_image", &CheckArgs::per_image, "How many of them, at the end, are not rows of objects.", fixed)
      .outputs_from([](const CheckArgs& args) { return static_cast<int>(split(args.names).size()); })
      .infer([](Infer<CheckArgs>& call) {
        for (size_t i = 1; i < call.in.size(); i++) {
          const bool is_batch = call.out[i - 1].is_batch;
          const int samples = call.out[i - 1].samples;
          call.out[i - 1] = call.in[i];
          call.out[i - 1].is_batch = is_batch;
          call.out[i - 1].samples = samples;
        }
      })
      .takes_enums()
      .custom(checked);
  op.spec.per_frame = false;
}

}  // namespace avida::ops
