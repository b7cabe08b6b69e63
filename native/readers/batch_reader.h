// BatchReader: opens and reads the samples of one batch.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "readers/blocks/fetched_parts.h"
#include "readers/source.h"
#include "runtime/thread_pool.h"

namespace avida {

// The threads for samples that take long to read; null if one thread reads a batch.
std::shared_ptr<ThreadPool> pool_for(const Source& source);

// With `skipped`, samples that cannot be read are omitted and recorded there.
class BatchReader {
 public:
  BatchReader(const Source& source, std::vector<SampleId> ids, bool is_batch, const std::atomic<bool>* stop,
              std::vector<Skipped>* skipped, ThreadPool* pool)
      : source_(source), ids_(std::move(ids)), is_batch_(is_batch), stop_(stop), skipped_(skipped), pool_(pool) {}
  // Whose samples are shuffled by blocks.
  void fetch_by(FetchedParts* blocks, int64_t batch) {
    blocks_ = blocks;
    batch_ = batch;
  }

  // Each output in one block; empty if no sample remains.
  std::vector<Data> read();
  // The samples that were read.
  const std::vector<SampleId>& ids() const { return ids_; }

 private:
  // All samples, or why they cannot be opened, where opening may wait for a store; otherwise none.
  struct Opened {
    std::unique_ptr<Source::Sample> sample;
    std::exception_ptr error;
    std::unique_ptr<Source::Sample> take() {
      if (error) std::rethrow_exception(error);
      return std::move(sample);
    }
  };

  storage::Fetched fetch() const;
  void open(const storage::Fetched& fetched);
  std::vector<Opened> open_together(const storage::Fetched& fetched) const;
  std::unique_ptr<Source::Sample> open_sample(size_t i, const storage::Fetched& fetched) const;
  std::vector<Data> allocate() const;
  bool fill(std::vector<Data>& outputs);
  void read_lists(const std::function<void(size_t)>& read);
  template <class Function>
  auto attempt(size_t i, Function&& function) -> std::optional<decltype(function())>;

  const Source& source_;
  std::vector<SampleId> ids_;
  bool is_batch_;
  const std::atomic<bool>* stop_;
  std::vector<Skipped>* skipped_;
  ThreadPool* pool_;
  FetchedParts* blocks_ = nullptr;  // null: each batch asks for what it needs
  int64_t batch_ = 0;
  std::vector<std::unique_ptr<Source::Sample>> samples_;
};

}  // namespace avida
