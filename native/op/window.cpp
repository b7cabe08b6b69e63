#include "op/window.h"

#include <cctype>
#include <cstring>

namespace avida {
namespace {

constexpr int64_t kRowElements = 16 << 10;  // longer rows are cut, for threads to share
constexpr int64_t kPatternBytes = 512;      // patterns are repeated up to about this length

// How numbers to fill with become elements: without fraction, and integers wrap around.
void store_fill(void* at, float number, DType dtype) {
  with_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (TypeTraits<T>::is_float) *static_cast<T*>(at) = convert<T>(number);
    else *static_cast<T*>(at) = static_cast<T>(truncate<int64_t>(number));
  });
}

}  // namespace

OutOfBounds parse_out_of_bounds(std::string_view name) {
  static constexpr std::pair<std::string_view, OutOfBounds> kNames[] = {
      {"error", OutOfBounds::error},
      {"constant", OutOfBounds::constant},
      {"pad", OutOfBounds::constant},
      {"edge", OutOfBounds::edge},
      {"clamp", OutOfBounds::edge},
      {"reflect", OutOfBounds::reflect_1001},
      {"reflect_1001", OutOfBounds::reflect_1001},
      {"reflect_101", OutOfBounds::reflect_101},
      {"wrap", OutOfBounds::wrap},
      {"trim_to_shape", OutOfBounds::trim},
  };
  auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  for (auto& [known, policy] : kNames)
    if (std::equal(name.begin(), name.end(), known.begin(), known.end(), same)) return policy;
  fail(ErrorKind::runtime, "expected \"error\", \"pad\", \"edge\", \"reflect\", \"reflect_101\", \"wrap\" or "
       "\"trim_to_shape\" as out_of_bounds_policy, got \"", name, '"');
}

int64_t source_index(int64_t i, int64_t extent, OutOfBounds policy) {
  if (i >= 0 && i < extent) return i;
  auto modulo = [](int64_t a, int64_t n) { return (a % n + n) % n; };
  switch (policy) {
    case OutOfBounds::edge:
      return i < 0 ? 0 : extent - 1;
    case OutOfBounds::reflect_1001:
      i = modulo(i, 2 * extent);
      return i < extent ? i : 2 * extent - 1 - i;
    case OutOfBounds::reflect_101:
      if (extent == 1) return 0;
      i = modulo(i, 2 * extent - 2);
      return i < extent ? i : 2 * extent - 2 - i;
    case OutOfBounds::wrap:
      return modulo(i, extent);
    default:
      return -1;
  }
}

void place_window(Window& window, const Shape& in, OutOfBounds policy) {
  for (int d = 0; d < in.size(); d++) {
    int64_t &start = window.start[d], &size = window.size[d];
    int64_t end;
    if (size < 0) fail(ErrorKind::runtime, "the window's extent along axis ", d, " is negative: ", size);
    if (__builtin_add_overflow(start, size, &end)) fail(ErrorKind::runtime, "the window is too large");
    bool inside = start >= 0 && start <= in[d] && end <= in[d];
    if (inside) continue;
    if (policy == OutOfBounds::error)
      fail(ErrorKind::runtime, "the window from ", start, " to ", end, " along axis ", d,
           " reaches beyond the sample of shape ", in, "; out_of_bounds_policy says what to do then");
    if (policy == OutOfBounds::trim) {
      start = std::clamp<int64_t>(start, 0, in[d]);
      size = std::clamp<int64_t>(end, start, in[d]) - start;
    } else if (in[d] == 0 && size > 0 && policy != OutOfBounds::constant) {
      fail(ErrorKind::runtime, "there is nothing to repeat along axis ", d, " of a sample of shape ", in);
    }
  }
}

WindowRows::WindowRows(const Shape& in, const Window& window, OutOfBounds policy)
    : window_(window), in_(in), in_strides_(dense_strides(in)), policy_(policy) {
  auto entire = [&](int d) { return window.start[d] == 0 && window.size[d] == in[d]; };
  if (in.empty()) return;
  line_ = in.size() - 1;
  while (line_ > 0 && entire(line_)) block_ *= in[line_--];
  line_start_ = window.start[line_];
  line_extent_ = in[line_];
  line_size_ = window.size[line_];
  inside_begin_ = std::clamp<int64_t>(-line_start_, 0, line_size_);
  inside_end_ = std::clamp<int64_t>(line_extent_ - line_start_, inside_begin_, line_size_);
  step_ = std::max<int64_t>(kRowElements / std::max<int64_t>(block_, 1), 1);
  cuts_ = (line_size_ + step_ - 1) / step_;
  count_ = cuts_;
  for (int d = 0; d < line_; d++) count_ *= window.size[d];
}

