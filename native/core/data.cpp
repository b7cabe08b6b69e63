#include "core/data.h"

#include <algorithm>

namespace avida {

int64_t Data::bytes() const {
  int64_t sum = 0;
  for (int i = 0; i < size(); i++) sum += bytes(i);
  return sum;
}

bool Data::contiguous() const {
  if (!owners_.empty() || !shapes.uniform()) return false;
  for (int i = 1; i < size(); i++) {
    if (samples_.empty()) return step_ == bytes(0);
    if (at(i) != static_cast<char*>(at(0)) + bytes(0) * i) return false;
  }
  return true;
}

void Data::place(Block block, void* first, int64_t step) {
  block_ = std::move(block);
  first_ = static_cast<char*>(first);
  step_ = step;
}

void Data::place(Block block, std::vector<void*> samples) {
  block_ = std::move(block);
  samples_ = std::move(samples);
}

void Data::place(std::vector<Block> owners, std::vector<void*> samples) {
  owners_ = std::move(owners);
  samples_ = std::move(samples);
}

void Data::place_like(const Data& other) {
  block_ = other.block_;
  first_ = other.first_;
  step_ = other.step_;
  samples_ = other.samples_;
  owners_ = other.owners_;
  read_only = other.read_only;
  stream = other.stream;
}

Data Data::select(const std::vector<int>& indices) const {
  Data out;
  out.dtype = dtype;
  out.layout = layout;
  out.device = device;
  out.read_only = read_only;
  out.stream = stream;
  int n = static_cast<int>(indices.size());
  for (int i : indices)
    if (i < 0 || i >= size()) refuse("expected samples from 0 to ", size() - 1, ", got ", i);
  out.shapes = ShapeList(n, shapes.ndim());
  std::vector<void*> samples;
  std::vector<Block> owners;
  std::vector<Origin> kept;
  for (int k = 0; k < n; k++) {
    int i = indices[k];
    out.shapes.set(k, shapes[i]);
    samples.push_back(at(i));
    if (!owners_.empty()) owners.push_back(owners_[i]);
    if (origins) kept.push_back((*origins)[i]);
  }
  if (n == 1)
    out.place(owner(indices[0]), samples[0], 0);
  else if (owners_.empty())
    out.place(block_, std::move(samples));
  else
    out.place(std::move(owners), std::move(samples));
  if (origins) out.origins = std::make_shared<const std::vector<Origin>>(std::move(kept));
  return out;
}

Writer::Writer(Block block) : block_(std::move(block)) {
  if (auto* deleter = std::get_deleter<BlockDeleter>(block_)) {
    deleter->exposed = true;
    deleter->writers++;
  }
}

Writer::~Writer() {
  if (auto* deleter = std::get_deleter<BlockDeleter>(block_)) deleter->writers--;
}

bool others_write(const Data& data) {
  return data.device.kind == Device::Kind::cpu && std::ranges::any_of(data.blocks(), [](const Block& block) {
           auto* deleter = std::get_deleter<BlockDeleter>(block);
           return deleter && (deleter->borrowed == Borrowed::to_write || deleter->writers > 0);
         });
}

bool exposed(const Data& data) {
  return std::ranges::any_of(data.blocks(), [](const Block& block) {
    auto* deleter = std::get_deleter<BlockDeleter>(block);
    return block && (!deleter || deleter->exposed);
  });
}

bool foreign(const Data& data) {
  return std::ranges::any_of(data.blocks(), [](const Block& block) {
    auto* deleter = std::get_deleter<BlockDeleter>(block);
    return block && (!deleter || deleter->borrowed != Borrowed::no);
  });
}

bool share_memory(const Data& a, const Data& b) {
  return std::ranges::any_of(a.blocks(), [&](const Block& one) {
    return std::ranges::any_of(
        b.blocks(), [&](const Block& other) { return one && !one.owner_before(other) && !other.owner_before(one); });
  });
}

}  // namespace avida
