// Resampling on a GPU: one pass for each axis, after one that makes the weights of all.
#include <algorithm>

#include "op/kernel_types.h"
#include "op/launch_convert.h"
#include "op/launches.h"
#include "op/resample.h"
#include "op/resample_bytes.h"
#include "op/resample_taps.h"

namespace avida {
namespace {

// Memory for everything that one sample needs on the way, taken at once.
class Scratch {
 public:
  int64_t reserve(int64_t bytes) {
    const int64_t at = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return at;
  }
  void take(Launches& launches) { memory_ = static_cast<char*>(launches.scratch(bytes_)); }
  template <class T>
  T* at(int64_t place) const {
    return reinterpret_cast<T*>(memory_ + place);
  }

 private:
  int64_t bytes_ = 0;
  char* memory_ = nullptr;
};

struct Pass {
  ResampleAxis axis;
  int64_t outer, inner;                                              // what stands before and after the axis
  int64_t count = 0, first = 0, weights = 0, whole = 0, result = 0;  // of taps; places in the scratch memory

  bool moves_only() const { return axis.filter == ResampleFilter::nearest; }
  int64_t out_elements() const { return outer * axis.out * inner; }
};

struct Passes {
  Launches& launches;
  std::vector<Pass> list;
  Scratch scratch;

  void add(const ResampleAxis& axis, int64_t outer, int64_t inner) {
    check_not_empty(axis);
    Pass pass{axis, outer, inner};
    pass.count = std::min<int64_t>(window_count(axis), axis.in);
    pass.first = scratch.reserve(axis.out * int64_t{sizeof(int)});
    pass.weights = scratch.reserve(axis.out * pass.count * int64_t{sizeof(float)});
    list.push_back(pass);
  }

  // `whole`: as whole numbers too. What passes hand on takes `bytes` for an element.
  void make_taps(bool whole, int64_t bytes) {
    for (Pass& pass : list) {
      if (whole) pass.whole = scratch.reserve(pass.axis.out * pass.count * int64_t{sizeof(int16_t)});
      pass.result = scratch.reserve(&pass == &list.back() ? 0 : pass.out_elements() * bytes);
    }
    scratch.take(launches);
    for (const Pass& pass : list) {
      const ResampleFilter filter = pass.axis.filter;
      const bool reads_table =
          filter == ResampleFilter::cubic || filter == ResampleFilter::lanczos3 || filter == ResampleFilter::gaussian;
      const float* table = reads_table ? readable(&launches, filter_table(filter), filter_table_size(filter)) : nullptr;
      launches.add<TapsItem>(
          0, pass.axis.out,
          {pass.axis, table, pass.count, first(pass), weights(pass), whole ? this->whole(pass) : nullptr});
    }
    launches.then();
  }

  int* first(const Pass& pass) const { return scratch.at<int>(pass.first); }
  float* weights(const Pass& pass) const { return scratch.at<float>(pass.weights); }
  int16_t* whole(const Pass& pass) const { return scratch.at<int16_t>(pass.whole); }

  void pick(const Pass& pass, void* out, const void* in, DType type) const {
    with_size_of(type, [&](auto bits) {
      using T = typename decltype(bits)::type;
      launches.add<PickItem<T>>(
          0, pass.out_elements(),
          {static_cast<T*>(out), static_cast<const T*>(in), first(pass), pass.axis.in, pass.axis.out, pass.inner});
    });
  }

  void mix(const Pass& pass, void* out, DType to, const void* in, DType from) const {
    with_kernel_types(to, from, [&](auto to_type, auto from_type) {
      using Item = ResampleItem<typename decltype(to_type)::type, typename decltype(from_type)::type>;
      launches.add<Item>(0, pass.out_elements(),
                         {out, in, static_cast<int>(to), static_cast<int>(from), first(pass), weights(pass), pass.count,
                          pass.axis.in, pass.axis.out, pass.inner});
    });
  }

  template <class To>
  void filter_bytes(const Pass& pass, To* out, const uint8_t* in) const {
    auto filter = [&]<int channels>() {
      launches.add<FilterBytesItem<To, channels>>(
          0, pass.outer * pass.axis.out,
          {out, in, first(pass), whole(pass), static_cast<int>(pass.count), pass.axis.in, pass.axis.out});
    };
    if (pass.inner == 1) return filter.template operator()<1>();
    if (pass.inner == 2) return filter.template operator()<2>();
    if (pass.inner == 3) return filter.template operator()<3>();
    filter.template operator()<4>();
  }

  template <class From>
  void mix_bytes(const Pass& pass, uint8_t* out, const From* in) const {
    using Item = MixBytesItem<From>;
    const bool aligned = pass.inner % kNeighbours == 0 && reinterpret_cast<uintptr_t>(out) % kNeighbours == 0 &&
                         reinterpret_cast<uintptr_t>(in) % (kNeighbours * sizeof(From)) == 0;
    launches.add<Item>(0, pass.outer * pass.axis.out * Item::items_per_row(pass.inner),
                       {out, in, first(pass), whole(pass), static_cast<int>(pass.count), aligned, pass.axis.in,
                        pass.axis.out, pass.inner});
  }
};

}  // namespace

void Resample::launch(Launches& launches, void* out, const void* in) const {
  if (empty_) return;
  Passes passes{launches, {}, {}};
  int64_t outer = 1;
  bool moves_only = in_type_ == out_type_, mixed = false;
  for (size_t k = 0; k < mixes_.size(); k++) {
    outer *= repeats_[k];
    passes.add(mixes_[k].axis, outer, mixes_[k].in_slice);
    outer *= mixes_[k].axis.out;
    mixed |= !passes.list.back().moves_only();
  }
  outer *= repeats_.back();
  if (image_.columns) passes.add(*image_.columns, outer * image_.in_rows, image_.channels);
  if (image_.rows) passes.add(*image_.rows, outer, image_.out_columns * image_.channels);
  for (const Pass& pass : passes.list) moves_only &= pass.moves_only();
  if (passes.list.empty())
    return launch_convert(launches, out, out_type_, in, in_type_,
                          outer * image_.in_rows * image_.in_columns * image_.channels);

  // As on the CPU, which resamples the last axes of bytes in whole numbers.
  const bool whole =
      in_type_ == DType::uint8 && out_type_ == DType::uint8 && !moves_only && !mixed && suits_bytes(image_);
  passes.make_taps(whole, whole ? 2 : std::max(4, size_of(in_type_)));
  DType type = in_type_;
  for (size_t k = 0; k < passes.list.size(); k++) {
    const Pass& pass = passes.list[k];
    const bool last = k + 1 == passes.list.size(), in_image = k >= mixes_.size();
    void* to = last ? out : passes.scratch.at<void>(pass.result);
    if (moves_only || (!in_image && pass.moves_only())) {
      passes.pick(pass, to, in, type);
    } else if (!whole) {
      const DType made = last ? out_type_ : DType::float32;
      passes.mix(pass, to, made, in, type);
      type = made;
    } else if (image_.columns && k == mixes_.size()) {
      if (last)
        passes.filter_bytes(pass, static_cast<uint8_t*>(to), static_cast<const uint8_t*>(in));
      else
        passes.filter_bytes(pass, static_cast<int16_t*>(to), static_cast<const uint8_t*>(in));
    } else if (image_.columns) {
      passes.mix_bytes(pass, static_cast<uint8_t*>(to), static_cast<const int16_t*>(in));
    } else {
      passes.mix_bytes(pass, static_cast<uint8_t*>(to), static_cast<const uint8_t*>(in));
    }
    launches.then();
    in = to;
  }
}

}  // namespace avida
