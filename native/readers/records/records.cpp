#include "readers/records/records.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/error.h"

namespace avida {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string read_text(const std::string& path) {
  File file(path);
  std::string text(static_cast<size_t>(file.size()), '\0');
  file.read(text.data(), file.size());
  return text;
}

// Adds the name of the file to errors.
template <class Function>
auto named(const std::string& path, Function&& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw Error(error.kind, str(path, ": ", error.message));
  }
}

}  // namespace

RecordFiles::RecordFiles(std::vector<std::string> paths) {
  size_t count = paths.size();
  files_ = std::make_unique<OpenFiles>(std::move(paths));
  for (size_t i = 0; i < count; i++) sizes_.push_back(named(files_->path(i), [&] { return files_->get(i)->size(); }));
}

void RecordFiles::add(int file, int64_t offset, int64_t size) {
  while (static_cast<int>(first_.size()) <= file) first_.push_back(this->size());
  records_.push_back({offset, size});
}

void RecordFiles::search(FindRecords find, bool keep_damaged) {
  for (int i = 0; i < files(); i++) {
    int64_t end = 0;
    try {
      find(path(i), *open(i), [&](int64_t offset, int64_t bytes) {
        add(i, offset, bytes);
        end = offset + bytes;
      });
    } catch (const Error&) {
      if (!keep_damaged) throw;
      add(i, end, 0);
    }
  }
}

RecordFiles::Place RecordFiles::place(int64_t record) const {
  auto next =
      std::upper_bound(first_.begin(), first_.end(), record);  // files without records have the same first record
  return {static_cast<int>(next - first_.begin()) - 1, records_[record].offset, records_[record].size};
}

std::string RecordFiles::describe(int64_t record) const {
  Place at = place(record);
  return str(path(at.file), ", record ", record - first_[at.file], " at byte ", at.offset);
}

void read_pairs(const std::string& path, const std::function<void(int64_t, int64_t)>& pair) {
  std::string text = named(path, [&] { return read_text(path); });
  const char *at = text.data(), *end = at + text.size();
  int64_t numbers[2], line = 1;
  int found = 0;
  while (true) {
    for (; at != end && is_blank(*at); at++) line += *at == '\n';
    if (at == end) break;
    auto [after, error] = std::from_chars(at, end, numbers[found]);
    if (error != std::errc() || numbers[found] < 0 || (after != end && !is_blank(*after))) {
      const char* word_end = std::find_if(at, std::min(end, at + 40), is_blank);
      refuse(path, ", line ", line, ": expected two integers in each line, got \"", std::string(at, word_end), "\"");
    }
    at = after;
    if (++found == 2) {
      pair(numbers[0], numbers[1]);
      found = 0;
    }
  }
  if (found) refuse(path, ", line ", line, ": the text ends after the first number of a pair");
}

const char* FileWindow::at(int64_t offset, int64_t bytes) {
  if (offset < begin_ || offset + bytes > end_) {
    begin_ = offset;
    end_ = std::min(offset + kSize, file_.size());
    file_.read_at(begin_, window_, end_ - begin_);
  }
  return window_ + (offset - begin_);
}

}  // namespace avida
