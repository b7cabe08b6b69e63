#include "ops/paste/multi_paste.h"

#include <algorithm>
#include <cmath>

#include "core/rows.h"
#include "loops/moving/convert_run.h"
#include "loops/moving/launch_convert.h"
#include "operator/declare.h"
#include "operator/launches.h"

namespace avida::ops {

// A pair of numbers (H, W) for each pasted region.
template <class T>
struct Pairs {
  std::vector<T> numbers;
};

}  // namespace avida::ops

namespace avida::arg {

template <class T>
struct Traits<ops::Pairs<T>> {
  static constexpr ArgType type = std::is_floating_point_v<T> ? ArgType::reals : ArgType::integers;
  static void assign(ops::Pairs<T>&, const ArgValue&) {
    refuse("expected a list of pairs of numbers, got one without pairs");
  }
  static void from_sample(ops::Pairs<T>& member, const void* data, const Shape& shape, DType dtype) {
    if (shape.size() != 2 || shape[1] != 2) refuse("expected a pair of numbers for each region, got the shape ", shape);
    member.numbers.resize(static_cast<size_t>(volume(shape)));
    for (int64_t i = 0; i < volume(shape); i++) member.numbers[i] = element<T>(data, dtype, i);
  }
  static std::string text(const ops::Pairs<T>&) { return ""; }
};

}  // namespace avida::arg