int64_t WindowRows::source_of(const Shape& at) const {
  int64_t offset = 0;
  for (int d = 0; d < line_; d++) {
    int64_t i = source_index(window_.start[d] + at[d], in_[d], policy_);
    if (i < 0) return -1;
    offset += i * in_strides_[d];
  }
  return offset;
}

WindowCopy::WindowCopy(const SampleView& out, const SampleView& in, const Window& window, OutOfBounds policy,
                       std::span<const float> fill, int channel_axis)
    : out_(out), in_(in), policy_(policy), out_size_(size_of(out.dtype)), in_size_(size_of(in.dtype)) {
  bool inside = true;
  Shape strides = dense_strides(in.shape);
  for (int d = 0; d < in.ndim(); d++) {
    inside &= window.start[d] >= 0 && window.start[d] + window.size[d] <= in.shape[d];
    offset_ += window.start[d] * strides[d];
  }
  if (inside && out.dtype == in.dtype) {
    moves_.emplace(static_cast<int>(in_size_), window.size, strides);
    return;
  }
  rows_.emplace(in.shape, window, policy);
  convert_ = truncating_run(out.dtype, in.dtype);
  if (policy == OutOfBounds::constant && !inside && rows_->count() > 0) make_patterns(fill, channel_axis);
}

// A pattern starts with the first element of a block, or of the line where the channels are the line.
void WindowCopy::make_patterns(std::span<const float> fill, int channel_axis) {
  int64_t channels = static_cast<int64_t>(fill.size()), patterns = 1, elements = 1;
  if (channels > 1 && channel_axis < rows_->line()) {
    channel_axis_ = channel_axis;
    patterns = channels;
  } else if (channels > 1) {
    for (int d = channel_axis; d < out_.ndim(); d++) elements *= out_.shape[d];
  }
  int64_t repeats = std::max<int64_t>(kPatternBytes / (elements * out_size_), 1);
  pattern_bytes_ = elements * repeats * out_size_;
  patterns_.resize(patterns * pattern_bytes_);
  char* at = patterns_.data();
  for (int64_t p = 0; p < patterns; p++)
    for (int64_t r = 0; r < repeats; r++)
      for (int64_t i = 0; i < elements; i++, at += out_size_)
        store_fill(at, fill[patterns > 1 ? p : i * channels / elements], out_.dtype);
}

void WindowCopy::run(int64_t begin, int64_t end) const {
  if (moves_) return moves_->run(out_.data, in_.as<char>() + offset_ * in_size_, begin, end);
  rows_->visit(begin, end, [&](const WindowRows::Row& row) { copy_row(row); });
}

void WindowCopy::copy_row(const WindowRows::Row& row) const {
  auto& rows = *rows_;
  const int64_t block = rows.block();
  char* out = out_.as<char>() + (row.out - row.begin * block) * out_size_;  // of line index 0
  int64_t channel = channel_axis_ < 0 ? 0 : row.at[channel_axis_];
  if (row.in < 0) return fill_elements(out, channel, row.begin * block, row.end * block);

  int64_t begin = std::clamp(rows.inside_begin(), row.begin, row.end), end = std::clamp(rows.inside_end(), begin, row.end);
  const char* in = in_.as<char>() + row.in * in_size_;
  convert_(out + begin * block * out_size_, in + (rows.line_start() + begin) * block * in_size_, (end - begin) * block);
  auto beyond = [&](int64_t from, int64_t to) {
    if (policy_ == OutOfBounds::constant) return fill_elements(out, channel, from * block, to * block);
    for (int64_t i = from; i < to; i++) {
      int64_t source = source_index(rows.line_start() + i, rows.line_extent(), policy_);
      convert_(out + i * block * out_size_, in + source * block * in_size_, block);
    }
  };
  beyond(row.begin, begin);
  beyond(end, row.end);
}

void WindowCopy::fill_elements(char* out, int64_t channel, int64_t begin, int64_t end) const {
  const char* pattern = patterns_.data() + channel * pattern_bytes_;
  int64_t to = end * out_size_;
  for (int64_t at = begin * out_size_; at < to;) {
    int64_t from = at % pattern_bytes_, n = std::min(pattern_bytes_ - from, to - at);
    std::memcpy(out + at, pattern + from, n);
    at += n;
  }
}

}  // namespace avida
