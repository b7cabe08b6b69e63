#include <cmath>

#include "op/op.h"
#include "ops/segmentation/objects.h"

namespace avida::ops {
namespace {

struct RandomObjectBboxArgs {
  std::optional<int> background;
  bool cache_objects = false;
  std::optional<std::vector<float>> class_weights;
  std::optional<std::vector<int>> classes;
  float foreground_prob = 1;
  std::string format = "anchor_shape";
  bool ignore_class = false;
  std::optional<int> k_largest;
  bool output_class = false;
  std::optional<Vec<int64_t>> threshold;
};

// What is not an object: 0, or a label below all classes where 0 is one of them.
int background_of(const RandomObjectBboxArgs& args) {
  if (args.background || !args.classes) return args.background.value_or(0);
  int lowest = 1;
  for (int label : *args.classes) lowest = std::min(lowest, label);
  if (std::ranges::find(*args.classes, 0) == args.classes->end()) return 0;
  return lowest == INT32_MIN ? INT32_MAX : lowest - 1;
}

// The classes that the weights are for: those named, or the first numbers that are not the background.
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
    fail(ErrorKind::runtime, "expected a background that is none of \"classes\", got ", *args.background);
  if (!args.class_weights) return;
  if (args.classes && args.classes->size() != args.class_weights->size())
    fail(ErrorKind::runtime, "expected a weight for each of ", args.classes->size(), " classes, got ",
         args.class_weights->size());
  for (float weight : *args.class_weights)
    if (!(weight >= 0 && std::isfinite(weight)))
      fail(ErrorKind::runtime, "expected \"class_weights\" of 0 or more, got ", weight);
}

// A class, as likely as its weight says, and its objects.
struct Candidates {
  int label;
  double weight;
  std::vector<const Object*> objects;
};

// Objects are divided by class; those that are too small are left out, and classes without any.
std::vector<Candidates> candidates(const std::vector<Object>& objects, const RandomObjectBboxArgs& args,
                                   int background) {
  std::vector<const Object*> large;
  for (const Object& object : objects) {
    bool fits = true;
    for (int d = 0; args.threshold && d < object.start.size(); d++)
      fits &= object.end[d] - object.start[d] >= (*args.threshold)[args.threshold->size() > 1 ? d : 0];
    if (fits) large.push_back(&object);
  }
  std::vector<Candidates> found;
  auto label_of = [](const Object* object) { return object->label; };
  auto add = [&](int label, double weight) {
    auto those = std::ranges::equal_range(large, label, {}, label_of);
    if (weight > 0 && !those.empty()) found.push_back({label, weight, {those.begin(), those.end()}});
  };
  if (args.ignore_class) {
    if (!large.empty()) found.push_back({background, 1, large});
    return found;
  }
  std::ranges::stable_sort(large, {}, label_of);
  if (args.classes || args.class_weights) {
    const std::vector<int> classes = classes_of(args, background);
    for (size_t i = 0; i < classes.size(); i++) add(classes[i], args.class_weights ? (*args.class_weights)[i] : 1);
  } else {
    for (size_t i = 0; i < large.size(); i++)
      if (i == 0 || large[i]->label != large[i - 1]->label) add(large[i]->label, 1);
  }
  return found;
}

const Object* choose(std::vector<Candidates>& found, const RandomObjectBboxArgs& args, RandomStream& random) {
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
  std::vector<const Object*>& objects = chosen->objects;
  if (args.k_largest && std::ssize(objects) > *args.k_largest) {
    std::ranges::stable_sort(objects, std::greater(), [](const Object* object) { return object->volume(); });
    objects.resize(*args.k_largest);
  }
  return objects[random.below(static_cast<unsigned>(objects.size()))];
}

void run(const Sample<RandomObjectBboxArgs>& sample) {
  const SampleView& mask = sample.in[0];
  const RandomObjectBboxArgs& args = sample.args;
  const int background = background_of(args);
  Object all{background, {}, mask.shape};
  all.start.resize(mask.ndim(), 0);
  const Object* drawn = &all;
  RandomStream random(sample.random);
  std::vector<Object> objects;
  if (random.next() * 0x1p-32 < args.foreground_prob) {
    objects = find_objects(mask, background);
    std::vector<Candidates> found = candidates(objects, args, background);
    if (!found.empty()) drawn = choose(found, args, random);
  }
  const bool one_output = args.format == "box";
  int* start = sample.out[0].as<int>();
  int* end = one_output ? start + mask.ndim() : sample.out[1].as<int>();
  for (int d = 0; d < mask.ndim(); d++) {
    start[d] = static_cast<int>(drawn->start[d]);
    end[d] = static_cast<int>(drawn->end[d] - (args.format == "anchor_shape" ? drawn->start[d] : 0));
  }
  if (args.output_class) *sample.out.back().as<int>() = drawn->label;
}

void infer(Infer<RandomObjectBboxArgs>& call) {
  const RandomObjectBboxArgs& args = call.args;
  const Meta& in = call.in[0];
  if (is_float(in.dtype)) fail(ErrorKind::runtime, "expected masks of integers, got ", in.dtype);
  if (in.ndim < 1) fail(ErrorKind::runtime, "expected masks of at least one axis, got single numbers");
  if (args.format != "anchor_shape" && args.format != "start_end" && args.format != "box")
    fail(ErrorKind::runtime, "expected \"anchor_shape\", \"start_end\" or \"box\" for \"format\", got \"", args.format,
         '"');
  if (args.k_largest.value_or(1) < 1)
    fail(ErrorKind::runtime, "expected \"k_largest\" of at least 1, got ", *args.k_largest);
  const bool classes =
      args.classes || args.class_weights || call.call.per_sample("classes") || call.call.per_sample("class_weights");
  if (args.ignore_class && (classes || args.output_class))
    fail(ErrorKind::runtime, "expected \"ignore_class\" without \"classes\", \"class_weights\" and \"output_class\"");
  for (Meta& out : call.out) {
    out.dtype = DType::int32;
    out.ndim = 1;
    out.layout = {};
  }
  if (args.output_class) call.out.back().ndim = 0;
}

void set_shape(Sample<RandomObjectBboxArgs>& sample) {
  const SampleView& mask = sample.in[0];
  check_classes(sample.args);
  for (int64_t extent : mask.shape)
    if (extent > INT32_MAX) fail(ErrorKind::runtime, "expected extents of 32 bits, got the shape ", mask.shape);
  if (const auto& threshold = sample.args.threshold;
      threshold && threshold->size() != 1 && threshold->size() != mask.ndim())
    fail(ErrorKind::runtime, "expected one \"threshold\", or one for each of ", mask.ndim(), " axes, got ",
         threshold->size());
  for (SampleView& out : sample.out) out.shape = {mask.ndim()};
  if (sample.args.format == "box") sample.out[0].shape = {2 * mask.ndim()};
  if (sample.args.output_class) sample.out.back().shape = {};
}

}  // namespace

