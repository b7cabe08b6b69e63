// Copies and converts a window of a sample, which may exceed it, on either device: for slice, crop and pad.
#pragma once
#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "core/slices/window.h"
#include "loops/moving/convert_run.h"
#include "loops/moving/strided_move.h"
#include "loops/moving/window_item.h"
#include "operator/sample.h"

namespace avida {

// The part of the sample that the window shows; all of it where the window exceeds the sample.
Part shown_part(const Window& window, const SampleView& in);

// A window as rows that lie side by side in the (dense) output. All numbers count elements.
class WindowRows {
 public:
  WindowRows(const Shape& in, const Window& window, OutOfBounds policy);

  struct Row {
    int64_t out;         // where the row begins in the output
    int64_t in;          // where its line begins in the sample: line index 0; -1 when the whole row lies outside
    int64_t begin, end;  // line indices in the output; each is block() elements
    const Shape& at;     // the row's index along the axes before the line
  };

  int64_t count() const { return count_; }
  int line() const { return line_; }        // the axis that rows run along
  int64_t block() const { return block_; }  // the axes after it are shown entirely
  int64_t line_start() const { return line_start_; }
  int64_t line_extent() const { return line_extent_; }  // of the sample
  // The line indices of the output that lie inside the sample.
  int64_t inside_begin() const { return inside_begin_; }
  int64_t inside_end() const { return inside_end_; }

  template <class Fn>  // fn(const Row&) for the rows [first, last)
  void visit(int64_t first, int64_t last, Fn&& fn) const;

 private:
  int64_t source_of(const Shape& at) const;

  Window window_;
  Shape in_, in_strides_;
  OutOfBounds policy_;
  int line_ = 0;
  int64_t block_ = 1, line_start_ = 0, line_extent_ = 1, line_size_ = 1, inside_begin_ = 0, inside_end_ = 1;
  int64_t step_ = 1, cuts_ = 1, count_ = 1;  // long lines are cut into several rows
};

// Copies a window and converts its elements, dropping fractions.
class WindowCopy {
 public:
  // `out` has the window's size; `fill` is one number, or one for each index of the channel axis.
  WindowCopy(const SampleView& out, const SampleView& in, const Window& window, OutOfBounds policy,
             std::span<const float> fill, int channel_axis = -1);

  int64_t rows() const { return moves_ ? moves_->rows() : rows_->count(); }
  void run(int64_t begin, int64_t end) const;
  // Does the rows [work.begin, work.end), or all of them on a GPU.
  template <class Work>
  void run(const Work& work) const {
    if (work.launches)
      launch(*work.launches);
    else
      run(work.begin, work.end);
  }

 private:
  void launch(Launches& launches) const;
  template <class To, class From>
  bool launch_pieces(Launches& launches, const To* fill) const;
  // Output elements to fill with, repeated: one pattern, or one for each channel where a row has a single channel.
  struct Patterns {
    std::vector<char> elements;
    int64_t bytes = 0;      // of one pattern
    int channel_axis = -1;  // along which patterns differ
  };
  Patterns make_patterns() const;
  void copy_row(const WindowRows::Row& row, const Patterns& patterns) const;

  const SampleView &out_, &in_;
  const Shape start_;  // of the window
  const OutOfBounds policy_;
  const std::span<const float> fill_;
  const int channel_axis_;
  const int64_t out_size_, in_size_;  // of an element, in bytes
  bool inside_ = true;
  int64_t offset_ = 0;                // of the window in the sample, in elements
  std::optional<StridedMove> moves_;  // when nothing is to be converted or filled
  std::optional<WindowRows> rows_;
};

template <class Fn>
void WindowRows::visit(int64_t first, int64_t last, Fn&& fn) const {
  if (first >= last) return;
  int64_t cut = first % cuts_, outer = first / cuts_;
  Shape at;
  at.resize(line_, 0);
  for (int64_t d = line_ - 1, rest = outer; d >= 0; d--) {
    at[d] = rest % window_.size[d];
    rest /= window_.size[d];
  }
  int64_t in = source_of(at);
  for (int64_t row = first; row < last; row++) {
    int64_t begin = cut * step_, end = std::min(begin + step_, line_size_);
    fn(Row{(outer * line_size_ + begin) * block_, in, begin, end, at});
    if (++cut < cuts_) continue;
    cut = 0;
    outer++;
    for (int d = line_ - 1; d >= 0 && ++at[d] == window_.size[d]; d--) at[d] = 0;
    in = source_of(at);
  }
}

}  // namespace avida
