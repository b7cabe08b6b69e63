#include "readers/state.h"

namespace avida {

ReaderState ReaderState::moved_to(int64_t later_epoch, int64_t later_done, int64_t size, bool wraps) const {
  ReaderState state = *this;
  state.epoch = later_epoch;
  state.done = later_done;
  state.batch_size = size;
  state.own_order = 0;
  if (!wraps) {
    std::erase_if(state.history, [&](const Phase& phase) { return phase.epoch != later_epoch; });
    state.base = later_epoch;
    state.taken = later_done;
    state.stretches.clear();
  } else if (stretches.empty() || stretches.back().batch_size != size) {
    state.stretches.push_back({epoch, done, size});
  }
  return state;
}

ReaderState ReaderState::divided_by(int number_of_shards) const {
  if (number_of_shards == shards) return *this;
  ReaderState state = *this;
  state.history.push_back(*this);
  state.shards = number_of_shards;
  state.done = state.taken = 0;
  state.stretches.clear();
  return state;
}

}  // namespace avida
