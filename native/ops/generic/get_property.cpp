#include <cstring>

#include "operator/declare.h"

namespace avida::ops {
namespace {

enum class Property { layout, source_info };
AVIDA_CHOICES(Property, "layout", "source_info")

struct GetPropertyArgs {
  Property key = Property::layout;
};

std::vector<Data> property(const Run& run) {
  bool layout = static_cast<const GetPropertyArgs*>(run.args.at(0))->key == Property::layout;
  const Data& data = *run.in[0];
  auto text = [&](int i) -> std::string_view {
    if (layout) return data.layout.view();
    return data.origins ? std::string_view((*data.origins)[run.index_in(0, i)].source) : std::string_view();
  };
  ShapeList shapes(run.samples, 1);
  for (int i = 0; i < run.samples; i++) shapes.set(i, {static_cast<int64_t>(text(i).size())});
  Data out = allocate_output(run, 0, shapes);
  for (int i = 0; i < run.samples; i++)
    if (!text(i).empty()) std::memcpy(out.at(i), text(i).data(), text(i).size());
  return {std::move(out)};
}

}  // namespace

AVIDA_OP(get_property, GetPropertyArgs) {
  op.doc("Returns a property of each sample as text, in bytes. Samples that have none give no bytes.")
      .input("input", "The samples to ask.")
      .arg("key", &GetPropertyArgs::key, "`\"layout\"`, or `\"source_info\"`: where the sample comes from.", required)
      .example("avida.get_property(image, key='layout')")
      .infer([](Infer<GetPropertyArgs>& call) {
        Meta& out = call.out[0];
        out.dtype = DType::uint8;
        out.ndim = 1;
        out.layout = Layout();
      })
      .takes_enums()
      .custom(property);
}

}  // namespace avida::ops
