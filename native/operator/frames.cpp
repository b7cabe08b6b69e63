#include "operator/frames.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "operator/sample.h"
#include "runtime/memory.h"

namespace avida {

Layout without_frames(const Layout& layout) { return layout.empty() ? layout : Layout(layout.view().substr(1)); }

Layout with_frames(const Layout& layout, int ndim) {
  return Layout(str("F", layout.empty() ? std::string(std::max(0, ndim), '*') : std::string(layout.view())));
}

Frames::Frames(std::span<const Sequences> given, bool first_decides, int samples, bool is_batch) {
  for (int i = 0; i < samples; i++) {
    auto frames_in = [i](const Sequences& value) {
      return value.data->shapes.dims(value.data->size() == 1 ? 0 : i)[0];
    };
    int64_t n = frames_in(given[0]);
    for (auto& value : given.subspan(1)) {
      int64_t other = frames_in(value);
      if (n == 1 && !first_decides) n = other;
      if (other != n && other != 1)
        value_error(is_batch ? str("sample ", i, ": ") : "", "expected ", n, n == 1 ? " frame" : " frames", " in \"",
                    value.name, "\", got ", other);
    }
    counts_.push_back(n);
    for (int f = 0; f < n; f++) places_.push_back({i, f});
  }
}

Data Frames::split(const Data& data) const {
  const bool sequence = is_sequence(data.layout);
  Data out;
  out.dtype = data.dtype;
  out.layout = sequence ? without_frames(data.layout) : data.layout;
  out.device = data.device;
  out.read_only = data.read_only;
  out.stream = data.stream;
  out.shapes = ShapeList(size(), data.shapes.ndim() - sequence);
  std::vector<void*> samples;
  std::vector<Block> owners;
  std::vector<Origin> origins;
  for (int i = 0; i < size(); i++) {
    auto [sample, frame] = places_[i];
    int at = data.size() == 1 ? 0 : sample;
    Shape shape(data.shapes.dims(at).subspan(sequence));
    out.shapes.set(i, shape);
    int64_t own = sequence && data.shapes.dims(at)[0] > 1 ? frame : 0;
    samples.push_back(static_cast<char*>(data.at(at)) + own * volume(shape) * size_of(data.dtype));
    owners.push_back(data.owner(at));
    if (data.origins) origins.push_back((*data.origins)[at]);
  }
  out.place(std::move(owners), std::move(samples));
  if (data.origins) out.origins = std::make_shared<const std::vector<Origin>>(std::move(origins));
  return out;
}

bool Frames::in_order(const Data& frames) const {
  for (int i = 1; i < size(); i++)
    if (places_[i].frame > 0 && frames.at(i) != static_cast<char*>(frames.at(i - 1)) + frames.bytes(i - 1))
      return false;
  return size() > 0;
}

bool Frames::single() const {
  return std::ranges::all_of(counts_, [](int64_t n) { return n == 1; });
}

Data Frames::join(const Data& frames, const Shape& frame, ResultMemory where) const {
  const int samples = static_cast<int>(counts_.size());
  Meta meta;
  meta.dtype = frames.dtype;
  meta.device = frames.device;
  meta.layout = with_frames(frames.layout, frames.shapes.ndim());
  Shape any;  // the shape of a frame, for sequences without frames
  any.resize(frames.shapes.ndim(), 0);
  if (size() > 0)
    any = frames.shapes[0];
  else if (frame.size() == any.size())
    any = frame;
  ShapeList shapes(samples, frames.shapes.ndim() + 1);
  for (int i = 0, first = 0; i < samples; first += static_cast<int>(counts_[i]), i++) {
    Shape shape = counts_[i] ? frames.shapes[first] : any;
    for (int f = first; f < first + counts_[i]; f++) {
      if (frames.shapes[f] != shape)
        value_error("expected frames of one shape in a sequence, got ", shape, " and ", frames.shapes[f]);
    }
    shape.insert(0, counts_[i]);
    shapes.set(i, shape);
  }
  if (!in_order(frames)) {
    Data out = allocate_result(meta, shapes, where);
    for (int i = 0; i < size(); i++) {
      auto [sample, frame] = places_[i];
      std::memcpy(static_cast<char*>(out.at(sample)) + frame * frames.bytes(i), frames.at(i),
                  static_cast<size_t>(frames.bytes(i)));
    }
    return out;
  }
  Data out;
  out.dtype = frames.dtype;
  out.device = frames.device;
  out.stream = frames.stream;
  out.layout = meta.layout;
  out.shapes = shapes;
  std::vector<void*> places;
  for (int i = 0, first = 0; i < samples; first += static_cast<int>(counts_[i]), i++)
    places.push_back(frames.at(std::min(first, size() - 1)));
  out.place(frames.owner(0), std::move(places));
  return out;
}

}  // namespace avida
