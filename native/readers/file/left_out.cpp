#include "readers/file/left_out.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/error.h"

namespace avida {
namespace {

constexpr size_t kMostNamed = 8;
constexpr size_t kMostEndings = 1000;  // more are numbers behind a dot

std::string listed(std::span<const std::string> names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNamed); i++) text += (i ? ", " : "") + names[i];
  if (names.size() > kMostNamed) text += str(", and ", names.size() - kMostNamed, " more");
  return text;
}

}  // namespace

void LeftOut::add(std::string_view file) {
  files_++;
  const std::string_view ending = file.substr(std::min(file.rfind('.'), file.size()));
  if (auto found = count_of_ending_.find(ending); found != count_of_ending_.end())
    found->second++;
  else if (count_of_ending_.size() < kMostEndings)
    count_of_ending_.emplace(ending, 1);
}

void LeftOut::add_class(std::string_view name, int64_t label) { classes_.push_back(str(name, " (label ", label, ")")); }

std::string LeftOut::what() const {
  std::vector<std::pair<int64_t, std::string>> counts;
  for (auto& [ending, count] : count_of_ending_) counts.emplace_back(-count, ending);
  std::sort(counts.begin(), counts.end());
  int64_t others = files_;
  std::vector<std::string> parts, endings;
  for (auto& [count, ending] : std::span(counts).first(std::min(counts.size(), kMostNamed))) {
    endings.push_back(str(ending.empty() ? "without an ending" : ending, " (", -count, ")"));
    others += count;
  }
  if (!endings.empty()) parts.push_back(listed(endings));
  if (others) parts.back() += str(", others (", others, ")");
  if (hidden_files_) parts.push_back(str(hidden_files_, hidden_files_ == 1 ? " hidden file" : " hidden files"));
  if (!hidden_folders_.empty())
    parts.push_back(str("the hidden ", hidden_folders_.size() == 1 ? "folder " : "folders ", listed(hidden_folders_)));
  std::string text;
  for (size_t i = 0; i < parts.size(); i++) text += (i ? "; " : "") + parts[i];
  return text;
}

std::string LeftOut::classes() const { return listed(classes_); }

}  // namespace avida
