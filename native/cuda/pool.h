// Blocks of a GPU's memory that are kept and reused, by the stream whose work had them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace avida {

class GpuPool {
 public:
  GpuPool(std::function<void*(size_t, void* stream)> obtain, std::function<void(void*)> release)
      : obtain_(std::move(obtain)), release_(std::move(release)) {}

  struct Taken {
    void* memory;  // null: there is not enough
    size_t bytes;
  };
  Taken take(size_t bytes, void* stream);
  void give(Taken block, void* stream) noexcept;
  int64_t in_use() const;
  int64_t kept() const;
  // How many bytes may be kept; what exceeds it is released.
  int64_t budget() const;
  void set_budget(int64_t bytes);

 private:
  static size_t rounded(size_t bytes);
  void keep_at_most(int64_t bytes);

  mutable std::mutex mutex_;
  std::map<std::pair<void*, size_t>, std::vector<void*>> free_;
  int64_t in_use_ = 0, kept_ = 0, budget_ = INT64_MAX;
  const std::function<void*(size_t, void*)> obtain_;
  const std::function<void(void*)> release_;
};

}  // namespace avida
