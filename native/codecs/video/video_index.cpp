#include "codecs/video/video_index.h"

#include <algorithm>
#include <cmath>

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
