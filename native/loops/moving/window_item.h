// GPU bodies that copy and convert windows of samples. Read by NVRTC too: no std headers.
#pragma once
#include "device/any_element.h"
#include "device/border.h"
#include "device/divide.h"
#include "device/words.h"

namespace avida {

// An item is an element of the window. To and From are element types, or AnyElement.
template <class To, class From>
struct WindowItem {
  static constexpr const char* header = "loops/moving/window_item.h";
  static constexpr int kMostAxes = 16;
  struct Params {
    void* out;
    const void* in;
    const void* fill;  // elements of the output: one, or one for each index of channel_axis
    int to, from;      // the types, where they are known at run time only
    int fill_size;     // bytes of an element to fill with
    int axes, channel_axis;
    OutOfBounds policy;
    bool one_fill;
    long size[kMostAxes], start[kMostAxes], in_extent[kMostAxes];
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    long from = 0, step = 1, rest = i, channel = 0;
    bool inside = true;
    for (int d = params.axes - 1; d >= 0; d--) {
      const long next = d ? rest / params.size[d] : 0, at = rest - next * params.size[d];
      const long source = source_index(params.start[d] + at, params.in_extent[d], params.policy);
      rest = next;
      if (d == params.channel_axis) channel = at;
      inside &= source >= 0;
      from += source * step;
      step *= params.in_extent[d];
    }
    if (inside)
      convert_at<false, To, From>(params.out, params.to, i, params.in, params.from, from);
    else
      fill(params, i, params.one_fill ? 0 : channel);
  }

 private:
  AVIDA_HD AVIDA_INLINE static void fill(const Params& params, long i, long channel) {
    if constexpr (!same_type<To, AnyElement>) {
      static_cast<To*>(params.out)[i] = static_cast<const To*>(params.fill)[channel];
    } else {
      for (int b = 0; b < params.fill_size; b++)
        static_cast<char*>(params.out)[i * params.fill_size + b] =
            static_cast<const char*>(params.fill)[channel * params.fill_size + b];
    }
  }
};

// The same in pieces of the rows of WindowRows. The first piece may start before its row so that stores are aligned.
template <class To, class From>
struct WindowPieces {
  static constexpr const char* header = "loops/moving/window_item.h";
  static constexpr int kPiece = sizeof(To) == 1 ? 16 : 4, kRowAxes = 3, kBlocks = 6;
  struct Params {
    To* out;
    const From* in;
    const To* fill;
    Divisor pieces;                          // of a row
    int elements, inside_begin, inside_end;  // of a row; those that lie inside the sample if the row does
    int block, line_start, line_extent;      // a line index is `block` elements
    Divisor size[kRowAxes];                  // around rows
    int start[kRowAxes], in_extent[kRowAxes];
    long in_step[kRowAxes];  // elements
    OutOfBounds policy;
    int channel_axis;            // around rows; kRowAxes is the line, and what is more is in blocks
    int channels, channel_step;  // in blocks; channels is 1 if there is one number to fill with
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const unsigned row = params.pieces(static_cast<unsigned>(i));
    const unsigned piece = params.pieces.rest(static_cast<unsigned>(i), row);
    unsigned rest = row;
    long from = 0, channel = 0;
    bool inside = true;
    for (int d = kRowAxes - 1; d >= 0; d--) {
      const unsigned next = params.size[d](rest);
      const int at = static_cast<int>(params.size[d].rest(rest, next));
      rest = next;
      const long source = source_index(params.start[d] + at, params.in_extent[d], params.policy);
      if (d == params.channel_axis) channel = at;
      inside &= source >= 0;
      from += source * params.in_step[d];
    }
    To* out = params.out + static_cast<long>(row) * params.elements;
    const From* in = params.in + from;
    constexpr int aligned = kPiece * sizeof(To) < 16 ? kPiece * sizeof(To) : 16;
    const int first = static_cast<int>(piece) * kPiece - lead_of<sizeof(To), aligned, kPiece>(out);
    if (inside && first >= params.inside_begin && first + kPiece <= params.inside_end) {
      const auto read = load_elements<kPiece>(in + (static_cast<long>(params.line_start) * params.block + first));
      Elements<To, kPiece> made;
      for (int k = 0; k < kPiece; k++) made.at[k] = convert_element<false, To>(read.at[k]);
      store_elements(out + first, made);
      return;
    }
    const bool fills = params.policy == OutOfBounds::constant || params.policy > OutOfBounds::wrap;
    const bool beyond = fills && (first >= params.inside_end || first + kPiece <= params.inside_begin);
    if ((!inside || beyond) && params.channels == 1 && first >= 0 && first + kPiece <= params.elements) {
      Elements<To, kPiece> filled;
      const To fill = params.fill[0];
      for (int k = 0; k < kPiece; k++) filled.at[k] = fill;
      store_elements(out + first, filled);
      return;
    }
    each_of_piece<kPiece>(first, params.elements, [&](int e) {
      const int line = params.block == 1 ? e : e / params.block, rest_of_block = e - line * params.block;
      const long source = inside ? source_index(params.line_start + line, params.line_extent, params.policy) : -1;
      if (source >= 0) {
        out[e] = convert_element<false, To>(in[source * params.block + rest_of_block]);
        return;
      }
      if (params.channel_axis == kRowAxes) channel = line;
      if (params.channel_axis > kRowAxes) channel = rest_of_block / params.channel_step % params.channels;
      out[e] = params.fill[params.channels == 1 ? 0 : channel];
    });
  }
};

}  // namespace avida
