// A cache of the last results of a costly function that is often called with the same arguments.
#pragma once
#include <array>
#include <memory>

namespace avida {

template <class Key, class Result, int size = 32>
class Recent {
 public:
  template <class Make>
  std::shared_ptr<const Result> find(const Key& key, Make&& make) {
    for (auto& entry : entries_)
      if (entry.result && entry.key == key) return entry.result;
    Entry& entry = entries_[next_];
    next_ = (next_ + 1) % size;
    entry = {key, std::make_shared<const Result>(make(key))};
    return entry.result;
  }

 private:
  struct Entry {
    Key key;
    std::shared_ptr<const Result> result;
  };
  std::array<Entry, size> entries_;
  int next_ = 0;
};

}  // namespace avida
