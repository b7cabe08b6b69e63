// The Huffman codes of one JPEG scan, read by several threads at once.
//
// Where a code begins is known only when all codes before it are read. But a thread that begins anywhere soon falls
// into step, since Huffman codes synchronise themselves. So each thread records the MCUs of a segment of the data; then
// those before the first one that the thread of the segment before arrives at are dropped.
#pragma once
#include <atomic>
#include <deque>
#include <vector>

#include "codecs/jpeg/scan/scan_vectors.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace avida::codecs {

// Runs fn(thread, i) for all i below n. Each thread begins with a range of its own, so that with the same n, or one in
// proportion, it finds in its cache what it made before.
template <class Fn>
void share_work(ThreadPool& pool, int threads, int n, Fn&& fn) {
  std::vector<std::atomic<bool>> begun(static_cast<size_t>(n));
  pool.parallel_for(threads, [&](int64_t thread) {
    for (int64_t k = 0, first = n * thread / threads; k < n; k++) {
      const auto i = static_cast<int>((first + k) % n);
      if (!begun[static_cast<size_t>(i)].exchange(true)) fn(static_cast<int>(thread), i);
    }
  });
}

class SharedScan {
 public:
  // `segment_bytes`: of the data that a thread reads at once.
  SharedScan(ThreadPool& pool, const BlockSlot* slots, int slot_count, int segment_bytes);

  // Reads on from `state`, `most` MCUs or some segments for each of the threads, and then to the end of a row of MCUs.
  // What was read before is forgotten. Returns false for codes that the file cannot have.
  bool read(ScanBytes& bytes, ScanState& state, int64_t most, int row, int threads);
  // The number of MCUs that were read, and whether other threads read some of them: threads that are idle may have no
  // core to run on.
  int64_t count() const { return count_; }
  bool was_shared() const { return helped_; }
  // Stores the coefficients of `count` MCUs, which are a row of the image. Threads may call it at the same time.
  void place(int64_t first, int count, const BlockSlot* slots) const;

 private:
  struct Memory {
    Block block;
    Recording recording;
  };
  // A part of a recording, in its place.
  struct Span {
    int64_t first;
    const Recording* recording;
    int begin, count;
    int16_t offset[3];  // of the DC coefficients, which the thread did not know
  };

  Recording& next_recording(const ScanState& state, uint32_t position);
  void record_segment(const ScanBytes& bytes, uint32_t end, Recording& recording) const;
  bool record_between(const ScanBytes& bytes, ScanState& state, uint32_t end, int64_t most);
  bool join(const ScanBytes& bytes, ScanState& state, const Recording& segment, uint32_t end, int64_t most, int& met);
  void add_span(const ScanBytes& bytes, const Recording& recording, int begin, int64_t most, ScanState& state);
  void place_mcus(const Span& span, int begin, int count, int column, const BlockSlot* slots) const;

  ThreadPool& pool_;
  const BlockSlot* const slots_;
  const int slot_count_, segment_bytes_;
  bool in_step_ = true;  // whether threads that begin anywhere fall into step
  std::atomic<bool> helped_{false};
  Block buffer_;
  std::deque<Memory> memory_;       // first those of the segments, then those between them
  size_t recorded_ = 0, used_ = 0;  // of the segments, and of all
  std::vector<Span> spans_;
  int64_t count_ = 0;
};

}  // namespace avida::codecs
