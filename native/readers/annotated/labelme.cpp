#include "readers/annotated/labelme.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace avida {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

enum Kind { polygon, rectangle, circle, point, line, line_strip };
constexpr std::string_view kKinds[] = {"polygon", "rectangle", "circle", "point", "line", "linestrip"};

// The file, parsed. An error in a shape names its line and number.
class Document {
 public:
  explicit Document(std::string_view text) : text_(text) {
    if (auto error = parser_.parse(text_).get(root_)) refuse(": expected JSON: ", simdjson::error_message(error));
    if (root_.get(fields_) || fields_["shapes"].get(shapes_))
      refuse(": expected LabelMe's JSON, an object with a list \"shapes\"");
  }

  template <class Function>
  void each_shape(Function&& function) const {
    int64_t i = 0;
    for (const element& each : shapes_) {
      object shape;
      try {
        if (each.get(shape)) refuse("expected an object in braces");
        function(shape);
      } catch (const Error& error) {
        throw Error(error.kind, str(":", line_of(i), " shapes[", i, "]: ", error.message));
      }
      i++;
    }
  }
  // Empty if it is missing or null.
  std::string_view text_of(const char* name) const {
    element value;
    std::string_view text;
    if (fields_[name].get(value) || value.is_null()) return {};
    if (value.get(text)) refuse(": expected a text in \"", name, '"');
    return text;
  }

 private:
  // The number of the line where shape `i` begins, by its bracket.
  std::string line_of(int64_t i) const {
    const std::string_view text(text_);
    size_t at = text.find("\"shapes\"");
    if (at == text.npos) return {};
    int64_t depth = 0, seen = -1, lines = std::count(text.begin(), text.begin() + static_cast<int64_t>(at), '\n');
    for (bool quoted = false; at < text.size(); at++) {
      const char c = text[at];
      lines += c == '\n';
      if (c == '\\' && quoted) at++;
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      if (c == '{' && depth++ == 0 && ++seen == i) return str(lines + 1, ":");
      if (c == '}') depth--;
    }
    return {};
  }

  simdjson::padded_string text_;
  simdjson::dom::parser parser_;
  element root_;
  object fields_;
  simdjson::dom::array shapes_;
};

std::string_view label_of(const object& shape) {
  std::string_view label;
  if (shape["label"].get(label)) refuse("expected a text in \"label\"");
  return label;
}

Kind kind_of(const object& shape) {
  element value;
  if (shape["shape_type"].get(value) || value.is_null()) return polygon;  // as LabelMe's first versions wrote
  std::string_view name;
  if (value.get(name)) refuse("expected a text in \"shape_type\"");
  const auto found = std::ranges::find(kKinds, name);
  if (found == std::end(kKinds))
    refuse("expected polygon, rectangle, circle, point, line or linestrip as \"shape_type\", got \"", name, '"');
  return static_cast<Kind>(found - kKinds);
}

std::vector<Vertex> points_of(const object& shape) {
  simdjson::dom::array points;
  if (shape["points"].get(points)) refuse("expected a list in \"points\"");
  std::vector<Vertex> made;
  for (const element& each : points) {
    simdjson::dom::array pair;
    double x = 0, y = 0;
    if (each.get(pair) || pair.size() != 2 || pair.at(0).get(x) || pair.at(1).get(y))
      refuse("expected x and y for each of \"points\"");
    if (!(std::fabs(x) < 1e9 && std::fabs(y) < 1e9)) refuse("expected points in pixels, got ", x, ", ", y);
    made.push_back({static_cast<float>(x), static_cast<float>(y)});
  }
  return made;
}

void expect(bool enough, const char* what, const std::vector<Vertex>& points) {
  if (!enough) refuse("expected ", what, " in \"points\", got ", points.size());
}

// A polygon as fine as anyone sees.
std::vector<Vertex> circle_around(const Vertex& centre, const Vertex& on_it) {
  constexpr int kCorners = 64;
  const double radius = std::hypot(on_it[0] - centre[0], on_it[1] - centre[1]);
  std::vector<Vertex> outline;
  for (int i = 0; i < kCorners; i++) {
    const double angle = 2 * M_PI * i / kCorners;
    outline.push_back({static_cast<float>(centre[0] + radius * std::cos(angle)),
                       static_cast<float>(centre[1] + radius * std::sin(angle))});
  }
  return outline;
}

void add(const object& shape, const ClassNumbers& classes, Annotations& to) {
  const std::string_view label = label_of(shape);
  const auto found = classes.find(label);
  if (found == classes.end()) refuse("the label \"", label, "\" is not among classes");
  const Kind kind = kind_of(shape);
  std::vector<Vertex> points = points_of(shape), outline;
  switch (kind) {
    case polygon:
      expect(points.size() >= 3, "three corners or more", points);
      outline = points;
      break;
    case rectangle: {
      expect(points.size() == 2 || points.size() == 4, "two corners, or all four", points);
      const auto [left, top, right, bottom] = box_around(points);
      outline = {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
      break;
    }
    case circle:
      expect(points.size() == 2, "the centre and a point on the circle", points);
      outline = circle_around(points[0], points[1]);
      break;
    case point:
      expect(points.size() == 1, "one point", points);
      break;
    case line:
    case line_strip:
      expect(points.size() >= 2, "two points or more", points);
      break;
  }
  to.labels.push_back(found->second);
  to.boxes.push_back(box_around(outline.empty() ? points : outline));
  auto& keypoints = to.keypoints.emplace_back();
  if (outline.empty())
    for (const Vertex& at : points) keypoints.push_back({at[0], at[1], 2});
  to.outlines.push_back(std::move(outline));
  int64_t group = -1;
  element value;
  const bool is_grouped = !shape["group_id"].get(value) && !value.is_null();
  if (is_grouped && (value.get(group) || group < 0 || group > INT32_MAX))
    refuse("expected an integer from 0 on in \"group_id\"");
  to.numbers[0].push_back(kind);
  to.numbers[1].push_back(static_cast<int32_t>(group));
}

std::vector<uint8_t> from_base64(std::string_view text) {
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                : c >= 'a' && c <= 'z' ? c - 'a' + 26
                : c >= '0' && c <= '9' ? c - '0' + 52
                : c == '+'             ? 62
                : c == '/'             ? 63
                                       : -1;
    if (c == '=' || c == '\n' || c == '\r') continue;
    if (value < 0) refuse(": expected the image in base64 as \"imageData\"");
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++count == 4) {
      for (int shift : {16, 8, 0}) bytes.push_back(static_cast<uint8_t>(bits >> shift));
      bits = 0;
      count = 0;
    }
  }
  if (count >= 2) bytes.push_back(static_cast<uint8_t>(bits >> (6 * count - 8)));
  if (count == 3) bytes.push_back(static_cast<uint8_t>(bits >> 2));
  return bytes;
}

}  // namespace

LabelMeFile parse_labelme(std::string_view text, const ClassNumbers& classes) {
  const Document document(text);
  LabelMeFile made;
  document.each_shape([&](const object& shape) { add(shape, classes, made.objects); });
  made.image_name = document.text_of("imagePath");
  std::ranges::replace(made.image_name, '\\', '/');  // of files that Windows has written
  if (made.image_name.find('\0') != std::string::npos) refuse(": expected the name of a file in \"imagePath\"");
  if (const std::string_view image = document.text_of("imageData"); !image.empty()) made.image = from_base64(image);
  return made;
}

void name_labelme_classes(std::string_view text, ClassNumbers& classes) {
  Document(text).each_shape([&](const object& shape) { classes.emplace(label_of(shape), 0); });
}

}  // namespace avida