AVIDA_OP_IN(segmentation, random_object_bbox, RandomObjectBboxArgs) {
  using Args = RandomObjectBboxArgs;
  op.doc(
        "Draws an object of a mask, elements of one label that touch each other along an axis, and gives the box "
        "around "
        "it; the whole mask where there is none.")
      .input("input", "Masks of integer labels, of any rank.")
      .arg("background", &Args::background,
           "The label of what is no object; by default 0, or one below all `classes` where 0 is one of them.")
      .arg("cache_objects", &Args::cache_objects,
           "Accepted, without effect: finding objects takes no longer than recognising a mask would.", fixed)
      .arg("class_weights", &Args::class_weights,
           "How likely each of `classes` is, or, where these are not given, each label from 0 except the background.")
      .arg("classes", &Args::classes, "The labels to draw from; by default all that are not the background.")
      .arg("foreground_prob", &Args::foreground_prob,
           "How likely an object is drawn; otherwise the box is that of the whole mask.")
      .arg("format", &Args::format,
           "\"anchor_shape\" gives start and extents, \"start_end\" start and end, \"box\" start and end as one.")
      .arg("ignore_class", &Args::ignore_class,
           "Draw from the objects of all classes alike; else a class is drawn first.", fixed)
      .arg("k_largest", &Args::k_largest, "Draw from this many objects with the largest boxes.", fixed)
      .arg("output_class", &Args::output_class, "A last output is the drawn object's label.", fixed)
      .arg("threshold", &Args::threshold,
           "Boxes that are smaller than this along any axis are not drawn: one number for all, or one for each.")
      .example("start, shape = avida.segmentation.random_object_bbox(np.int32([[0, 1, 1], [0, 0, 0], [2, 0, 0]]))")
      .random()
      .outputs_from([](const Args& args) { return (args.format == "box" ? 1 : 2) + args.output_class; })
      .infer(infer)
      .each_sample(set_shape, run)
      .cost(10);
}

}  // namespace avida::ops
