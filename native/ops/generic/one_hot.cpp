#include "ops/generic/one_hot.h"

#include <algorithm>
#include <cstring>

#include "loops/items/each_item.h"
#include "loops/moving/convert_item.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct OneHotArgs {
  std::optional<int> axis;
  std::optional<std::string> axis_name;
  DType dtype = DType::float32;
  int num_classes = 0;
  float off_value = 0, on_value = 1;
};

// Samples of one element count as numbers without axes, unless the user gives the position of the new axis.
bool all_single(const Run& run) {
  const ShapeList& shapes = run.in[0]->shapes;
  if (shapes.ndim() == 0) return true;
  for (int i = 0; i < shapes.samples(); i++)
    if (volume(shapes.dims(i)) != 1) return false;
  return shapes.samples() > 0;
}

Layout layout_with(const OneHotArgs& args, const Layout& layout, int ndim, int axis) {
  if (!args.axis_name) return {};
  if (layout.size() != ndim) refuse("axis_name needs an input with a layout, to which the letter is added");
  std::string letters(layout.view());
  letters.insert(axis, *args.axis_name);
  return Layout(letters);
}

void infer(Infer<OneHotArgs>& call) {
  const OneHotArgs& args = call.args;
  const Meta& in = call.in[0];
  Meta& out = call.out[0];
  if (args.num_classes < 0) refuse("num_classes must not be negative, got ", args.num_classes);
  int axis = args.axis.value_or(-1);
  if (axis < -1 || axis > in.ndim) refuse("expected an axis from -1 to ", in.ndim, ", got ", axis);
  if (args.axis_name && args.axis_name->size() != 1)
    refuse("expected one letter as axis_name, got \"", *args.axis_name, '"');
  out.dtype = args.dtype;
  bool settled = args.axis || in.ndim == 0;
  out.ndim = settled ? in.ndim + 1 : -1;
  out.layout = settled ? layout_with(args, in.layout, in.ndim, axis < 0 ? in.ndim : axis) : Layout();
}

// A number as an element of the output, in the lowest bits.
uint64_t element_bits(DType dtype, float number) {
  uint64_t bits = 0;
  with_dtype(dtype, [&](auto type) {
    const auto element = fill_element<typename decltype(type)::type>(number);
    std::memcpy(&bits, &element, sizeof(element));
  });
  return bits;
}

// Rows of the output: all entries off, then some on.
template <class In, class Bits>
void make_rows(const typename OneHot<In, Bits>::Params& params, int64_t begin, int64_t end) {
  const int64_t row = params.inner * params.classes;
  std::fill(params.out + begin * row, params.out + end * row, params.off);
  for (int64_t r = begin; r < end; r++)
    for (int64_t i = 0; i < params.inner; i++) {
      int64_t at = class_of(params.in[r * params.inner + i], params.classes);
      if (at >= 0) params.out[r * row + at * params.inner + i] = params.on;
    }
}

std::vector<Data> run_one_hot(const Run& run) {
  const auto& args = *static_cast<const OneHotArgs*>(run.args.at(0));
  const Data& data = *run.in[0];
  bool single = !args.axis && all_single(run);
  int ndim = single ? 0 : data.shapes.ndim();
  int axis = args.axis.value_or(-1) < 0 ? ndim : *args.axis;
  Meta meta = run.out[0];
  meta.ndim = ndim + 1;
  meta.layout = layout_with(args, single ? Layout() : data.layout, ndim, axis);
  Run settled = run;
  settled.out = {&meta, 1};
  const uint64_t on = element_bits(meta.dtype, args.on_value), off = element_bits(meta.dtype, args.off_value);

  SampleLoop loop;
  loop.shape = [&](SampleWork& work) {
    Shape& out = work.out[0].shape;
    out = single ? Shape() : work.in[0].shape;
    out.insert(axis, args.num_classes);
  };
  // A row is one index of the axes before the new one.
  loop.rows = [&](const SampleWork& work) { return volume(work.out[0].shape.span().first(axis)); };
  loop.body = [&](const SampleWork& work) {
    int64_t inner = volume(work.out[0].shape.span().subspan(axis + 1)), row = inner * args.num_classes;
    with_size_of(work.out[0].dtype, [&](auto type) {
      using Bits = typename decltype(type)::type;
      with_dtype(work.in[0].dtype, [&](auto in) {
        using In = typename decltype(in)::type;
        const typename OneHot<In, Bits>::Params params{work.out[0].as<Bits>(), work.in[0].as<In>(),
                                                       args.num_classes,       inner,
                                                       static_cast<Bits>(on),  static_cast<Bits>(off)};
        each_item<OneHot<In, Bits>>(work, work.begin * row, work.end * row, params,
                                    [&] { make_rows<In, Bits>(params, work.begin, work.end); });
      });
    });
  };
  return run_samples(settled, loop);
}

}  // namespace

AVIDA_OP(one_hot, OneHotArgs) {
  op.doc("Encodes class indices as one-hot vectors along a new axis.")
      .input("input",
             "The class indices. Fractions are dropped; an index outside of the classes leaves all entries off.")
      .arg("axis", &OneHotArgs::axis,
           "The position of the new axis; -1 puts it last. When not given it comes last, and samples of one element "
           "count as scalars.",
           fixed)
      .arg("axis_name", &OneHotArgs::axis_name, "The letter of the new axis in the layout; without it there is none.")
      .arg("dtype", &OneHotArgs::dtype, "The element type of the result.")
      .arg("num_classes", &OneHotArgs::num_classes, "The number of classes, the extent of the new axis.", fixed)
      .arg("off_value", &OneHotArgs::off_value, "The value of the other entries.", fixed | takes_nan)
      .arg("on_value", &OneHotArgs::on_value, "The value of the entry of the class.", fixed | takes_nan)
      .example("avida.one_hot(np.array([2, 0]), num_classes=3)")
      .infer(infer)
      .custom(run_one_hot)
      .on_gpu();
}

}  // namespace avida::ops
