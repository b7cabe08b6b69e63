#include "runtime/value.h"

#include <algorithm>
#include <iterator>

#include "runtime/executor.h"
#include "runtime/memory.h"

namespace avida {

Failure describe(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return {e.kind, e.message, {}};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::memory, "out of memory", {}};
  } catch (const std::exception& e) {
    return {ErrorKind::runtime, e.what(), {}};
  }
}

Value::Value(Data data, bool is_batch)
    : meta_(Meta::unknown(is_batch, data.size())), data_(std::move(data)), state_(State::ready) {}

Value::Value(const Meta& meta, std::shared_ptr<const Failure> failure)
    : meta_(meta), failure_(std::move(failure)), state_(State::failed) {}

// Nobody can ask for it any more.
Value::~Value() {
  if (producer_ && pending()) Executor::drop_if_dead(producer_);
}

Meta Value::meta() const {
  if (pending() || failure_) return meta_;
  return {meta_.is_batch, data_.size(), data_.dtype, data_.shapes.ndim(), data_.layout, data_.device};
}

const Data& Value::get(const std::function<void()>& interrupt) {
  if (pending()) Executor::wait(*this, interrupt);
  return ready();
}

const Data& Value::ready() const {
  if (failure_) throw FailureError(failure_);
  return data_;
}

// Dropping the end of a long chain of tasks would recurse once per link; this list unrolls it.
Task::~Task() {
  static thread_local std::vector<ValuePtr>* dropping = nullptr;
  bool chained = false;
  for (auto& input : inputs) chained |= input && input->pending();
  if (!chained) return;
  if (dropping) {
    for (auto& input : inputs) dropping->push_back(std::move(input));
    return;
  }
  std::vector<ValuePtr> list(std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end()));
  inputs.clear();
  dropping = &list;
  while (!list.empty()) {
    ValuePtr value = std::move(list.back());
    list.pop_back();
  }
  dropping = nullptr;
}

bool Task::keeps_borrowed() {
  bool remain = false;
  for (ValuePtr& input : inputs) {
    if (input->pending() || input->failed() || !others_write(input->ready())) continue;
    const Data& data = input->ready();
    if (data.bytes() > copies_up_to()) {
      remain = true;
      continue;
    }
    auto copied = std::make_shared<Value>(copy_of(data), input->meta().is_batch);
    copied->lineage = input->lineage;
    input = std::move(copied);
  }
  return remain;
}

// Whether an input is in the memory.
bool Task::reads(const Data& memory) const {
  return std::ranges::any_of(inputs, [&](auto& input) {
    return !input->pending() && !input->failed() && share_memory(input->ready(), memory);
  });
}

// Whether others have been able to write to an input.
bool Task::reads_exposed() const {
  return std::ranges::any_of(
      inputs, [](auto& input) { return !input->pending() && !input->failed() && exposed(input->ready()); });
}

std::vector<Data> Task::run_chain(std::span<Task* const>, std::span<const bool>) { return {}; }

ValuePtr Task::promise(const Meta& meta) {
  auto value = std::allocate_shared<Value>(PoolAllocator<Value>(), meta);
  value->producer_ = shared_from_this();
  outputs_.push_back(value);
  return value;
}

}  // namespace avida
