#include "readers/file/file_list.h"

#include <fnmatch.h>
#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "core/error.h"
#include "readers/file/left_out.h"
#include "readers/file/listing.h"
#include "readers/file/steps.h"
#include "storage/names.h"
#include "storage/storage.h"

namespace avida {
namespace {

bool is_hidden(std::string_view name) { return name.starts_with('.'); }

class NameFilter {
 public:
  NameFilter(const std::string& pattern, bool case_sensitive) : pattern_(pattern), case_sensitive_(case_sensitive) {
    ending_only_ = pattern.starts_with('*') && pattern.find_first_of("*?[\\", 1) == std::string::npos;
  }
  bool matches(std::string_view name) const {
    // Most filters are like "*.jpg": comparing suffixes is many times faster than fnmatch.
    if (ending_only_) {
      size_t length = pattern_.size() - 1;
      if (name.size() < length) return false;
      const char *end = name.data() + name.size() - length, *want = pattern_.data() + 1;
      return case_sensitive_ ? std::memcmp(end, want, length) == 0 : strncasecmp(end, want, length) == 0;
    }
    return fnmatch(pattern_.c_str(), std::string(name).c_str(), case_sensitive_ ? 0 : FNM_CASEFOLD) == 0;
  }
  // As in a shell, hidden names match patterns that begin with a dot only.
  static bool any_matches(const std::vector<NameFilter>& filters, std::string_view name) {
    return std::any_of(filters.begin(), filters.end(), [&](auto& filter) {
      return filter.matches(name) && (!is_hidden(name) || is_hidden(filter.pattern_));
    });
  }
  static bool any_but_for_its_dot(const std::vector<NameFilter>& filters, std::string_view name) {
    return std::any_of(filters.begin(), filters.end(), [&](auto& filter) { return filter.matches(name); });
  }
  static std::vector<NameFilter> all(const std::vector<std::string>& patterns, bool case_sensitive) {
    std::vector<NameFilter> filters;
    for (auto& pattern : patterns) filters.emplace_back(pattern, case_sensitive);
    return filters;
  }

 private:
  std::string pattern_;
  bool case_sensitive_, ending_only_;
};

bool parse(const char* begin, const char* end, int32_t& number) {
  auto [stop, error] = std::from_chars(begin, end, number);
  return stop == end && error == std::errc();
}

// A folder, and the folders in it: as they are listed now, one by one on this machine, or as they were.
class Folders {
 public:
  using Names = std::vector<std::string_view>;

  Folders(const std::string& root, const Listing* kept, const Interrupt& interrupt)
      : root_(root), steps_(interrupt), listing_(kept) {
    if (kept || storage::is_local(root)) return;
    made_ = Listing::of(root, interrupt);
    listing_ = made_.get();
  }

  void step() const { steps_.next(); }

  // The names of folders, or of files, in the root or in a folder of it, sorted; in `text`.
  template <class Wanted>
  Names list(std::string_view folder, bool folders, std::string& text, Wanted&& wanted) const {
    text.clear();
    std::vector<std::pair<size_t, size_t>> places;  // offsets, since the text may move while it grows
    auto add = [&](std::string_view name) {
      steps_.next();
      if (!wanted(name)) return;
      places.emplace_back(text.size(), name.size());
      text += name;
    };
    if (listing_)
      folders ? listing_->each_folder(add) : listing_->each_file(folder, add);
    else
      storage::list(folder.empty() ? root_ : storage::name_in(root_, std::string(folder)), false,
                    [&](const storage::Entry& entry) {
                      if (entry.is_folder == folders) add(entry.name);
                    });
    Names names;
    for (auto [at, length] : places) names.emplace_back(text.data() + at, length);
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  const std::string root_;
  mutable Steps steps_;
  std::shared_ptr<const Listing> made_;
  const Listing* listing_;  // null: each folder is listed when it is asked for
};

// A hint for the error message, if there are files in the folder itself.
std::string hint_for_flat_folder(const Folders& root, const std::string& prefix,
                                 const std::vector<NameFilter>& wanted) {
  std::string text;
  const auto files =
      root.list("", false, text, [&](std::string_view name) { return NameFilter::any_matches(wanted, name); });
  if (files.empty()) return "";
  auto ending = [](std::string_view name) { return name.substr(std::min(name.rfind('.'), name.size())); };
  bool is_common =
      std::all_of(files.begin(), files.end(), [&](auto& file) { return ending(file) == ending(files[0]); });
  return str(". ", files.size(), files.size() == 1 ? " such file lies" : " such files lie",
             " in this folder itself, without a class folder as a label. To read them: files=sorted(glob.glob(\"",
             prefix, "*", is_common ? ending(files[0]) : "", "\"))");
}

// The numbers of classes by their names.
class Labels {
 public:
  Labels(const std::string& root, const std::vector<std::string>& classes) : root_(root), classes_(classes) {
    for (const std::string& name : classes) label_of_.emplace(name, static_cast<int32_t>(label_of_.size()));
  }
  int32_t of(std::string_view folder) const {
    auto found = label_of_.find(folder);
    if (found == label_of_.end())
      refuse("expected folders in ", root_, " that are among the ", classes_.size(), " names in classes, got \"",
             folder, "\". Add it there, or choose folders by dir_filters");
    return found->second;
  }

