#include "runtime/value.h"

#include "runtime/executor.h"

namespace avida {

Value::Value(Data data, bool is_batch)
    : meta_(Meta::unknown(is_batch, data.size())), data_(std::move(data)), state_(State::ready) {}

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

// Dropping the end of a long chain of deferred tasks would recurse once per link; this list unrolls it.
Task::~Task() {
  static thread_local std::vector<ValuePtr>* dropping = nullptr;
  if (dropping) {
    for (auto& input : inputs) dropping->push_back(std::move(input));
    return;
  }
  std::vector<ValuePtr> list = std::move(inputs);
  dropping = &list;
  while (!list.empty()) {
    ValuePtr value = std::move(list.back());
    list.pop_back();
  }
  dropping = nullptr;
}

ValuePtr Task::promise(const Meta& meta) {
  auto value = std::make_shared<Value>(meta);
  value->producer_ = shared_from_this();
  outputs_.push_back(value);
  return value;
}

}  // namespace avida
