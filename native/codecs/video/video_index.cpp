#include "codecs/video/video_index.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace avida::codecs {

int64_t VideoIndex::frame_at(double seconds, Rounding rounding) const {
  if (times.empty() || !(seconds > 0)) return 0;
  const double units = seconds / unit;
  if (units >= static_cast<double>(times.back() - times[0]) + 1) return frames();
  const int64_t time = times[0] + std::llround(units);
  auto found = std::lower_bound(times.begin(), times.end(), time);
  if (rounding == Rounding::down && (found == times.end() || *found != time)) --found;
  return found - times.begin();
}

// Of frames with this distance: how much earlier than a frame begins a time may be that stands for it. In units.
double VideoIndex::early(double distance) const {
  constexpr double kShare = 1.0 / 20, kSeconds = 1e-3;
  return std::min(distance * kShare, kSeconds / unit);
}

int64_t VideoIndex::shown_at(double seconds) const {
  const double rate = this->rate();
  if (rate == 0) return seconds < 0 ? -1 : 0;
  constexpr double kFar = 1e15;  // frames
  const double distance = 1 / (rate * unit), asked = static_cast<double>(times[0]) + seconds / unit;
  const auto next = std::ranges::upper_bound(times, asked, {}, [](int64_t time) { return static_cast<double>(time); });
  if (next == times.end())
    return frames() - 1 + static_cast<int64_t>(std::min((asked - times.back() + early(distance)) / distance, kFar));
  if (next == times.begin())
    return static_cast<int64_t>(std::max(std::floor((asked - times[0] + early(distance)) / distance), -kFar));
  const double from_last = static_cast<double>(*next - *std::prev(next)), to_next = *next - asked;
  return next - times.begin() - (to_next < early(from_last) ? 0 : 1);
}

int64_t VideoIndex::begun_before(double seconds) const {
  if (times.empty()) return 0;
  const double rate = this->rate(), distance = rate > 0 ? 1 / (rate * unit) : 0;
  const double end = static_cast<double>(times[0]) + seconds / unit - early(distance);
  const auto first = std::ranges::lower_bound(times, end, {}, [](int64_t time) { return static_cast<double>(time); });
  return first - times.begin();
}

bool VideoIndex::variable_rate() const {
  if (frames() < 3) return false;
  int64_t shortest = times[1] - times[0], longest = shortest;
  for (size_t i = 2; i < times.size(); i++) {
    shortest = std::min(shortest, times[i] - times[i - 1]);
    longest = std::max(longest, times[i] - times[i - 1]);
  }
  return longest - shortest > 2;
}

double VideoIndex::rate() const {
  if (frames() < 2 || times.back() <= times[0]) return 0;
  return static_cast<double>(frames() - 1) / (static_cast<double>(times.back() - times[0]) * unit);
}

double VideoIndex::duration() const {
  if (times.empty()) return 0;
  const double last = time(frames() - 1), mean = rate() > 0 ? 1 / rate() : 0;
  return last + (last_duration > 0 ? static_cast<double>(last_duration) * unit : mean);
}

int64_t VideoIndex::key_before(int64_t frame) const {
  auto after =
      std::upper_bound(keys.begin(), keys.end(), frame, [](int64_t f, const Key& key) { return f < key.frame; });
  return after - keys.begin() - 1;
}

int64_t VideoIndex::find(int64_t time) const {
  auto found = std::lower_bound(times.begin(), times.end(), time);
  return found != times.end() && *found == time ? found - times.begin() : -1;
}

}  // namespace avida::codecs
