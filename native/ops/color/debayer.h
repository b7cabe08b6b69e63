// Demosaics images of a sensor with a Bayer filter from the pixels around each pixel.
// Red and blue are in every other row and column, green is between them.
#pragma once
#include "device/convert.h"
#include "device/divide.h"
#include "device/words.h"

namespace avida::ops {

enum class Demosaic { bilinear, edge_aware, gray, vng };

// Sums of four: the smallest type that holds them lets vectors hold most.
template <class T>
struct SumOf {
  using type = unsigned;
};
template <>
struct SumOf<unsigned char> {
  using type = unsigned short;
};

// A pixel and its neighbours.
template <class T>
struct Neighbourhood {
  using Sum = typename SumOf<T>::type;
  Sum center, left, right, above, below, corners;  // the sum of the four corners
  AVIDA_HD AVIDA_INLINE Neighbourhood(const T* upper, const T* row, const T* lower, long x)
      : center(row[x]),
        left(row[x - 1]),
        right(row[x + 1]),
        above(upper[x]),
        below(lower[x]),
        corners(static_cast<Sum>(upper[x - 1] + upper[x + 1] + lower[x - 1] + lower[x + 1])) {}
};

// `own` is the colour that this row has beside green: red or blue; `other` is the third one.
template <class T>
struct Colors {
  T own, green, other;
};

// Whether the sensor's pixel is green makes the difference: is_green has all bits or none. Both ways are computed,
// since a choice between bits vectorises and a branch does not.
template <bool edge_aware, class T>
AVIDA_HD AVIDA_INLINE Colors<T> demosaic(const Neighbourhood<T>& at, T is_green) {
  using Sum = typename Neighbourhood<T>::Sum;
  T across = static_cast<T>((at.left + at.right + 1) >> 1), down = static_cast<T>((at.above + at.below + 1) >> 1);
  T green = static_cast<T>(static_cast<Sum>(at.left + at.right + at.above + at.below + 2) >> 2);
  if constexpr (edge_aware) {
    auto change = [](Sum a, Sum b) { return static_cast<T>(a > b ? a - b : b - a); };
    T change_across = change(at.left, at.right), change_down = change(at.above, at.below);
    green = change_across > change_down ? down : across;
  }
  auto choose = [is_green](T of_green, T of_other) {
    return static_cast<T>((of_green & is_green) | (of_other & static_cast<T>(~is_green)));
  };
  T center = static_cast<T>(at.center), corners = static_cast<T>(static_cast<Sum>(at.corners + 2) >> 2);
  return {choose(across, center), choose(center, green), choose(down, corners)};
}

// The same, mixed to gray by the weights of the colours, which add up to 1 << 14.
template <class T>
AVIDA_HD AVIDA_INLINE int demosaic_gray(const Neighbourhood<T>& at, bool is_green, unsigned own, unsigned other) {
  constexpr unsigned green = 9617;
  unsigned across = at.left + at.right, down = at.above + at.below, center = at.center, corners = at.corners;
  unsigned of_green = (across * own + down * other + 2 * center * green + (1 << 14)) >> 15;
  unsigned of_other = (4 * center * own + (across + down) * green + corners * other + (1 << 15)) >> 16;
  return static_cast<int>(is_green ? of_green : of_other);
}

// Where the colours of a sensor are.
struct BayerPattern {
  int blue_row, blue_column;  // 0 or 1: which of two

  // Beside green, a row has blue or red.
  AVIDA_HD AVIDA_INLINE bool has_blue(long y) const { return y % 2 == blue_row; }
  // The parity of the columns that are green.
  AVIDA_HD AVIDA_INLINE int green_column(long y) const { return has_blue(y) ? 1 - blue_column : blue_column; }
};

// How much the colours that a row has beside green count for in gray.
struct GrayWeights {
  unsigned own, other;
  AVIDA_HD AVIDA_INLINE explicit GrayWeights(bool blue) : own(blue ? 1868 : 4899), other(blue ? 4899 : 1868) {}
};

// Makes an image on a GPU, by all algorithms but vng: a thread makes four neighbours in a row. The outermost rows and
// columns are those beside them.
template <class T>
struct Debayer {
  static constexpr const char* header = "ops/color/debayer.h";
  static constexpr int kThreads = 256, kPhases = 2, kTogether = 4;
  struct Params {
    T* out;
    const T* in;
    long height;
    int width;
    BayerPattern pattern;
    Demosaic algorithm;

    AVIDA_HD AVIDA_INLINE int row_quads() const { return (width - 1) / kTogether + 1; }
    AVIDA_HD AVIDA_INLINE long quads() const { return height * row_quads(); }
    AVIDA_HD AVIDA_INLINE bool is_gray() const { return algorithm == Demosaic::gray; }
    // Whether the results of threads lie side by side in whole words: then the block writes them together.
    AVIDA_HD AVIDA_INLINE bool in_words() const {
      return !is_gray() && width % kTogether == 0 && address_of(out) % 4 == 0;
    }
  };
  static constexpr int kWords = 3 * kTogether * sizeof(T) / 4;  // of a thread's results
  struct Shared {
    unsigned words[kThreads * kWords];
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const long first = item * kThreads, quads = params.quads();
    if constexpr (phase == 0) {
      if (first + thread >= quads) return;
      const long y = divided(first + thread, params.row_quads()).whole;
      const int x = static_cast<int>(first + thread - y * params.row_quads()) * kTogether;
      if (params.is_gray()) {
        T made[kTogether] = {};
        make_gray(params, y, x, made);
        store<1>(params, y, x, made);
      } else {
        T made[3 * kTogether] = {};
        make_colors(params, y, x, made);
        if (!params.in_words()) return store<3>(params, y, x, made);
        for (int w = 0; w < kWords; w++) {
          if constexpr (sizeof(T) == 1)
            shared.words[thread * kWords + w] = word_of(made[4 * w], made[4 * w + 1], made[4 * w + 2], made[4 * w + 3]);
          else
            shared.words[thread * kWords + w] = made[2 * w] | static_cast<unsigned>(made[2 * w + 1]) << 16;
        }
      }
    } else {
      if (!params.in_words()) return;
      const long left = quads - first;
      const int n = static_cast<int>(left < kThreads ? left : kThreads) * kWords;
      unsigned* out = reinterpret_cast<unsigned*>(params.out) + first * kWords;
      for (int i = thread; i < n; i += kThreads) out[i] = shared.words[i];
    }
  }

