// Source: one data set in one format; how many samples there are, and how each is opened and read.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/data.h"
#include "readers/schedule.h"
#include "runtime/memory.h"
#include "runtime/value.h"
#include "storage/cache/cache.h"
#include "storage/fetched.h"

namespace avida {

class BlockOrder;

// A sample that was left out because it could not be read.
struct Skipped {
  Origin origin;
  std::string error;
};

// Thrown where a batch is not wanted any more.
struct Stopped {};

class Source {
 public:
  // An opened sample: its shapes are known, its elements are not read yet. So a whole batch is laid out in one block
  // first, and every sample is read directly into it.
  class Sample {
   public:
    virtual ~Sample() = default;
    virtual Shape shape(int output) const = 0;
    virtual void read(int output, void* to) = 0;
  };

  virtual ~Source() = default;

  // The cache through which it reads what is not local, if any: whoever opens it sets that, and reads it through that.
  storage::CachePtr cache;

  virtual const char* name() const = 0;  // of the reader, for messages
  virtual int64_t size() const = 0;
  // Type, rank and layout of each output.
  virtual const std::vector<Meta>& outputs() const = 0;
  // Memory for the samples of an output, on the device of its Meta; pinned where results are, unless they are the bytes
  // of files, which are decoded on the CPU.
  virtual Data allocate(const Meta& meta, const ShapeList& shapes) const;
  // Whether reading a sample takes so long that the samples of a batch are read by several threads.
  virtual bool takes_long() const { return false; }
  // Called before the samples of a batch are read, with those of one list by one thread, in this order: their
  // positions. Here each is alone.
  virtual std::vector<std::vector<size_t>> arrange(std::span<Sample* const> samples,
                                                   std::span<const SampleId> /*ids*/) const {
    std::vector<std::vector<size_t>> lists;
    for (size_t i = 0; i < samples.size(); i++) lists.push_back({i});
    return lists;
  }
  struct Request {
    std::span<const SampleId> ids;
    bool batches = true;                      // otherwise one sample
    const std::atomic<bool>* stop = nullptr;  // set when nobody wants the batch any more
    std::vector<Skipped>* skipped = nullptr;  // null: a sample that cannot be read fails the batch
    bool prefetching = false;                 // in a thread of the prefetcher
    // Opens and reads samples of a source that does not make batches: the values, and which samples were not skipped.
    using Opened = std::pair<std::vector<ValuePtr>, std::vector<SampleId>>;
    std::function<Opened(std::vector<SampleId>)> open_and_read = {};
  };
  // Whether samples exist as values only, as those of Python objects. Then read_batch() gives the values of a batch,
  // one for each output, none if all samples were skipped. Other sources return nullopt, and their samples are opened
  // and read. Throws FailureError; anything else in the caller's thread has interrupted it, and the batch remains to be
  // read.
  virtual bool makes_batches() const { return false; }
  virtual std::optional<std::vector<ValuePtr>> read_batch(const Request&) const { return {}; }
  // How many threads of a prefetcher may read at the same time.
  virtual int most_threads() const { return 8; }
  // Starts a thread of a prefetcher. May wait for the GIL.
  virtual void start_thread(std::function<void()> work) const;

  // Whether all data lies where reading takes no longer than from the page cache.
  virtual bool is_local() const { return true; }
  // Names what a sample needs to be opened and read, as far as that is known: it is fetched for a whole batch. For
  // sources that are not local.
  virtual void name_needs(int64_t /*index*/, storage::Needs& /*needs*/) const {}

  // Both are thread-safe, and throw Error.
  virtual std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const = 0;
  virtual std::string describe(int64_t index) const = 0;

  // A mixture of sources is read in the order of its slots. These are the samples in them, whose numbers tell what is
  // in which part; all other members take such numbers.
  virtual std::vector<SampleId> samples_in(std::vector<SampleId> slots) const { return slots; }
  virtual Origin origin(const SampleId& id) const { return {describe(id.index), id.index, id.pass, {}, {}}; }
  // The cache through which a sample is read.
  virtual const storage::CachePtr& cache_of(int64_t /*index*/) const { return cache; }
  // Parts of a mixture that are shuffled by blocks.
  struct PartInBlocks {
    std::shared_ptr<const Source> source;
    std::shared_ptr<const BlockOrder> order;
    int64_t first = 0;  // the number of its first sample
    double share = 1;   // of the slots
  };
  virtual std::vector<PartInBlocks> parts_in_blocks() const { return {}; }

  // The first sample of each block, in ascending order from 0: parts of the data that are best read as a whole, of
  // about 16 MiB. They follow from the data alone, wherever it lies. None: the format has no blocks.
  virtual std::vector<int64_t> blocks() const { return {}; }

  // Name and type of each output, where the data has them: the type as the format calls it.
  using Column = std::pair<std::string, std::string>;
  virtual std::vector<Column> columns() const { return {}; }

  // The names of labels, where the data has them.
  using Classes = std::map<int32_t, std::string>;
  virtual std::optional<Classes> classes() const { return {}; }
};

}  // namespace avida