namespace avida::ops {
namespace {

struct MultiPasteArgs {
  std::optional<DType> dtype;
  std::optional<Pairs<int>> in_anchors;
  std::optional<Pairs<float>> in_anchors_rel;
  std::optional<std::vector<int>> in_ids;
  std::optional<Pairs<int>> out_anchors;
  std::optional<Pairs<float>> out_anchors_rel;
  std::optional<Vec<int>> output_size;
  std::optional<Pairs<int>> shapes;
  std::optional<Pairs<float>> shapes_rel;
};

struct Region {
  SampleView from;
  int64_t in_start[2], out_start[2], extent[2];  // H, W
};

// Frames, height, width, channels, of HWC and FHWC.
struct Extents {
  int64_t frames, height, width, channels;
  explicit Extents(const Shape& shape)
      : frames(shape.size() == 4 ? shape[0] : 1),
        height(shape[shape.size() - 3]),
        width(shape[shape.size() - 2]),
        channels(shape[shape.size() - 1]) {}
  int64_t operator[](int axis) const { return axis == 0 ? height : width; }
};

// The samples that are pasted onto a canvas: those of the inputs, or those that in_ids lists.
std::vector<SampleView> pasted(const Run& run, const SampleWork& work, const MultiPasteArgs& args) {
  if (!args.in_ids) return {work.in.begin(), work.in.end()};
  if (run.in.size() != 1) refuse("expected one input, since there are \"in_ids\", got ", run.in.size());
  std::vector<SampleView> chosen, views(1);
  for (int id : *args.in_ids) {
    if (id < 0 || id >= run.samples) refuse("expected \"in_ids\" from 0 to ", run.samples - 1, ", got ", id);
    input_views(run, id, views);
    chosen.push_back(views[0]);
  }
  return chosen;
}

// A number for an axis: absolute, or a fraction of `of`.
int64_t placed(const std::optional<Pairs<int>>& absolute, const std::optional<Pairs<float>>& share, size_t at,
               int64_t of, float (*round)(float), int64_t otherwise) {
  if (absolute) return absolute->numbers[at];
  if (share) return truncate<int64_t>(round(share->numbers[at] * static_cast<float>(of)));
  return otherwise;
}

template <class T>
void check_count(const char* name, const std::optional<Pairs<T>>& pairs, size_t regions) {
  if (pairs && pairs->numbers.size() != 2 * regions)
    refuse("expected ", regions, " pairs in \"", name, "\", got ", pairs->numbers.size() / 2);
}

std::vector<Region> regions_of(const std::vector<SampleView>& sources, const MultiPasteArgs& args, const Extents& out) {
  check_count("in_anchors", args.in_anchors, sources.size());
  check_count("in_anchors_rel", args.in_anchors_rel, sources.size());
  check_count("out_anchors", args.out_anchors, sources.size());
  check_count("out_anchors_rel", args.out_anchors_rel, sources.size());
  check_count("shapes", args.shapes, sources.size());
  check_count("shapes_rel", args.shapes_rel, sources.size());
  std::vector<Region> regions;
  for (size_t k = 0; k < sources.size(); k++) {
    Region region{.from = sources[k]};
    const Extents in(region.from.shape);
    if (in.channels != out.channels || in.frames != out.frames)
      refuse("expected ", out.channels, " channels and ", out.frames, " frames in all inputs, got ", in.channels,
             " and ", in.frames);
    for (int d = 0; d < 2; d++) {
      const size_t at = 2 * k + d;
      int64_t& start = region.in_start[d] = placed(args.in_anchors, args.in_anchors_rel, at, in[d], std::floor, 0);
      int64_t& extent = region.extent[d] = placed(args.shapes, args.shapes_rel, at, in[d], std::ceil, in[d] - start);
      int64_t& to = region.out_start[d] = placed(args.out_anchors, args.out_anchors_rel, at, out[d], std::floor, 0);
      if (start < 0 || start > in[d] || extent < 0 || extent > in[d] - start)
        refuse("expected region ", k, " inside of its input, got start ", start, " and extent ", extent, " of ", in[d],
               " along ", "HW"[d]);
      if (to < 0 || to > out[d] || extent > out[d] - to)
        refuse("expected region ", k, " inside of the output, got start ", to, " and extent ", extent, " of ", out[d],
               " along ", "HW"[d]);
    }
    regions.push_back(region);
  }
  return regions;
}

// The canvas that the inputs agree on.
Shape common_shape(const Run& run) {
  std::vector<SampleView> views(run.in.size());
  std::optional<Shape> common;
  for (int i = 0; i < run.samples; i++) {
    input_views(run, i, views);
    for (const SampleView& view : views) {
      if (!common) common = view.shape;
      if (Extents a(*common), b(view.shape); a.height != b.height || a.width != b.width)
        refuse("expected \"output_size\", since the inputs have different shapes: ", *common, " and ", view.shape);
    }
  }
  return common ? *common : Shape{0, 0, 0};
}

// `common` is found for the first sample that needs it.
Shape canvas_shape(const Run& run, const SampleWork& work, const std::vector<SampleView>& sources,
                   std::optional<Shape>& common) {
  const auto& args = *static_cast<const MultiPasteArgs*>(work.args);
  Shape shape = sources.empty() ? work.in[0].shape : sources[0].shape;
  if (!args.output_size && !common) common = common_shape(run);
  if (args.output_size && args.output_size->size() < 2)
    refuse("expected two numbers for \"output_size\", got ", args.output_size->size());
  for (int d = 0; d < 2; d++) {
    const int64_t extent = args.output_size ? (*args.output_size)[d] : Extents(*common)[d];
    if (extent < 0) refuse("expected \"output_size\" of at least 0, got ", extent);
    shape[shape.size() - 3 + d] = extent;
  }
  return shape;
}

// Pixels of a row of the canvas that come from one region, or from none.
struct Piece {
  int64_t begin, end;
  const Region* region;
};

// Row y in pieces, from left to right. Each pixel belongs to the last region that covers it.
std::vector<Piece> pieces_of(int64_t y, int64_t width, std::span<const Region> regions) {
  std::vector<Piece> pieces{{0, width, nullptr}}, cut;
  for (const Region& region : regions) {
    if (y < region.out_start[0] || y >= region.out_start[0] + region.extent[0]) continue;
    const int64_t begin = region.out_start[1], end = begin + region.extent[1];
    if (begin == end) continue;
    cut.clear();
    for (const Piece& piece : pieces) {
      if (piece.begin < begin) cut.push_back({piece.begin, std::min(piece.end, begin), piece.region});
      if (piece.begin <= begin && begin < piece.end) cut.push_back({begin, end, &region});
      if (end < piece.end) cut.push_back({std::max(piece.begin, end), piece.end, piece.region});
    }
    std::swap(pieces, cut);
  }
  return pieces;
}

// The next row after y that may have other pieces.
int64_t next_change(int64_t y, int64_t height, std::span<const Region> regions) {
  int64_t next = height;
  for (const Region& region : regions)
    for (int64_t edge : {region.out_start[0], region.out_start[0] + region.extent[0]})
      if (edge > y) next = std::min(next, edge);
  return next;
}

// Rows of the canvas, each pixel written once. Regions are converted to its element type.
void make_rows(const SampleWork& work, std::span<const Region> regions) {
  const SampleView& out = work.out[0];
  const Extents canvas(out.shape);
  const int64_t pixel = canvas.channels * size_of(out.dtype);
  const std::vector<char> zeros(canvas.width * pixel);
  const ConvertRun convert = rounding_run(out.dtype, work.in[0].dtype);
  std::vector<Piece> pieces;
  for (int64_t row = work.begin, change = row; row < work.end; row++) {
    const int64_t frame = row / canvas.height, y = row % canvas.height;
    if (row == change) {
      pieces = pieces_of(y, canvas.width, regions);
      change += next_change(y, canvas.height, regions) - y;
    }
    char* to = out.as<char>() + row * canvas.width * pixel;
    for (const auto& [begin, end, region] : pieces) {
      if (!region) {
        copy_row(to + begin * pixel, zeros.data(), (end - begin) * pixel);
        continue;
      }
      const Extents in(region->from.shape);
      const int64_t in_y = frame * in.height + region->in_start[0] + y - region->out_start[0];
      const int64_t in_x = region->in_start[1] + begin - region->out_start[1];
      const int64_t from = (in_y * in.width + in_x) * in.channels;
      convert(to + begin * pixel, region->from.as<char>() + from * size_of(region->from.dtype),
              (end - begin) * in.channels);
    }
  }
}

// On a GPU, elements are moved in the input's type, and converted afterwards.
void launch(Launches& launches, const SampleView& out, std::span<const Region> regions) {
  const Extents canvas(out.shape);
  const DType dtype = regions.empty() ? out.dtype : regions[0].from.dtype;
  const int64_t pixel = canvas.channels * size_of(dtype), frame_bytes = canvas.height * canvas.width * pixel;
  std::vector<PastedRegion> pasted;
  for (const Region& region : regions) {
    const Extents in(region.from.shape);
    const int64_t row = in.width * pixel;
    const auto* image = region.from.as<uint8_t>();
    pasted.push_back({image, image + region.from.bytes(), image + region.in_start[0] * row + region.in_start[1] * pixel,
                      row, in.height * row, region.out_start[0], region.out_start[1] * pixel, region.extent[0],
                      region.extent[1] * pixel});
  }
  auto* to = static_cast<uint8_t*>(dtype == out.dtype ? out.data : launches.scratch(canvas.frames * frame_bytes));
  MultiPaste::Params params{to, launches.upload(std::span<const PastedRegion>(pasted)), static_cast<int>(pasted.size()),
                            0, canvas.width * pixel};
  for (; params.frame < canvas.frames; params.frame++, params.out += frame_bytes)
    launches.add<MultiPaste>(0, canvas.height * params.row_items(), params);
  if (dtype == out.dtype) return;
  launches.then();
  launch_convert(launches, out.data, out.dtype, to, dtype, out.elements());
}

std::vector<Data> multi_paste(const Run& run) {
  SampleLoop loop;
  std::optional<Shape> common;
  std::vector<std::vector<Region>> regions(run.samples);
  loop.shape = [&](SampleWork& work) {
    const auto& args = *static_cast<const MultiPasteArgs*>(work.args);
    const std::vector<SampleView> sources = pasted(run, work, args);
    work.out[0].shape = canvas_shape(run, work, sources, common);
    regions[work.index] = regions_of(sources, args, Extents(work.out[0].shape));
  };
  loop.rows = [](const SampleWork& work) {
    const Extents canvas(work.out[0].shape);
    return canvas.frames * canvas.height;
  };
  loop.body = [&](const SampleWork& work) {
    if (work.launches)
      launch(*work.launches, work.out[0], regions[work.index]);
    else
      make_rows(work, regions[work.index]);
  };
  return run_samples(run, loop);
}

void infer(Infer<MultiPasteArgs>& call) {
  for (auto [absolute, share] : {std::pair("in_anchors", "in_anchors_rel"), std::pair("out_anchors", "out_anchors_rel"),
                                 std::pair("shapes", "shapes_rel")})
    if (call.call.per_sample(absolute) && call.call.per_sample(share))
      refuse("expected \"", absolute, "\" or \"", share, "\", got both");
  for (const Meta& in : call.in)
    if (in.dtype != call.in[0].dtype || in.ndim != call.in[0].ndim)
      refuse("expected all inputs of one type and rank, got ", call.in[0].dtype, " of rank ", call.in[0].ndim, " and ",
             in.dtype, " of rank ", in.ndim);
  if (call.in[0].ndim != 3 && call.in[0].ndim != 4)
    fail(ErrorKind::value, "expected images HWC or videos FHWC, got a rank of ", call.in[0].ndim);
  call.out[0].dtype = call.args.dtype.value_or(call.in[0].dtype);
  call.out[0].layout = call.in[0].ndim == 3 ? "HWC" : "FHWC";
}

}  // namespace

AVIDA_OP(multi_paste, MultiPasteArgs) {
  using Args = MultiPasteArgs;
  op.doc(
        "Pastes regions of several images onto one black canvas. "
        "The images are the samples of all inputs with one index, or samples of one input that `in_ids` lists.")
      .input("input_0", "The images.", {"HWC", "FHWC"})
      .more_inputs("inputs", "More images: the samples of all inputs with one index are pasted onto one canvas.")
      .arg("dtype", &Args::dtype, "The element type of the output; by default the input's.")
      .arg("in_anchors", &Args::in_anchors, "The start of each region in its image: a pair H, W for each region.")
      .arg("in_anchors_rel", &Args::in_anchors_rel, "`in_anchors` as fractions of the image's extents.")
      .arg("in_ids", &Args::in_ids, "The indices of the samples of the one input that are pasted onto each canvas.")
      .arg("out_anchors", &Args::out_anchors, "The start of each region on the canvas: a pair H, W for each region.")
      .arg("out_anchors_rel", &Args::out_anchors_rel, "`out_anchors` as fractions of the canvas's extents.")
      .arg("output_size", &Args::output_size,
           "Height and width of the canvas; by default those of the images, which have to be equal.")
      .arg("shapes", &Args::shapes, "The extents of each region; by default regions extend to the end of their image.")
      .arg("shapes_rel", &Args::shapes_rel, "`shapes` as fractions of the image's extents.")
      .example("avida.multi_paste(image, image, output_size=[8, 12], out_anchors=[[0, 0], [4, 6]])")
      .infer(infer)
      .custom(multi_paste)
      .on_gpu();
}

}  // namespace avida::ops
