#include "readers/annotated/yolo.h"

#include <charconv>
#include <cmath>

#include "core/error.h"

namespace avida {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

// Calls function(number of the line, words) for each line that has some.
template <class Function>
void each_row(std::string_view text, Function&& function) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<std::string_view> words;
  for (int64_t line = 1; !text.empty(); line++) {
    std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), row.size() + 1));
    words.clear();
    for (size_t at = row.find_first_not_of(kBlanks); at != row.npos; at = row.find_first_not_of(kBlanks, at)) {
      const size_t end = std::min(row.find_first_of(kBlanks, at), row.size());
      words.push_back(row.substr(at, end - at));
      at = end;
    }
    if (!words.empty()) function(line, words);
  }
}

class Row {
 public:
  Row(const std::vector<std::string_view>& words, const YoloRows& rows, int height, int width)
      : rows_(rows), height_(height), width_(width) {
    for (std::string_view word : words) numbers_.push_back(number(word));
  }

  int32_t label() const {
    const double label = numbers_[0];
    if (!(label >= 0 && label <= INT32_MAX) || label != std::floor(label))
      refuse("expected a class, an integer from 0 on, got ", label);
    if (rows_.classes > 0 && label >= static_cast<double>(rows_.classes))
      refuse("expected a class from 0 to ", rows_.classes - 1, ", got ", label);
    return static_cast<int32_t>(label);
  }
  size_t count() const { return numbers_.size() - 1; }
  void expect(size_t count, const char* what) const {
    if (this->count() != count) refuse("expected a class and ", count, " numbers, ", what, ", got ", this->count());
  }

  std::array<float, 4> box() const {
    const double x = share(1) * width_, y = share(2) * height_;
    const double width = share(3) * width_, height = share(4) * height_;
    if (width < 0 || height < 0)
      refuse("expected a width and a height from 0 on, got ", numbers_[3], ", ", numbers_[4]);
    return {static_cast<float>(x - width / 2), static_cast<float>(y - height / 2), static_cast<float>(x + width / 2),
            static_cast<float>(y + height / 2)};
  }
  Vertex corner(size_t i) const {
    return {static_cast<float>(share(i) * width_), static_cast<float>(share(i + 1) * height_)};
  }
  float plain(size_t i) const { return static_cast<float>(numbers_[i]); }

 private:
  static double number(std::string_view word) {
    double value = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
      refuse("expected numbers, got \"", word.substr(0, 40), '"');
    return value;
  }
  // As YOLO's own code, which lets shares exceed the image by a hundredth.
  double share(size_t i) const {
    constexpr double kBeyond = 0.01;
    if (numbers_[i] < -kBeyond || numbers_[i] > 1 + kBeyond)
      refuse("expected shares of width and height, from 0 to 1, got ", numbers_[i]);
    return numbers_[i];
  }

  const YoloRows& rows_;
  const double height_, width_;
  std::vector<double> numbers_;
};

void add_segment(const Row& row, Annotations& to) {
  if (row.count() == 4) {  // an object that has a box only
    const auto [left, top, right, bottom] = row.box();
    to.boxes.push_back({left, top, right, bottom});
    to.outlines.push_back({{left, top}, {right, top}, {right, bottom}, {left, bottom}});
    return;
  }
  if (row.count() < 6 || row.count() % 2)
    refuse("expected a class, and x and y of three corners or more, got ", row.count(), " numbers");
  auto& outline = to.outlines.emplace_back();
  for (size_t i = 1; i < row.count(); i += 2) outline.push_back(row.corner(i));
  to.boxes.push_back(box_around(outline));
}

void add_keypoints(const Row& row, const YoloRows& rows, Annotations& to) {
  const auto count = static_cast<size_t>(rows.points), step = static_cast<size_t>(rows.numbers_per_point);
  row.expect(4 + count * step, "centre, width, height and keypoints");
  to.boxes.push_back(row.box());
  auto& points = to.keypoints.emplace_back();
  for (size_t i = 0; i < count; i++) {
    const Vertex at = row.corner(5 + i * step);
    // Points without visibility that are at 0, 0 are missing.
    const float visible = step == 3 ? row.plain(7 + i * step) : at[0] > 0 || at[1] > 0 ? 2.0f : 0.0f;
    points.push_back({at[0], at[1], visible});
  }
}

void add(const Row& row, const YoloRows& rows, Annotations& to) {
  to.labels.push_back(row.label());
  switch (rows.kind) {
    case YoloRows::Kind::boxes:
      row.expect(4, "centre, width and height");
      to.boxes.push_back(row.box());
      return;
    case YoloRows::Kind::segments:
      return add_segment(row, to);
    case YoloRows::Kind::rotated:
      row.expect(8, "x and y of four corners");
      to.rotated.push_back(rotated_around({row.corner(1), row.corner(3), row.corner(5), row.corner(7)}));
      return;
    case YoloRows::Kind::keypoints:
      return add_keypoints(row, rows, to);
  }
}

}  // namespace

Annotations parse_yolo(std::string_view text, const YoloRows& rows, int height, int width) {
  Annotations made;
  each_row(text, [&](int64_t line, const std::vector<std::string_view>& words) {
    try {
      add(Row(words, rows, height, width), rows, made);
    } catch (const Error& error) {
      throw Error(error.kind, str(':', line, ": ", error.message));
    }
  });
  return made;
}

void count_yolo_numbers(std::string_view text, std::set<int64_t>& counts) {
  each_row(text, [&](int64_t, const auto& words) { counts.insert(std::ssize(words) - 1); });
}

}  // namespace avida
