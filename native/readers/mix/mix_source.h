// MixSource: several sources as one, of which each slot of a mixture has a sample.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "readers/mix/mix_order.h"
#include "readers/source.h"

namespace avida {

// Its samples are numbered part by part; those of mixtures within it as they number them.
class MixSource : public Source {
 public:
  struct Part {
    std::string name;
    std::shared_ptr<const Source> source;
    Schedule schedule;  // of all its samples
  };
  MixSource(std::vector<Part> parts, const std::optional<std::vector<double>>& weights, MixOrder::Stop stop,
            int64_t slots, uint64_t seed);

  const char* name() const override { return "readers.Mix"; }
  int64_t size() const override { return order_.slots(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::vector<SampleId> samples_in(std::vector<SampleId> slots) const override;

  Data allocate(const Meta& meta, const ShapeList& shapes) const override;
  bool takes_long() const override;
  bool is_local() const override;
  int most_threads() const override;
  void start_thread(std::function<void()> work) const override;
  std::vector<std::vector<size_t>> arrange(std::span<Sample* const> samples,
                                           std::span<const SampleId> ids) const override;
  bool makes_batches() const override;
  std::optional<std::vector<ValuePtr>> read_batch(const Request& request) const override;
  void name_needs(int64_t index, storage::Needs& needs) const override;
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override;
  std::string describe(int64_t index) const override;
  Origin origin(const SampleId& id) const override;
  const storage::CachePtr& cache_of(int64_t index) const override;
  std::vector<PartInBlocks> parts_in_blocks() const override;

 private:
  // A source that is no mixture, in this one or in one within it.
  struct Leaf {
    std::shared_ptr<const Source> source;
    int64_t first = 0, end = 0;  // the numbers of its samples
    std::shared_ptr<const MixPart> part;
    std::shared_ptr<const BlockOrder> blocks;  // by which it is shuffled, if it is
    double share = 1;                          // of the slots
  };
  struct Group;

  void add_leaves(const Part& part, double share);
  void agree_with(const Leaf& leaf);
  const Source& most_particular() const;  // about the threads that read it
  const Leaf& leaf_of(int64_t index) const;
  std::vector<Group> groups_of(std::span<const SampleId> ids) const;
  void read(Group& group, const Request& request) const;
  std::vector<ValuePtr> joined(const std::vector<Group>& groups, const Request& request) const;
  void check_outputs(const Group& a, const std::vector<Data>& of_a, const Group& b,
                     const std::vector<Data>& of_b) const;
  ValuePtr joined_output(const std::vector<Group>& groups, const std::vector<std::vector<Data>>& found, size_t output,
                         bool is_batch) const;

  std::vector<Part> parts_;
  const MixOrder order_;
  std::vector<int64_t> firsts_;  // the number of the first sample of each part
  std::vector<Leaf> leaves_;
  std::vector<Meta> outputs_;
  std::shared_ptr<const MixPart> known_by_;  // the part that has these outputs; null: no part knows its own yet
};

}  // namespace avida
