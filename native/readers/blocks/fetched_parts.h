// FetchedParts: the blocks of a source that is shuffled by blocks, or of those parts of a mixture that are.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "readers/blocks/fetched_blocks.h"
#include "readers/source.h"

namespace avida {

class FetchedParts {
 public:
  // Null unless there are blocks on other machines.
  static std::shared_ptr<FetchedParts> of(const std::shared_ptr<const Source>& source, const Schedule& schedule,
                                          int depth);

  // How many samples are to be announced before the first is asked for.
  int64_t samples_ahead() const;
  void announce(int64_t batch, std::span<const SampleId> ids);
  // Fetches what the samples that lie in blocks need, and takes these off the list.
  storage::Fetched take(int64_t batch, std::vector<SampleId>& ids);

  void stop();
  void join(std::chrono::steady_clock::time_point latest);

 private:
  struct Part {
    int64_t first, end;  // the numbers of its samples in the mixture
    int64_t ahead;
    std::shared_ptr<FetchedBlocks> blocks;

    // Its samples among others, by their own numbers.
    std::vector<SampleId> chosen(std::span<const SampleId> ids) const;
  };
  std::vector<Part> parts_;
};

}  // namespace avida
