#include "readers/batch_reader.h"

#include <map>

#include "core/error.h"
#include "runtime/value.h"

namespace avida {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 40;  // per sample

constexpr int kWaiting = 32;  // threads that open and read samples, each of which may wait for a store

// A sample that exceeds any memory would make the layout of its batch overflow.
void check_size(const Meta& meta, const Source::Sample& sample, size_t output) {
  Shape shape = sample.shape(static_cast<int>(output));
  if (checked_volume(shape) > kMostBytes / size_of(meta.dtype))
    fail(ErrorKind::value, "a sample of the shape ", shape, " is larger than any memory");
}

}  // namespace

std::shared_ptr<ThreadPool> pool_for(const Source& source) {
  if (source.takes_long()) return std::make_shared<ThreadPool>(available_cpus());
  return source.is_local() ? nullptr : std::make_shared<ThreadPool>(kWaiting);
}

std::vector<Data> BatchReader::read() {
  const storage::Fetched fetched = fetch();
  while (true) {
    open(fetched);
    if (ids_.empty()) return {};
    std::vector<Data> outputs = allocate();
    if (fill(outputs)) return outputs;
  }
}

// What samples need is asked for together, apart from what goes through another cache.
storage::Fetched BatchReader::fetch() const {
  storage::Fetched fetched;
  if (source_.is_local()) return fetched;
  std::vector<SampleId> ids = ids_;
  if (blocks_) fetched = blocks_->take(batch_, ids);
  std::map<storage::CachePtr, storage::Needs> needs;
  for (const SampleId& id : ids) source_.name_needs(id.index, needs[source_.cache_of(id.index)]);
  for (const auto& [cache, of_cache] : needs) {
    const storage::ThroughCache through(cache);
    fetched.add(storage::Fetched(of_cache));
  }
  return fetched;
}

void BatchReader::open(const storage::Fetched& fetched) {
  samples_.clear();
  std::vector<Opened> opened = open_together(fetched);
  auto kept = ids_.begin();
  for (size_t i = 0; i < ids_.size(); i++) {
    auto sample = attempt(i, [&] { return opened.empty() ? open_sample(i, fetched) : opened[i].take(); });
    if (!sample) continue;
    samples_.push_back(std::move(*sample));
    *kept++ = ids_[i];
  }
  ids_.erase(kept, ids_.end());
}

std::unique_ptr<Source::Sample> BatchReader::open_sample(size_t i, const storage::Fetched& fetched) const {
  const storage::ThroughCache through(source_.cache_of(ids_[i].index));
  auto opened = source_.open(ids_[i].index, fetched);
  for (size_t k = 0; k < source_.outputs().size(); k++) check_size(source_.outputs()[k], *opened, k);
  return opened;
}

std::vector<BatchReader::Opened> BatchReader::open_together(const storage::Fetched& fetched) const {
  if (source_.is_local() || !pool_) return {};
  std::vector<Opened> opened(ids_.size());
  pool_->parallel_for(static_cast<int64_t>(ids_.size()), [&](int64_t i) {
    try {
      if (stop_ && *stop_) throw Stopped();
      opened[static_cast<size_t>(i)].sample = open_sample(static_cast<size_t>(i), fetched);
    } catch (...) {
      opened[static_cast<size_t>(i)].error = std::current_exception();
    }
  });
  return opened;
}

std::vector<Data> BatchReader::allocate() const {
  auto origins = std::make_shared<std::vector<Origin>>();
  for (const SampleId& id : ids_) origins->push_back(source_.origin(id));
  std::vector<Data> results;
  for (Meta meta : source_.outputs()) {
    int k = static_cast<int>(results.size()), n = static_cast<int>(ids_.size());
    meta.is_batch = is_batch_;
    meta.samples = n;
    ShapeList shapes(n, meta.ndim);
    for (int i = 0; i < n; i++) shapes.set(i, samples_[i]->shape(k));
    results.push_back(source_.allocate(meta, shapes));
    results.back().origins = origins;
  }
  return results;
}

// Returns whether all samples could be read. Otherwise the others were removed from the list, and the rest must be
// read again.
bool BatchReader::fill(std::vector<Data>& outputs) {
  std::vector<std::exception_ptr> errors(ids_.size());
  auto read = [&](size_t i) {
    const storage::ThroughCache through(source_.cache_of(ids_[i].index));
    try {
      if (stop_ && *stop_) throw Stopped();
      for (size_t k = 0; k < outputs.size(); k++) samples_[i]->read(static_cast<int>(k), outputs[k].at(i));
    } catch (...) {
      errors[i] = std::current_exception();
    }
    samples_[i].reset();
  };
  if (pool_) read_lists(read);
  std::vector<SampleId> good;
  for (size_t i = 0; i < ids_.size(); i++) {
    if (!pool_) read(i);
    auto done = attempt(i, [&] {
      if (errors[i]) std::rethrow_exception(errors[i]);
      return true;
    });
    if (done) good.push_back(ids_[i]);
  }
  if (good.size() == ids_.size()) return true;
  ids_ = std::move(good);
  return false;
}

void BatchReader::read_lists(const std::function<void(size_t)>& read) {
  std::vector<Source::Sample*> samples;
  for (auto& sample : samples_) samples.push_back(sample.get());
  const auto lists = source_.arrange(samples, ids_);
  pool_->parallel_for(static_cast<int64_t>(lists.size()), [&](int64_t list) {
    for (size_t i : lists[static_cast<size_t>(list)]) read(i);
  });
}

template <class Function>
auto BatchReader::attempt(size_t i, Function&& function) -> std::optional<decltype(function())> {
  if (stop_ && *stop_) throw Stopped();
  try {
    return function();
  } catch (const std::exception&) {
    Failure failure = describe(std::current_exception());
    Origin origin = source_.origin(ids_[i]);
    const std::string& name = origin.source;
    if (!skipped_)
      throw Error(failure.kind, str(is_batch_ ? str("sample ", i, " (", name, ")") : name, ": ", failure.message));
    skipped_->push_back({std::move(origin), std::move(failure.message)});
    return {};
  }
}

}  // namespace avida
