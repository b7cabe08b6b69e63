#include "arguments/choices.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace avida {
namespace {
bool same_in_any_case(std::string_view a, std::string_view b) {
  auto small = [](unsigned char letter) { return std::tolower(letter); };
  return std::ranges::equal(a, b, {}, small, small);
}
}  // namespace

int Choices::number_of(std::string_view name) const {
  for (size_t i = 0; i < list_.size(); i++)
    if (matches(list_[i].name, name)) return value(i);
  fail(rules_.enumeration ? ErrorKind::value : rules_.error, "must be ", listed(), ", got \"", name, '"');
}

int Choices::checked(int64_t number) const {
  for (size_t i = 0; i < list_.size(); i++)
    if (value(i) == number) return value(i);
  fail(rules_.error, "must be ", listed(), ", got ", number);
}

std::string_view Choices::name_of(int number) const {
  for (size_t i = 0; i < list_.size(); i++)
    if (value(i) == number) return list_[i].name;
  return "";
}

bool Choices::matches(std::string_view known, std::string_view name) const {
  if (!rules_.any_case && !rules_.enumeration) return known == name;
  const std::string_view prefix = rules_.prefix;
  if (same_in_any_case(name.substr(0, prefix.size()), prefix)) name.remove_prefix(prefix.size());
  return same_in_any_case(known, name);
}

// The first name of each member.
std::string Choices::listed() const {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < list_.size(); i++)
    if (name_of(value(i)) == list_[i].name) names.push_back(list_[i].name);
  std::string text;
  for (size_t i = 0; i < names.size(); i++)
    text += str(i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", '"', names[i], '"');
  return text;
}

}  // namespace avida
