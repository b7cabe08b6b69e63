#include "ops/segmentation/objects.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace avida::ops {
namespace {

// Neighbours of one label in a row.
struct Stretch {
  int begin, end, label;
  int joined;  // an earlier stretch of the same object, or the stretch itself
};

// The end of the elements that equal the one at `begin`: eight bytes are compared with those one element further on.
template <class T>
int64_t end_of_equals(const T* row, int64_t begin, int64_t width) {
  constexpr int64_t together = sizeof(uint64_t) / sizeof(T);
  auto word_at = [&](int64_t i) {
    uint64_t word;
    std::memcpy(&word, row + i, sizeof(word));
    return word;
  };
  for (; begin + together < width; begin += together)
    if (const uint64_t change = word_at(begin) ^ word_at(begin + 1))
      return begin + std::countr_zero(change) / static_cast<int64_t>(8 * sizeof(T)) + 1;
  while (begin + 1 < width && row[begin] == row[begin + 1]) begin++;
  return begin + 1;
}

int label_at(const SampleView& mask, int64_t i) {
  auto narrow = [](auto label) {
    if (!std::in_range<int>(label)) refuse("expected labels of 32 bits, got ", label);
    return static_cast<int>(label);
  };
  switch (mask.dtype) {
    case DType::boolean:
      return mask.as<bool>()[i];
    case DType::int8:
      return mask.as<int8_t>()[i];
    case DType::uint8:
      return mask.as<uint8_t>()[i];
    case DType::int16:
      return mask.as<int16_t>()[i];
    case DType::uint16:
      return mask.as<uint16_t>()[i];
    case DType::int64:
      return narrow(mask.as<int64_t>()[i]);
    case DType::uint64:
      return narrow(mask.as<uint64_t>()[i]);
    default:
      return mask.as<int>()[i];
  }
}

// The stretches of a mask, row by row, and which of them belong together. Rows run along the last axis that is longer
// than 1; axes that are not have nothing to join.
class Stretches {
 public:
  Stretches(const SampleView& mask, int background) : mask_(mask), background_(background) {
    for (int d = mask.ndim() - 1; d >= 0; d--) {
      if (mask.shape[d] == 1) continue;
      if (along_ < 0)
        along_ = d;
      else
        around_.push_back(d);
    }
    width_ = along_ < 0 ? 1 : mask.shape[along_];
    rows_ = width_ ? mask.elements() / width_ : 0;
    first_in_row_.reserve(rows_ + 1);
    first_in_row_.push_back(0);
    each_row([&](int64_t row, const int* position) {
      with_size_of(mask.dtype, [&](auto type) { read_row<typename decltype(type)::type>(row); });
      first_in_row_.push_back(static_cast<int>(stretches_.size()));
      int64_t step = 1;  // in rows
      for (int d : around_) {
        if (position[d] > 0) join_rows(row, row - step);
        step *= mask.shape[d];
      }
    });
  }

  Objects objects() const {
    const int rank = mask_.ndim();
    Objects found{rank, {}, {}};
    std::vector<int> object_of(stretches_.size());
    each_row([&](int64_t row, const int* position) {
      for (int i = first_in_row_[row]; i < first_in_row_[row + 1]; i++) {
        const Stretch& stretch = stretches_[i];
        if (stretch.joined == i) {
          object_of[i] = static_cast<int>(found.labels.size());
          found.labels.push_back(stretch.label);
          for (int d = 0; d < rank; d++) found.bounds.push_back({position[d], position[d] + 1});
          if (along_ >= 0) found.bounds.end()[along_ - rank] = {stretch.begin, stretch.end};
          continue;
        }
        object_of[i] = object_of[stretch.joined];
        Interval* box = found.bounds.data() + static_cast<size_t>(object_of[i]) * rank;
        auto cover = [](Interval& interval, int begin, int end) {
          interval = {std::min(interval.begin, begin), std::max(interval.end, end)};
        };
        for (int d : around_) cover(box[d], position[d], position[d] + 1);
        cover(box[along_], stretch.begin, stretch.end);
      }
    });
    return found;
  }

 private:
  template <class Fn>  // fn(row, its position along all axes)
  void each_row(Fn&& fn) const {
    int position[kMaxDim] = {};
    for (int64_t row = 0; row < rows_; row++) {
      fn(row, position);
      for (int d : around_) {
        if (++position[d] < mask_.shape[d]) break;
        position[d] = 0;
      }
    }
  }

  template <class T>
  void read_row(int64_t row) {
    const T* elements = mask_.as<T>() + row * width_;
    for (int64_t begin = 0, end; begin < width_; begin = end) {
      end = end_of_equals(elements, begin, width_);
      const int label = label_at(mask_, row * width_ + begin);
      if (label == background_) continue;
      const size_t i = stretches_.size();
      if (i == INT32_MAX) refuse("expected a mask of fewer objects");
      stretches_.push_back({static_cast<int>(begin), static_cast<int>(end), label, static_cast<int>(i)});
    }
  }

  // Two rows that lie side by side.
  void join_rows(int64_t row, int64_t beside) {
    int here = first_in_row_[row], there = first_in_row_[beside];
    const int here_end = first_in_row_[row + 1], there_end = first_in_row_[beside + 1];
    while (here < here_end && there < there_end) {
      const Stretch &a = stretches_[here], &b = stretches_[there];
      if (a.label == b.label && a.begin < b.end && b.begin < a.end) join(here, there);
      a.end < b.end ? here++ : there++;
    }
  }

  void join(int a, int b) {
    a = first_of(a), b = first_of(b);
    stretches_[std::max(a, b)].joined = std::min(a, b);
  }
  int first_of(int i) {
    while (stretches_[i].joined != i) i = stretches_[i].joined = stretches_[stretches_[i].joined].joined;
    return i;
  }

  const SampleView& mask_;
  const int background_;
  int along_ = -1;   // the axis of rows; -1: the mask is a single element
  Vec<int> around_;  // the other axes that are longer than 1, the last one first
  int64_t width_, rows_;
  std::vector<Stretch> stretches_;
  std::vector<int> first_in_row_;
};

}  // namespace

Objects find_objects(const SampleView& mask, int background) { return Stretches(mask, background).objects(); }

}  // namespace avida::ops
