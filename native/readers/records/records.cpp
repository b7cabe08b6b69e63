#include "readers/records/records.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/error.h"
#include "readers/blocks/block_cutter.h"

namespace avida {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

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

RecordFiles::RecordFiles(std::vector<std::string> paths) : paths_(std::move(paths)) {
  for (storage::Opened& opened : storage::open_all(paths_)) {
    named(path(files()), [&] {
      if (opened.error) std::rethrow_exception(opened.error);
    });
    is_local_ &= opened.object->is_local();
    files_.push_back(std::move(opened.object));
  }
}

void RecordFiles::add(int file, int64_t offset, int64_t size) {
  while (static_cast<int>(first_.size()) <= file) first_.push_back(this->size());
  records_.push_back({offset, size});
}

void RecordFiles::search(FindRecords find, bool keep_damaged) {
  for (int i = 0; i < files(); i++) {
    int64_t end = 0;
    try {
      find(path(i), *storage::in_order(file(i)), [&](int64_t offset, int64_t bytes) {
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

int64_t RecordFiles::end_of(int64_t record, const Place& at) const {
  int64_t end = file(at.file)->size();
  if (at.size > 0)
    end = std::min(end, at.offset + at.size);
  else if (record + 1 < size() && place(record + 1).file == at.file)
    end = std::min(place(record + 1).offset, end);
  return std::max(at.offset, end);
}

void RecordFiles::name_needs(int64_t record, storage::Needs& needs) const {
  constexpr int64_t kMost = 16 << 20;  // of a record of unknown size, which may be damaged
  const Place at = place(record);
  needs.part(path(at.file), file(at.file), at.offset, std::min(end_of(record, at) - at.offset, kMost));
}

std::vector<int64_t> RecordFiles::blocks() const {
  BlockCutter cutter;
  for (int64_t record = 0; record < size(); record++) {
    const Place at = place(record);
    cutter.add(static_cast<size_t>(at.file), at.offset, end_of(record, at));
  }
  return std::move(cutter).firsts();
}

void read_pairs(const std::string& path, const storage::Fetched& fetched,
                const std::function<void(int64_t, int64_t)>& pair) {
  const std::string text = named(path, [&] { return fetched.read_text(path); });
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
