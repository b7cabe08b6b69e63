#include "ops/segmentation/objects.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace avida::ops {
namespace {

// Elements of one label that lie side by side in a row; the last axis is that of rows.
struct Stretch {
  int64_t begin, end;
  int label;
};

uint64_t word_at(const char* place) {
  uint64_t word;
  std::memcpy(&word, place, sizeof(word));
  return word;
}

// Where the elements end that equal the one at `begin`: eight bytes are compared with those one element further on.
int64_t end_of_equals(const char* row, int64_t begin, int64_t width, int64_t size) {
  const char *at = row + begin * size, *last = row + (width - 1) * size;
  while (at + sizeof(uint64_t) <= last) {
    if (uint64_t change = word_at(at) ^ word_at(at + size)) return (at - row + std::countr_zero(change) / 8) / size + 1;
    at += sizeof(uint64_t);
  }
  while (at < last && std::memcmp(at, at + size, size) == 0) at += size;
  return (at - row) / size + 1;
}

int label_at(const SampleView& mask, int64_t i) {
  auto narrow = [](auto label) {
    if (!std::in_range<int>(label)) fail(ErrorKind::runtime, "expected labels of 32 bits, got ", label);
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

// Which of many things belong together: each knows an earlier one of its set, the first knows itself.
class Sets {
 public:
  int add() { return before_.emplace_back(static_cast<int>(before_.size())); }
  int first_of(int i) {
    while (before_[i] != i) i = before_[i] = before_[before_[i]];
    return i;
  }
  void join(int a, int b) {
    a = first_of(a), b = first_of(b);
    before_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int> before_;
};

}  // namespace

int64_t Object::volume() const {
  int64_t volume = 1;
  for (int d = 0; d < start.size(); d++) volume *= end[d] - start[d];
  return volume;
}

std::vector<Object> find_objects(const SampleView& mask, int background) {
  const int rank = mask.ndim();
  const int64_t width = mask.shape[rank - 1], rows = width ? mask.elements() / width : 0, size = size_of(mask.dtype);
  const Shape strides = dense_strides(mask.shape);
  std::vector<Stretch> stretches;
  std::vector<int> first_in_row(rows + 1);
  Sets sets;
  Shape place;  // of the row
  place.resize(rank, 0);
  auto next_row = [&] {
    for (int d = rank - 2; d >= 0 && ++place[d] == mask.shape[d]; d--) place[d] = 0;
  };

  for (int64_t row = 0; row < rows; row++, next_row()) {
    first_in_row[row] = static_cast<int>(stretches.size());
    for (int64_t begin = 0, end; begin < width; begin = end) {
      end = end_of_equals(mask.as<char>() + row * width * size, begin, width, size);
      const int label = label_at(mask, row * width + begin);
      if (label == background) continue;
      if (stretches.size() == INT32_MAX) fail(ErrorKind::runtime, "expected a mask of fewer objects");
      stretches.push_back({begin, end, label});
      sets.add();
    }
    const int here_end = static_cast<int>(stretches.size());
    for (int d = 0; d < rank - 1; d++) {
      if (place[d] == 0) continue;
      const int64_t beside = row - strides[d] / width;
      int here = first_in_row[row], there = first_in_row[beside];
      const int there_end = first_in_row[beside + 1];
      while (here < here_end && there < there_end) {
        const Stretch &a = stretches[here], &b = stretches[there];
        if (a.label == b.label && a.begin < b.end && b.begin < a.end) sets.join(here, there);
        a.end < b.end ? here++ : there++;
      }
    }
    first_in_row[row + 1] = here_end;
  }

  std::vector<Object> objects;
  std::vector<int> object_of(stretches.size());
  std::ranges::fill(place, 0);
  for (int64_t row = 0; row < rows; row++, next_row()) {
    for (int i = first_in_row[row]; i < first_in_row[row + 1]; i++) {
      const int first = sets.first_of(i);
      if (first == i) {
        object_of[i] = static_cast<int>(objects.size());
        objects.push_back({stretches[i].label, mask.shape, {}});
        objects.back().end.resize(rank, 0);
      }
      Object& object = objects[object_of[first]];
      place[rank - 1] = stretches[i].begin;
      for (int d = 0; d < rank; d++) {
        object.start[d] = std::min(object.start[d], place[d]);
        object.end[d] = std::max(object.end[d], place[d] + 1);
      }
      object.end[rank - 1] = std::max(object.end[rank - 1], stretches[i].end);
    }
    place[rank - 1] = 0;
  }
  return objects;
}

}  // namespace avida::ops
