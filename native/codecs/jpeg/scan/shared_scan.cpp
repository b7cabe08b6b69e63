#include "codecs/jpeg/scan/shared_scan.h"

#include <algorithm>
#include <limits>
#include <thread>

namespace avida::codecs {
namespace {

// Segments that are read at once: waking threads takes a third of the time of one. Few, until threads have helped.
constexpr int kSegmentsPerThread = 8, kMostSegments = 64, kFewSegments = 2;
constexpr int64_t kReserve = 11 * ScanBytes::kAhead;  // more than the bytes of an MCU and what has to follow it

constexpr uint32_t bits(int64_t bytes) { return static_cast<uint32_t>(8 * bytes); }

// Up to where an MCU may begin without a call of ScanBytes::more().
uint32_t safe_position(const ScanBytes& bytes) {
  return bytes.ended() ? std::numeric_limits<uint32_t>::max() : bits(bytes.buffered(bytes.begin()) - kReserve);
}

// Calls fn(at) to move the bytes from `at` on to the beginning of a buffer, and reads on from there.
template <class Fn>
void move_bytes(const ScanBytes& bytes, BitReader& reader, Fn&& fn) {
  const uint32_t position = reader.position(bytes.begin());
  const uint8_t* at = bytes.begin() + position / 8;
  fn(at);
  reader = BitReader::at_position(at, position % 8);
}

}  // namespace

SharedScan::SharedScan(ThreadPool& pool, const BlockSlot* slots, int slot_count, int segment_bytes)
    : pool_(pool), slots_(slots), slot_count_(slot_count), segment_bytes_(segment_bytes) {}

Recording& SharedScan::next_recording(const ScanState& state, uint32_t position) {
  if (used_ == memory_.size()) {
    Memory& memory = memory_.emplace_back();
    Recording& made = memory.recording;
    made.entry_room = 2 * segment_bytes_ + 2 * Recording::kMostEntries;
    made.start_room = segment_bytes_ / 2 + 16;
    const int64_t entry_bytes = int64_t{4} * made.entry_room;
    memory.block = allocate(entry_bytes + int64_t{sizeof(Recording::Start)} * made.start_room);
    made.entries = static_cast<uint32_t*>(memory.block.get());
    made.starts = reinterpret_cast<Recording::Start*>(made.entries + made.entry_room);
  }
  Recording& recording = memory_[used_++].recording;
  recording.count = 0;
  recording.starts[0] = {position, 0, {}};
  std::copy_n(state.predicted, 3, recording.starts[0].predicted);
  return recording;
}

bool SharedScan::read(ScanBytes& bytes, ScanState& state, int64_t most, int row, int threads) {
  spans_.clear();
  used_ = 0;
  count_ = 0;
  const int wanted = std::min(kSegmentsPerThread * threads, kMostSegments);
  move_bytes(bytes, state.reader, [&](const uint8_t*& at) {
    if (buffer_) return void(bytes.more(at));
    const int64_t size = std::max<int64_t>(int64_t{wanted} * segment_bytes_ + kReserve, ScanBytes::kSize);
    buffer_ = allocate(size + ScanBytes::kMargin);
    bytes.use_buffer(static_cast<uint8_t*>(buffer_.get()), size, at);
  });

  const uint32_t position = state.reader.position(bytes.begin());
  const int64_t begin = position / 8, left = bytes.buffered(bytes.begin() + begin);
  const int most_segments = helped_ ? wanted : kFewSegments * threads;
  const int64_t usable = std::min(bytes.ended() ? left : left - kReserve, int64_t{most_segments} * segment_bytes_);
  const int segments = in_step_ ? static_cast<int>(std::clamp<int64_t>(usable / segment_bytes_, 1, most_segments)) : 1;
  // The last byte of an interval may be filled up with ones that are no code.
  std::vector<uint32_t> ends;
  for (int s = 1; s <= segments; s++) ends.push_back(bits(begin + usable * s / segments));
  if (bytes.ended() && usable == left) ends.back() -= 7;
  for (int s = 0; s < segments; s++) next_recording(s ? ScanState{} : state, s ? ends[s - 1] : position);
  recorded_ = used_;
  bool valid = true;
  helped_ = false;
  const auto caller = std::this_thread::get_id();
  share_work(pool_, threads, segments, [&](int, int s) {
    if (std::this_thread::get_id() != caller) helped_ = true;
    Recording& recording = memory_[static_cast<size_t>(s)].recording;
    if (s)
      record_segment(bytes, ends[static_cast<size_t>(s)], recording);
    else
      valid = record_mcus(bytes, state, slots_, slot_count_, ends[0], most, recording);
  });
  if (!valid) return false;

  std::copy_n(memory_[0].recording.starts[0].predicted, 3, state.predicted);
  add_span(bytes, memory_[0].recording, 0, most, state);
  int met = 0;
  for (size_t s = 1; s < recorded_; s++)
    if (!join(bytes, state, memory_[s].recording, ends[s], most, met)) return false;
  in_step_ = in_step_ && 2 * met >= segments - 1;
  while (count_ < most && state.reader.position(bytes.begin()) < ends.back())
    if (!record_between(bytes, state, ends.back(), most - count_)) return false;
  while (count_ < most && count_ % row) {
    if (state.reader.position(bytes.begin()) >= safe_position(bytes))
      move_bytes(bytes, state.reader, [&](const uint8_t*& at) { bytes.more(at); });
    if (!record_between(bytes, state, safe_position(bytes), std::min(most - count_, row - count_ % row))) return false;
  }
  return true;
}

// Reads on until an MCU begins where one of the segment's begins: from there on, the segment was read in step.
bool SharedScan::join(const ScanBytes& bytes, ScanState& state, const Recording& segment, uint32_t end, int64_t most,
                      int& met) {
  for (int m = 0; count_ < most;) {
    const uint32_t position = state.reader.position(bytes.begin());
    while (m < segment.count && segment.starts[m].position < position) m++;
    if (m < segment.count && segment.starts[m].position == position) {
      add_span(bytes, segment, m, most, state);
      met++;
      return true;
    }
    if (position >= end) return true;
    if (!record_between(bytes, state, end, m < segment.count ? 1 : most - count_)) return false;
  }
  return true;
}

// Codes that no file can have only show that the thread was not in step: it begins again behind them.
void SharedScan::record_segment(const ScanBytes& bytes, uint32_t end, Recording& recording) const {
  ScanState state{BitReader{bytes.begin() + recording.starts[0].position / 8}};
  while (!record_mcus(bytes, state, slots_, slot_count_, end, std::numeric_limits<int64_t>::max(), recording)) {
    state = {BitReader{state.reader.at}};
    const uint32_t position = state.reader.position(bytes.begin());
    if (position >= end) return;
    recording.count = 0;
    recording.starts[0] = {position, 0, {}};
  }
}

// Appends to the last span where it can.
bool SharedScan::record_between(const ScanBytes& bytes, ScanState& state, uint32_t end, int64_t most) {
  Recording* recording = &memory_[used_ - 1].recording;
  if (used_ == recorded_ || spans_.back().recording != recording || recording->is_full()) {
    recording = &next_recording(state, state.reader.position(bytes.begin()));
    spans_.push_back({count_, recording, 0, 0, {}});
  }
  const int before = recording->count;
  const bool valid = record_mcus(bytes, state, slots_, slot_count_, end, most, *recording);
  spans_.back().count += recording->count - before;
  count_ += recording->count - before;
  return valid;
}

// The MCUs from `begin` on, and the state after them.
void SharedScan::add_span(const ScanBytes& bytes, const Recording& recording, int begin, int64_t most,
                          ScanState& state) {
  const int count = static_cast<int>(std::min<int64_t>(recording.count - begin, most - count_));
  const Recording::Start &first = recording.starts[begin], &after = recording.starts[begin + count];
  Span& span = spans_.emplace_back(Span{count_, &recording, begin, count, {}});
  for (int c = 0; c < 3; c++) {
    span.offset[c] = static_cast<int16_t>(state.predicted[c] - first.predicted[c]);
    state.predicted[c] = static_cast<int16_t>(after.predicted[c] + span.offset[c]);
  }
  state.reader = BitReader::at_position(bytes.begin(), after.position);
  count_ += count;
}

void SharedScan::place(int64_t first, int count, const BlockSlot* slots) const {
  auto span = std::ranges::upper_bound(spans_, first, {}, &Span::first) - 1;
  for (int column = 0; column < count; span++) {
    const auto begin = static_cast<int>(first + column - span->first);
    const int n = std::min(count - column, span->count - begin);
    place_mcus(*span, begin, n, column, slots);
    column += n;
  }
}

void SharedScan::place_mcus(const Span& span, int begin, int count, int column, const BlockSlot* slots) const {
  const Recording& recording = *span.recording;
  const uint32_t* entry = recording.entries + recording.starts[span.begin + begin].entry;
  for (int mcu = column; mcu < column + count; mcu++)
    for (const BlockSlot* slot = slots; slot < slots + slot_count_; slot++) {
      const uint32_t first = *entry++, n = first & 255;
      if (int16_t* block = slot->find(mcu)) {
        for (uint32_t i = 0; i < n; i++) block[entry[i] & 255] = static_cast<int16_t>(entry[i] >> 16);
        block[0] = static_cast<int16_t>((first >> 16) + static_cast<uint32_t>(span.offset[slot->component]));
        slot->last[slot->column(mcu)] = static_cast<uint8_t>(first >> 8);
      }
      entry += n;
    }
}

}  // namespace avida::codecs