 private:
  const std::string& root_;
  const std::vector<std::string>& classes_;
  std::map<std::string, int32_t, std::less<>> label_of_;
};

std::string warning(const LeftOut& left_out, const std::string& root, const FileList::Filters& filters,
                    const Opening& opening) {
  std::string text = str(opening.reader, " leaves out of ", root, ": ", left_out.what(), ".");
  if (const std::string classes = left_out.classes(); !classes.empty())
    text += str(" Without any other file, but with their labels: ", classes, ".");
  if (left_out.has_endings()) text += ' ' + filters.remedy + '.';
  if (left_out.has_hidden())
    text += " Names that begin with a dot are hidden: only filters that begin with one match them.";
  return text;
}

}  // namespace

std::string FileList::path(int64_t i) const {
  const Entry& entry = entries_[i];
  std::string_view name(names_.data() + entry.name, entry.length);
  std::string path;
  if (!storage::is_complete(name)) path = folders_[entry.folder];
  return path.append(name);
}

bool FileList::is_local() const {
  if (!std::ranges::all_of(folders_, storage::is_local)) return false;
  if (names_.find("://") == std::string::npos) return true;
  for (int64_t i = 0; i < size(); i++)
    if (!storage::is_local(path(i))) return false;
  return true;
}

int FileList::add_folder(std::string_view path) {
  folders_.emplace_back(path);
  if (!path.empty() && !path.ends_with('/')) folders_.back() += '/';
  return static_cast<int>(folders_.size()) - 1;
}

void FileList::add(int folder, std::string_view name, int32_t label) {
  if (name.find('\0') != name.npos) fail(ErrorKind::value, "expected the name of a file, but it has a null character");
  entries_.push_back({static_cast<int64_t>(names_.size()), static_cast<uint32_t>(name.size()), folder, label});
  names_ += name;
}

FileList FileList::from_folders(const std::string& root, const Filters& filters, const Opening& opening,
                                const Listing* kept) {
  auto of_files = NameFilter::all(filters.files, filters.case_sensitive);
  auto of_folders = NameFilter::all(filters.folders, filters.case_sensitive);
  FileList list;
  LeftOut left_out;
  const Folders folders(root, kept, opening.interrupt);
  std::string prefix = root.ends_with('/') ? root : root + '/';
  std::string folder_names, file_names;
  const auto found = folders.list("", true, folder_names, [&](std::string_view name) {
    if (of_folders.empty() ? !is_hidden(name) : NameFilter::any_matches(of_folders, name)) return true;
    if (of_folders.empty() || NameFilter::any_but_for_its_dot(of_folders, name)) left_out.add_hidden_folder(name);
    return false;
  });
  list.classes_ = filters.classes.empty() ? std::vector<std::string>(found.begin(), found.end()) : filters.classes;
  const Labels labels(root, list.classes_);
  for (std::string_view name : found) {
    folders.step();
    const int32_t label = labels.of(name);
    const int64_t left_out_before = left_out.files();
    const auto files = folders.list(name, false, file_names, [&](std::string_view file) {
      if (NameFilter::any_matches(of_files, file)) return true;
      if (!is_hidden(file) && !filters.remedy.empty()) left_out.add(file);
      if (is_hidden(file) && NameFilter::any_but_for_its_dot(of_files, file)) left_out.add_hidden_file();
      return false;
    });
    if (files.empty() && left_out.files() > left_out_before) left_out.add_class(name, label);
    int folder = list.add_folder(prefix + std::string(name));
    for (std::string_view file : files) list.add(folder, file, label);
  }
  if (list.size() == 0)
    refuse("no files found: expected ", prefix, "*/FILE, where FILE matches one of the filters",
           left_out.is_empty() ? "" : ". " + warning(left_out, root, filters, opening),
           hint_for_flat_folder(folders, prefix, of_files));
  if (!left_out.is_empty()) opening.warn(warning(left_out, root, filters, opening));
  return list;
}

FileList FileList::from_tree(const std::string& root, const std::string& filter, const Interrupt& interrupt,
                             const Listing* kept) {
  NameFilter wanted(filter, true);
  FileList list;
  const Folders folders(root, kept, interrupt);
  std::string prefix = root.ends_with('/') ? root : root + '/';
  std::string folder_names, file_names;
  auto add_files = [&](std::string_view name) {
    const auto files =
        folders.list(name, false, file_names, [&](std::string_view file) { return wanted.matches(file); });
    if (files.empty()) return;
    int folder = list.add_folder(name.empty() ? root : prefix + std::string(name));
    for (std::string_view file : files) list.add(folder, file, 0);
  };
  add_files("");
  for (std::string_view folder : folders.list("", true, folder_names, [](std::string_view) { return true; }))
    add_files(folder);
  if (list.size() == 0)
    refuse("no files found: expected some that match \"", filter, "\" in ", root, " or in its folders");
  return list;
}

FileList FileList::from_text(const std::string& path, const std::string& root, bool labels,
                             const Interrupt& interrupt) {
  FileList list;
  try {
    list.names_ = storage::read_text(path);
  } catch (const Error& error) {
    fail(error.kind, "the file list ", path, ": ", error.message);
  }
  Steps steps(interrupt);
  list.add_folder(root.empty() ? storage::folder_of(path) : root);
  std::string_view text = list.names_, blank = " \t\r\v\f";
  int64_t number = 1;
  for (size_t begin = 0; begin < text.size(); number++) {
    steps.next();
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    size_t last = line.find_last_not_of(blank);
    if (last != std::string_view::npos) {
      line = line.substr(0, last + 1);
      if (line.find('\0') != line.npos) refuse(path, ":", number, ": expected a file name, got null characters");
      size_t name_end = last;
      int32_t label = 0;
      if (labels) {
        size_t gap = line.find_last_of(blank);
        name_end = gap == std::string_view::npos ? gap : line.find_last_not_of(blank, gap);
        const char* stop = line.data() + line.size();
        if (name_end == std::string_view::npos || !parse(line.data() + gap + 1, stop, label))
          refuse(path, ":", number, ": expected a file name and a label, an integer, got \"", line, '"');
      }
      list.entries_.push_back({static_cast<int64_t>(begin), static_cast<uint32_t>(name_end + 1), 0, label});
    }
    begin = end + 1;
  }
  if (list.size() == 0) refuse("the file list ", path, " is empty");
  return list;
}

void FileList::confine(const std::string& origin, const Interrupt& interrupt) const {
  Steps steps(interrupt);
  storage::Resolver resolver;
  std::vector<std::string> roots;
  auto with_origin = [&](auto&& resolve) {
    try {
      return resolve();
    } catch (const Error& error) {
      fail(error.kind, origin, ": ", error.message);
    }
  };
  for (auto& folder : folders_) roots.push_back(with_origin([&] { return resolver.resolve_folder(folder); }));
  for (int64_t i = 0; i < size(); i++) {
    steps.next();
    const std::string to = with_origin([&] { return resolver.resolve(path(i)); });
    const std::string& root = roots[static_cast<size_t>(entries_[static_cast<size_t>(i)].folder)];
    if (!to.starts_with(root))
      refuse(origin, ": expected the names of files within ", root, ", got ", path(i),
             to == path(i) ? "" : str(", which is ", to));
  }
}

}  // namespace avida
