// scenes.random_crop: where a window of random place begins, by what it shows of a label map.
#include <unordered_map>

#include "ops/scenes/moves.h"

namespace avida::ops {
namespace {

struct RandomCropArgs {
  int attempts = 10, ignore = INT32_MIN;
  float most_of_one_class = 1;
  Vec<int> size;
};

class RandomCropPlan {
 public:
  explicit RandomCropPlan(const Sample<RandomCropArgs>& sample) {
    const RandomCropArgs& args = sample.args;
    if (args.size.size() != 2) refuse("expected height and width as \"size\", got ", args.size.size(), " numbers");
    const SampleView& map = sample.in[1];
    if (map.data && (map.ndim() < 2 || map.ndim() > 3 || (map.ndim() == 3 && map.shape[2] < 1) ||
                     map.shape[0] != sample.in[0].as<int32_t>()[0] || map.shape[1] != sample.in[0].as<int32_t>()[1]))
      refuse("expected a label map of the image's size, got the shape ", map.shape);
    RandomStream random(sample.random);
    for (int attempt = 0; attempt < std::max(args.attempts, 1); attempt++) {
      for (int axis : {0, 1}) {
        if (args.size[axis] < 1) refuse("expected a \"size\" of at least 1, got ", args.size[axis]);
        const int64_t extent = sample.in[0].as<int32_t>()[axis], room = extent - args.size[axis];
        start_[axis] = room > 0 ? random.below(static_cast<unsigned>(room + 1)) : 0;
        end_[axis] = std::min<int64_t>(start_[axis] + args.size[axis], extent);
      }
      if (!map.data || is_mixed(map, args)) return;
    }
  }

  Shape shape() const { return {2}; }
  void run(const Sample<RandomCropArgs>& sample) const {
    for (int axis : {0, 1}) sample.out[0].as<int32_t>()[axis] = static_cast<int32_t>(start_[axis]);
  }

 private:
  // Whether no class has more than its share of the pixels that count.
  bool is_mixed(const SampleView& map, const RandomCropArgs& args) const {
    std::unordered_map<int32_t, int64_t> counts;
    const auto* labels = map.as<int32_t>();
    const int64_t step = map.ndim() > 2 ? map.shape[2] : 1, width = map.shape[1];
    for (int64_t y = start_[0]; y < end_[0]; y++) {
      const int32_t* row = labels + y * width * step;
      for (int64_t x = start_[1], first = x; x < end_[1]; x++)
        if (x + 1 == end_[1] || row[(x + 1) * step] != row[x * step]) {
          counts[row[x * step]] += x + 1 - first;
          first = x + 1;
        }
    }
    counts.erase(args.ignore);
    int64_t all = 0, most = 0;
    for (auto [label, pixels] : counts) all += pixels, most = std::max(most, pixels);
    return all > 0 &&
           static_cast<double>(most) <= static_cast<double>(args.most_of_one_class) * static_cast<double>(all);
  }

  int64_t start_[2] = {}, end_[2] = {};
};

}  // namespace

AVIDA_OP_IN(scenes, random_crop, RandomCropArgs) {
  using Args = RandomCropArgs;
  op.doc("Where a random window begins.")
      .hidden()
      .input("extents", "Height and width of the images.")
      .optional_input("mask", "Label maps.")
      .arg("attempts", &Args::attempts, "How many windows are tried.", fixed)
      .arg("ignore", &Args::ignore, "The label of pixels that do not count.", fixed)
      .arg("most_of_one_class", &Args::most_of_one_class, "The largest share of a window that a class may have.")
      .arg("size", &Args::size, "Height and width of the window.", required)
      .random()
      .infer([](Infer<Args>& call) {
        if (call.in[0].dtype != DType::int32) refuse("expected extents of int32, got ", call.in[0].dtype);
        if (call.in[1].dtype != DType::none && call.in[1].dtype != DType::int32)
          refuse("expected label maps of int32, got ", call.in[1].dtype);
      })
      .on_cpu()
      .each_sample<RandomCropPlan>();
}

}  // namespace avida::ops
