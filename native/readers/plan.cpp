#include "readers/plan.h"

#include <algorithm>
#include <optional>

#include "readers/permutation.h"

namespace avida {
namespace {

// All shards must deal alike, whatever seeds their users give them.
constexpr uint64_t kDealingKey = 0x5EED0FDEA1;

int64_t parts(int64_t n, int64_t size) { return (n + size - 1) / size; }

// The samples of one pass, by position.
class Pass {
 public:
  Pass(const Plan& plan, int64_t pass, int64_t first, int64_t size) : first_(first), size_(size) {
    if (plan.shuffle == Plan::Shuffle::all) deal_.emplace(plan.samples, plan.seed, pass);
    if (plan.shuffle != Plan::Shuffle::shard) return;
    order_.emplace(size, plan.seed, pass);
    if (plan.shards > 1) deal_.emplace(plan.samples, kDealingKey, 0);
  }
  int64_t operator()(int64_t position) const {
    int64_t i = std::min(position, size_ - 1);
    if (order_) i = (*order_)(i);
    return deal_ ? (*deal_)(first_ + i) : first_ + i;
  }

 private:
  int64_t first_, size_;
  std::optional<Permutation> order_, deal_;
};

}  // namespace

int64_t Plan::first_of(int64_t shard) const {
  return static_cast<int64_t>(static_cast<__int128>(samples) * shard / shards);
}

int64_t Plan::size_of(int64_t pass) const {
  int at = shard_of(pass);
  return first_of(at + 1) - first_of(at);
}

int64_t Plan::padded_samples() const { return pad ? parts(samples, shards) * shards : samples; }

int64_t Plan::steps(int64_t epoch, int64_t batch_size) const {
  return parts(pad ? parts(samples, shards) : size_of(epoch), batch_size);
}

std::vector<SampleId> Plan::batch(const Cursor& at, int64_t batch_size) const {
  std::vector<SampleId> ids;
  int64_t pass = at.pass, position = at.position;
  while (static_cast<int64_t>(ids.size()) < batch_size) {
    int64_t size = size_of(pass), missing = batch_size - static_cast<int64_t>(ids.size());
    int64_t count = pad ? missing : std::min(missing, size - position);
    Pass order(*this, pass, first_of(shard_of(pass)), size);
    for (int64_t i = 0; i < count; i++) ids.push_back({order(position + i), pass});
    pass++;
    position = 0;
  }
  return ids;
}

Cursor Plan::move(Cursor at, int64_t count) const {
  at.position += count;
  for (int64_t size; !pad && at.position >= (size = size_of(at.pass)); at.pass++) at.position -= size;
  return at;
}

Cursor Plan::after(const Cursor& at, int64_t batch_size) const {
  if (at.step + 1 >= steps(at.epoch, batch_size)) return next_epoch(at, batch_size);
  Cursor next = move(at, batch_size);
  next.step++;
  return next;
}

Cursor Plan::next_epoch(const Cursor& at, int64_t batch_size) const {
  Cursor next = move(at, std::max<int64_t>(1, steps(at.epoch, batch_size) - at.step) * batch_size);
  if (pad) next = {0, 0, at.epoch + 1, 0};
  next.epoch = at.epoch + 1;
  next.step = 0;
  return next;
}

}  // namespace avida
