#include "loops/moving/window.h"

#include <cstring>

#include "core/rows.h"
#include "loops/items/kernel_types.h"
#include "loops/moving/convert_item.h"
#include "operator/launches.h"

namespace avida {
namespace {

constexpr int64_t kRowElements = 16 << 10;  // longer rows are cut, for threads to share
constexpr int64_t kPatternBytes = 512;      // patterns are repeated up to about this length

void store_fill(void* at, float number, DType dtype) {
  with_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    *static_cast<T*>(at) = fill_element<T>(number);
  });
}

}  // namespace

Part shown_part(const Window& window, const SampleView& in) {
  Part part = whole_part(in);
  for (int d = 0; d < in.ndim(); d++)
    if (int64_t begin = window.start[d], end = begin + window.size[d]; begin >= 0 && begin < end && end <= in.shape[d])
      part.set(in.layout[d], begin, end);
  return part;
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
  count_ = block_ == 0 ? 0 : cuts_;
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
    : out_(out),
      in_(in),
      start_(window.start),
      policy_(policy),
      fill_(fill),
      channel_axis_(channel_axis),
      out_size_(size_of(out.dtype)),
      in_size_(size_of(in.dtype)) {
  Shape strides = dense_strides(in.shape);
  for (int d = 0; d < in.ndim(); d++) {
    inside_ &= window.start[d] >= 0 && window.start[d] + window.size[d] <= in.shape[d];
  }
  if (inside_)
    for (int d = 0; d < in.ndim(); d++) offset_ += window.start[d] * strides[d];
  if (inside_ && out.dtype == in.dtype)
    moves_.emplace(static_cast<int>(in_size_), window.size, strides);
  else
    rows_.emplace(in.shape, window, policy);
}

void WindowCopy::run(int64_t begin, int64_t end) const {
  if (moves_) return moves_->run(out_.data, in_.as<char>() + offset_ * in_size_, begin, end);
  if (begin >= end) return;
  Patterns patterns;
  if (policy_ == OutOfBounds::constant && !inside_) patterns = make_patterns();
  rows_->visit(begin, end, [&](const WindowRows::Row& row) { copy_row(row, patterns); });
}

// False if there are too many axes around the rows, or too many elements for the body, which counts in 32 bits.
template <class To, class From>
bool WindowCopy::launch_pieces(Launches& launches, const To* fill) const {
  using Item = WindowPieces<To, From>;
  const int line = rows_->line(), outer = Item::kRowAxes - line;  // axes around rows come last
  if (in_.ndim() == 0 || outer < 0) return false;
  for (const Shape& extents : {in_.shape, out_.shape, start_})
    for (int64_t extent : extents)
      if (std::abs(extent) >> 30) return false;
  const int64_t block = rows_->block(), elements = block * out_.shape[line];
  const int64_t pieces = pieces_of(elements, Item::kPiece);
  int64_t items = pieces;
  for (int d = 0; d < line; d++) items *= out_.shape[d];
  if ((block * in_.shape[line]) >> 30 || elements >> 30 || items >> 31) return false;
  typename Item::Params params{.out = out_.as<To>(),
                               .in = in_.as<From>(),
                               .fill = fill,
                               .pieces = Divisor::of(pieces),
                               .elements = static_cast<int>(elements),
                               .inside_begin = static_cast<int>(rows_->inside_begin() * block),
                               .inside_end = static_cast<int>(rows_->inside_end() * block),
                               .block = static_cast<int>(block),
                               .line_start = static_cast<int>(rows_->line_start()),
                               .line_extent = static_cast<int>(rows_->line_extent()),
                               .size = {Divisor::of(1), Divisor::of(1), Divisor::of(1)},
                               .start = {},
                               .in_extent = {1, 1, 1},
                               .policy = policy_,
                               .channel_axis = -1,
                               .channels = 1,
                               .channel_step = 1};
  const Shape strides = dense_strides(in_.shape);
  for (int d = 0; d < line; d++) {
    params.size[outer + d] = Divisor::of(out_.shape[d]);
    params.start[outer + d] = static_cast<int>(start_[d]);
    params.in_extent[outer + d] = static_cast<int>(in_.shape[d]);
    params.in_step[outer + d] = strides[d];
  }
  if (fill_.size() > 1) {
    params.channel_axis = outer + channel_axis_;
    params.channels = static_cast<int>(fill_.size());
    params.channel_step = static_cast<int>(strides[channel_axis_]);
  }
  launches.add<Item>(0, items, params);
  return true;
}

void WindowCopy::launch(Launches& launches) const {
  if (moves_) return moves_->launch(launches, out_.data, in_.as<char>() + offset_ * in_size_);
  std::vector<char> fill(fill_.size() * static_cast<size_t>(out_size_));
  for (int64_t c = 0; c < std::ssize(fill_); c++) store_fill(fill.data() + c * out_size_, fill_[c], out_.dtype);
  const char* elements = readable(&launches, fill.data(), std::ssize(fill));
  auto launch = [&](auto to, auto from) {
    using To = typename decltype(to)::type;
    if constexpr (!std::is_same_v<To, AnyElement>)
      if (launch_pieces<To, typename decltype(from)::type>(launches, reinterpret_cast<const To*>(elements))) return;
    using Item = WindowItem<typename decltype(to)::type, typename decltype(from)::type>;
    typename Item::Params params{.out = out_.data,
                                 .in = in_.data,
                                 .fill = elements,
                                 .to = static_cast<int>(out_.dtype),
                                 .from = static_cast<int>(in_.dtype),
                                 .fill_size = static_cast<int>(out_size_),
                                 .axes = in_.ndim(),
                                 .channel_axis = channel_axis_,
                                 .policy = policy_,
                                 .one_fill = fill_.size() == 1};
    for (int d = 0; d < in_.ndim(); d++) {
      params.size[d] = out_.shape[d];
      params.start[d] = start_[d];
      params.in_extent[d] = in_.shape[d];
    }
    launches.add<Item>(0, out_.elements(), params);
  };
  if (out_.dtype == in_.dtype)
    with_size_of(in_.dtype, [&](auto type) { launch(type, type); });
  else
    with_kernel_types(out_.dtype, in_.dtype, launch);
}

// A pattern starts with the first element of a block, or of the line where the channels are the line.
WindowCopy::Patterns WindowCopy::make_patterns() const {
  Patterns patterns;
  int64_t channels = std::ssize(fill_), count = 1, length = 1;
  if (channels > 1 && channel_axis_ < rows_->line()) {
    patterns.channel_axis = channel_axis_;
    count = channels;
  } else if (channels > 1) {
    for (int d = channel_axis_; d < out_.ndim(); d++) length *= out_.shape[d];
  }
  int64_t bytes = length * out_size_, repeats = std::max<int64_t>(kPatternBytes / bytes, 1);
  patterns.bytes = bytes * repeats;
  patterns.elements.resize(count * patterns.bytes);
  for (int64_t p = 0; p < count; p++) {
    char* pattern = patterns.elements.data() + p * patterns.bytes;
    for (int64_t i = 0; i < length; i++)
      store_fill(pattern + i * out_size_, fill_[count > 1 ? p : i * channels / length], out_.dtype);
    for (int64_t done = bytes; done < patterns.bytes; done *= 2)
      std::memcpy(pattern + done, pattern, std::min(done, patterns.bytes - done));
  }
  return patterns;
}

void WindowCopy::copy_row(const WindowRows::Row& row, const Patterns& patterns) const {
  const WindowRows& rows = *rows_;
  const int64_t block = rows.block();
  char* out = out_.as<char>() + (row.out - row.begin * block) * out_size_;  // of line index 0

  auto fill_lines = [&](int64_t begin, int64_t end) {
    const char* pattern = patterns.elements.data();
    if (patterns.channel_axis >= 0) pattern += row.at[patterns.channel_axis] * patterns.bytes;
    int64_t to = end * block * out_size_;
    for (int64_t at = begin * block * out_size_; at < to;) {
      int64_t from = at % patterns.bytes, n = std::min(patterns.bytes - from, to - at);
      std::memcpy(out + at, pattern + from, n);
      at += n;
    }
  };
  if (row.in < 0) return fill_lines(row.begin, row.end);

  ConvertRun convert = truncating_run(out_.dtype, in_.dtype);
  const char* in = in_.as<char>() + row.in * in_size_;
  auto copy_lines = [&](int64_t at, int64_t source, int64_t n) {
    char* to = out + at * block * out_size_;
    const char* from = in + source * block * in_size_;
    if (out_.dtype == in_.dtype && n * block > 0)
      store_row(to, from, n * block * out_size_);
    else
      convert(to, from, n * block);
  };
  auto beyond = [&](int64_t begin, int64_t end) {
    if (policy_ == OutOfBounds::constant) return fill_lines(begin, end);
    for (int64_t i = begin; i < end; i++)
      copy_lines(i, source_index(rows.line_start() + i, rows.line_extent(), policy_), 1);
  };
  int64_t begin = std::clamp(rows.inside_begin(), row.begin, row.end);
  int64_t end = std::clamp(rows.inside_end(), begin, row.end);
  beyond(row.begin, begin);
  copy_lines(begin, rows.line_start() + begin, end - begin);
  beyond(end, row.end);
}

}  // namespace avida
