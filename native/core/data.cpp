#include "core/data.h"

namespace avida {

bool Data::contiguous() const {
  if (owners.size() != 1 || !shapes.uniform()) return false;
  if (size() == 0) return true;
  int64_t step = bytes(0);
  for (int i = 1; i < size(); i++)
    if (static_cast<char*>(samples[i]) != static_cast<char*>(samples[0]) + step * i) return false;
  return true;
}

Data Data::sample(int i) const { return select({i}); }

Data Data::select(const std::vector<int>& indices) const {
  Data out;
  out.dtype = dtype;
  out.layout = layout;
  out.device = device;
  out.shapes = ShapeList(static_cast<int>(indices.size()), shapes.ndim());
  if (owners.size() == 1) out.owners = owners;
  std::vector<std::string> names;
  for (size_t k = 0; k < indices.size(); k++) {
    int i = indices[k];
    out.shapes.set(static_cast<int>(k), shapes[i]);
    out.samples.push_back(samples[i]);
    if (owners.size() != 1) out.owners.push_back(owners[i]);
    if (sources) names.push_back((*sources)[i]);
  }
  if (sources) out.sources = std::make_shared<const std::vector<std::string>>(std::move(names));
  return out;
}

}  // namespace avida
