#include "readers/annotated/voc.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "readers/annotated/xml.h"

namespace avida {
namespace {

const XmlElement& part_of(const XmlElement& element, const char* name) {
  if (const XmlElement* part = element.find(name)) return *part;
  refuse(':', element.line, ": expected <", name, "> in <", element.name, ">, found none");
}

double number_in(const XmlElement& element) {
  double value = 0;
  const char* end = element.text.data() + element.text.size();
  auto [stop, error] = std::from_chars(element.text.data(), end, value);
  if (error != std::errc() || stop != end || !(std::fabs(value) < 1e9))
    refuse(':', element.line, ": expected a number in <", element.name, ">, got \"", element.text.substr(0, 40), '"');
  return value;
}

int32_t flag_in(const XmlElement& object, const char* name) {
  const XmlElement* part = object.find(name);
  return part && !part->text.empty() ? static_cast<int32_t>(number_in(*part)) : 0;
}

// Pixels are counted from 1 on, and the last ones are in the box.
std::array<float, 4> box_in(const XmlElement& object) {
  const XmlElement& box = part_of(object, "bndbox");
  const double left = number_in(part_of(box, "xmin")), top = number_in(part_of(box, "ymin"));
  const double right = number_in(part_of(box, "xmax")), bottom = number_in(part_of(box, "ymax"));
  if (right < left || bottom < top)
    refuse(':', box.line, ": expected xmin <= xmax and ymin <= ymax, got ", left, ", ", top, ", ", right, ", ", bottom);
  return {static_cast<float>(left - 1), static_cast<float>(top - 1), static_cast<float>(right),
          static_cast<float>(bottom)};
}

int32_t pose_in(const XmlElement& object) {
  constexpr std::string_view kPoses[] = {"unspecified", "frontal", "left", "rear", "right"};
  const XmlElement* part = object.find("pose");
  if (!part || part->text.empty()) return 0;
  std::string pose = part->text;
  std::ranges::transform(pose, pose.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto found = std::ranges::find(kPoses, pose);
  return found == std::end(kPoses) ? -1 : static_cast<int32_t>(found - kPoses);
}

template <class Function>
void each_object(std::string_view text, Function&& function) {
  const XmlElement root = parse_xml(text);
  if (root.name != "annotation") refuse(':', root.line, ": expected <annotation>, got <", root.name, '>');
  for (const XmlElement& element : root.elements)
    if (element.name == "object") function(element);
}

}  // namespace

Annotations parse_voc(std::string_view text, const ClassNumbers& classes) {
  Annotations made;
  each_object(text, [&](const XmlElement& object) {
    const XmlElement& name = part_of(object, "name");
    const auto found = classes.find(name.text);
    if (found == classes.end()) refuse(':', name.line, ": the class \"", name.text, "\" is not among classes");
    made.labels.push_back(found->second);
    made.boxes.push_back(box_in(object));
    made.numbers[0].push_back(flag_in(object, "difficult"));
    made.numbers[1].push_back(flag_in(object, "truncated"));
    made.numbers[2].push_back(pose_in(object));
  });
  return made;
}

void name_voc_classes(std::string_view text, ClassNumbers& classes) {
  each_object(text, [&](const XmlElement& object) {
    if (const XmlElement* name = object.find("name")) classes.emplace(name->text, 0);
  });
}

}  // namespace avida