 private:
  // The neighbours of four pixels: three rows, from one column before them to one behind.
  struct Window {
    static constexpr int kColumns = kTogether + 2;
    T at[3][kColumns];
    AVIDA_HD AVIDA_INLINE Neighbourhood<T> around(int i) const { return {at[0], at[1], at[2], i + 1}; }
  };
  AVIDA_HD AVIDA_INLINE static Window load(const Params& params, long y, int x) {
    constexpr int bytes = (Window::kColumns * static_cast<int>(sizeof(T)) + 3) / 4 * 4;
    constexpr int columns = bytes / static_cast<int>(sizeof(T));
    const T* row = params.in + (y - 1) * params.width;
    const bool inside = x > 0 && x <= params.width - columns + 1;
    Window window;
    for (int r = 0; r < 3; r++, row += params.width) {
      if (inside) {
        unsigned char loaded[bytes];
        load_bytes(row + x - 1, loaded);
        for (int i = 0; i < Window::kColumns; i++) {
          if constexpr (sizeof(T) == 1)
            window.at[r][i] = loaded[i];
          else
            window.at[r][i] = static_cast<T>(loaded[2 * i] | loaded[2 * i + 1] << 8);
        }
      } else {
        for (int i = 0; i < Window::kColumns; i++) {
          const int column = x - 1 + i;
          window.at[r][i] = row[column < 0 ? 0 : column < params.width ? column : params.width - 1];
        }
      }
    }
    return window;
  }

  // The row that is made instead of y; 0: there is none.
  AVIDA_HD AVIDA_INLINE static long inner_row(const Params& params, long y) {
    if (params.height <= 2 || params.width <= 2) return 0;
    return y < 1 ? 1 : y < params.height - 1 ? y : params.height - 2;
  }
  // The outermost columns are those beside them.
  template <int channels>
  AVIDA_HD AVIDA_INLINE static void fix_borders(const Params& params, int x, T (&made)[channels * kTogether]) {
    if (x > 0 && x < params.width - kTogether) return;
    for (int c = 0; c < channels; c++) {
      if (x == 0) made[c] = made[channels + c];
      for (int i = 1; i < kTogether; i++)
        if (i == params.width - 1 - x) made[channels * i + c] = made[channels * (i - 1) + c];
    }
  }

  AVIDA_HD AVIDA_INLINE static void make_gray(const Params& params, long y, int x, T (&made)[kTogether]) {
    y = inner_row(params, y);
    if (y == 0) return;
    const Window window = load(params, y, x);
    const GrayWeights weights(params.pattern.has_blue(y));
    const int green = params.pattern.green_column(y);
    for (int i = 0; i < kTogether; i++)
      made[i] = static_cast<T>(demosaic_gray(window.around(i), i % 2 == green, weights.own, weights.other));
    fix_borders<1>(params, x, made);
  }

  AVIDA_HD AVIDA_INLINE static void make_colors(const Params& params, long y, int x, T (&made)[3 * kTogether]) {
    y = inner_row(params, y);
    if (y == 0) return;
    const Window window = load(params, y, x);
    const bool blue = params.pattern.has_blue(y);
    const bool edge_aware = params.algorithm == Demosaic::edge_aware;
    if (params.pattern.green_column(y) == 0)
      edge_aware ? make_colors<true, 0>(window, blue, made) : make_colors<false, 0>(window, blue, made);
    else
      edge_aware ? make_colors<true, 1>(window, blue, made) : make_colors<false, 1>(window, blue, made);
    fix_borders<3>(params, x, made);
  }

  template <bool edge_aware, int green>
  AVIDA_HD AVIDA_INLINE static void make_colors(const Window& window, bool blue, T (&made)[3 * kTogether]) {
    for (int i = 0; i < kTogether; i++) {
      const T is_green = static_cast<T>(i % 2 == green ? ~0 : 0);
      const Colors<T> colors = demosaic<edge_aware>(window.around(i), is_green);
      made[3 * i] = blue ? colors.other : colors.own;
      made[3 * i + 1] = colors.green;
      made[3 * i + 2] = blue ? colors.own : colors.other;
    }
  }

  template <int channels>
  AVIDA_HD AVIDA_INLINE static void store(const Params& params, long y, int x, const T (&made)[channels * kTogether]) {
    T* out = params.out + (y * params.width + x) * channels;
    for (int i = 0; i < kTogether; i++)
      for (int c = 0; c < channels && i < params.width - x; c++) out[channels * i + c] = made[channels * i + c];
  }
};

}  // namespace avida::ops
