#include <algorithm>
#include <cmath>
#include <map>

#include "operator/declare.h"
#include "ops/segmentation/objects.h"

namespace avida::ops {
namespace {

enum class BoxOutputs { anchor_shape, start_end, box };
AVIDA_CHOICES(BoxOutputs, "anchor_shape", "start_end", "box")

struct RandomObjectBboxArgs {
  std::optional<int> background;
  std::optional<std::vector<float>> class_weights;
  std::optional<std::vector<int>> classes;
  float foreground_prob = 1;
  BoxOutputs format = BoxOutputs::anchor_shape;
  bool ignore_class = false;
  std::optional<int> k_largest;
  bool output_class = false;
  std::optional<Vec<int64_t>> threshold;
};

// The label of the background: 0, or one below all classes if 0 is one of them.
int background_of(const RandomObjectBboxArgs& args) {
  if (args.background || !args.classes) return args.background.value_or(0);
  int lowest = 1;
  for (int label : *args.classes) lowest = std::min(lowest, label);
  if (std::ranges::find(*args.classes, 0) == args.classes->end()) return 0;
  return lowest == INT32_MIN ? INT32_MAX : lowest - 1;
}

// The classes of the weights: those given, or the first labels that are not the background.
std::vector<int> classes_of(const RandomObjectBboxArgs& args, int background) {
  if (args.classes) return *args.classes;
  std::vector<int> classes(args.class_weights->size());
  int label = 0;
  for (int& one : classes) {
    if (label == background) label++;
    one = label++;
  }
  return classes;
}

void check_classes(const RandomObjectBboxArgs& args) {
  if (args.classes && args.background && std::ranges::find(*args.classes, *args.background) != args.classes->end())
    refuse("expected a background that is none of \"classes\", got ", *args.background);
  if (!args.class_weights) return;
  if (args.classes && args.classes->size() != args.class_weights->size())
    refuse("expected a weight for each of ", args.classes->size(), " classes, got ", args.class_weights->size());
  for (float weight : *args.class_weights)
    if (!(weight >= 0 && std::isfinite(weight))) refuse("expected \"class_weights\" of 0 or more, got ", weight);
}

// A class, as likely as its weight says, and the indices of its objects.
struct Candidates {
  double weight;
  std::vector<int> objects;
};

bool is_large(const Objects& objects, int i, const RandomObjectBboxArgs& args) {
  for (int d = 0; args.threshold && d < objects.rank; d++)
    if (objects.box(i)[d].extent() < (*args.threshold)[args.threshold->size() > 1 ? d : 0]) return false;
  return true;
}

// Objects are divided by class. Those that are too small are left out, and so are classes without any.
std::vector<Candidates> candidates(const Objects& objects, const RandomObjectBboxArgs& args, int background) {
  std::map<int, std::vector<int>> of_class;
  for (int i = 0; i < std::ssize(objects.labels); i++)
    if (is_large(objects, i, args)) of_class[args.ignore_class ? background : objects.labels[i]].push_back(i);
  std::vector<Candidates> found;
  if (args.classes || args.class_weights) {
    const std::vector<int> classes = classes_of(args, background);
    for (size_t k = 0; k < classes.size(); k++) {
      const double weight = args.class_weights ? (*args.class_weights)[k] : 1;
      if (const auto at = of_class.find(classes[k]); weight > 0 && at != of_class.end())
        found.push_back({weight, at->second});
    }
  } else {
    for (auto& [label, those] : of_class) found.push_back({1, std::move(those)});
  }
  return found;
}

int64_t box_volume(const Objects& objects, int i) {
  int64_t volume = 1;
  for (int d = 0; d < objects.rank; d++) volume *= objects.box(i)[d].extent();
  return volume;
}

// The index of an object.
int choose(std::vector<Candidates>& found, const Objects& objects, const RandomObjectBboxArgs& args,
           RandomStream& random) {
  double total = 0;
  for (const Candidates& one : found) total += one.weight;
  double left = random.next() * 0x1p-32 * total;
  Candidates* chosen = &found.back();
  for (Candidates& one : found) {
    if (left < one.weight) {
      chosen = &one;
      break;
    }
    left -= one.weight;
  }
  std::vector<int>& those = chosen->objects;
  if (args.k_largest && std::ssize(those) > *args.k_largest) {
    std::ranges::stable_sort(those, std::greater(), [&](int i) { return box_volume(objects, i); });
    those.resize(*args.k_largest);
  }
  return those[random.below(static_cast<unsigned>(those.size()))];
}

// The box of a drawn object.
struct ObjectBox {
  static void shape(Sample<RandomObjectBboxArgs>& sample);
  static void run(const Sample<RandomObjectBboxArgs>& sample);
};

void ObjectBox::run(const Sample<RandomObjectBboxArgs>& sample) {
  const SampleView& mask = sample.in[0];
  const RandomObjectBboxArgs& args = sample.args;
  int label = background_of(args);
  Interval box[kMaxDim];
  for (int d = 0; d < mask.ndim(); d++) box[d] = {0, static_cast<int>(mask.shape[d])};
  RandomStream random(sample.random);
  if (random.next() * 0x1p-32 < args.foreground_prob) {
    const Objects objects = find_objects(mask, label);
    std::vector<Candidates> found = candidates(objects, args, label);
    if (!found.empty()) {
      const int drawn = choose(found, objects, args, random);
      label = objects.labels[drawn];
      std::copy_n(objects.box(drawn), objects.rank, box);
    }
  }
  int* start = sample.out[0].as<int>();
  int* end = args.format == BoxOutputs::box ? start + mask.ndim() : sample.out[1].as<int>();
  for (int d = 0; d < mask.ndim(); d++) {
    start[d] = box[d].begin;
    end[d] = args.format == BoxOutputs::anchor_shape ? box[d].extent() : box[d].end;
  }
  if (args.output_class) *sample.out.back().as<int>() = label;
}

void ObjectBox::shape(Sample<RandomObjectBboxArgs>& sample) {
  const SampleView& mask = sample.in[0];
  check_classes(sample.args);
  for (int64_t extent : mask.shape)
    if (extent > INT32_MAX) refuse("expected extents of 32 bits, got the shape ", mask.shape);
  if (const auto& threshold = sample.args.threshold;
      threshold && threshold->size() != 1 && threshold->size() != mask.ndim())
    refuse("expected one \"threshold\", or one for each of ", mask.ndim(), " axes, got ", threshold->size());
  for (SampleView& out : sample.out) out.shape = {mask.ndim()};
  if (sample.args.format == BoxOutputs::box) sample.out[0].shape = {2 * mask.ndim()};
  if (sample.args.output_class) sample.out.back().shape = {};
}

void infer(Infer<RandomObjectBboxArgs>& call) {
  const RandomObjectBboxArgs& args = call.args;
  const Meta& in = call.in[0];
  if (is_float(in.dtype)) refuse("expected masks of integers, got ", in.dtype);
  if (in.ndim < 1) refuse("expected masks of at least one axis, got single numbers");
  if (args.k_largest.value_or(1) < 1) refuse("expected \"k_largest\" of at least 1, got ", *args.k_largest);
  const bool classes =
      args.classes || args.class_weights || call.call.per_sample("classes") || call.call.per_sample("class_weights");
  if (args.ignore_class && (classes || args.output_class))
    refuse("expected \"ignore_class\" without \"classes\", \"class_weights\" and \"output_class\"");
  for (Meta& out : call.out) {
    out.dtype = DType::int32;
    out.ndim = 1;
    out.layout = {};
  }
  if (args.output_class) call.out.back().ndim = 0;
}

}  // namespace

AVIDA_OP_IN(segmentation, random_object_bbox, RandomObjectBboxArgs) {
  using Args = RandomObjectBboxArgs;
  op.doc(
        "Draws a random object of a mask and returns the box around it. "
        "An object consists of elements of one label that touch each other along an axis. The box is that of the whole "
        "mask if there is no object.")
      .input("input", "Masks of integer labels, of any rank.")
      .arg("background", &Args::background,
           "The label of the background; by default 0, or one below all `classes` if 0 is one of them.")
      .arg("class_weights", &Args::class_weights,
           "The weight of each of `classes` or, without these, of each label from 0 on except the background.")
      .arg("classes", &Args::classes, "The labels to draw from; by default all that are not the background.")
      .arg("foreground_prob", &Args::foreground_prob,
           "The probability of drawing an object; otherwise the box is that of the whole mask.")
      .arg("format", &Args::format,
           "The outputs: \"anchor_shape\", start and extents; \"start_end\", start and end; \"box\", both in one "
           "output.")
      .arg("ignore_class", &Args::ignore_class,
           "Whether all objects are equally likely; otherwise a class is drawn first.", fixed)
      .arg("k_largest", &Args::k_largest, "Draw only from this number of objects, those with the largest boxes.", fixed)
      .arg("output_class", &Args::output_class, "Whether the last output is the label of the drawn object.", fixed)
      .arg("threshold", &Args::threshold,
           "The least extent of boxes that are drawn: one number for all axes, or one for each.")
      .ignored("cache_objects", false)
      .example("start, shape = avida.segmentation.random_object_bbox(np.int32([[0, 1, 1], [0, 0, 0], [2, 0, 0]]))")
      .random()
      .outputs_from([](const Args& args) { return (args.format == BoxOutputs::box ? 1 : 2) + args.output_class; })
      .infer(infer)
      .on_cpu()
      .each_sample<ObjectBox>()
      .cost(10);
}

}  // namespace avida::ops
