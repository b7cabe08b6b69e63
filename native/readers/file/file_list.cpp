#include "readers/file/file_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <unordered_map>

#include "core/error.h"
#include "runtime/file.h"

namespace avida {
namespace {

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
  static bool any_matches(const std::vector<NameFilter>& filters, std::string_view name) {
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

// Calls an Interrupt at regular intervals of steps.
class Steps {
 public:
  explicit Steps(const Interrupt& interrupt) : interrupt_(interrupt) {}
  void next() {
    constexpr int kPerCall = 4096;
    if (++count_ % kPerCall == 0 && interrupt_) interrupt_();
  }

 private:
  const Interrupt& interrupt_;
  int64_t count_ = 0;
};

// The entries of a folder that are folders (or regular files) or links to such, sorted by name.
template <class Wanted>
void list_folder(const std::string& path, bool folders, std::string& names, std::vector<std::string_view>& found,
                 Steps& steps, Wanted&& wanted) {
  names.clear();
  found.clear();
  DIR* dir = opendir(path.c_str());
  if (!dir) refuse("cannot list the folder ", path, ": ", std::strerror(errno));
  struct Close {
    DIR* dir;
    ~Close() { closedir(dir); }
  } close{dir};
  std::vector<std::pair<size_t, size_t>> places;  // offsets, since the text may move while it grows
  while (dirent* entry = readdir(dir)) {
    steps.next();
    std::string_view name = entry->d_name;
    if (name == "." || name == ".." || !wanted(name)) continue;
    bool fits = entry->d_type == (folders ? DT_DIR : DT_REG);
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
      struct stat info;
      fits = fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 &&
             (folders ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode));
    }
    if (!fits) continue;
    places.emplace_back(names.size(), name.size());
    names += name;
  }
  for (auto [at, length] : places) found.emplace_back(names.data() + at, length);
  std::sort(found.begin(), found.end());
}

// A hint for the error message, if there are files in the folder itself.
std::string hint_for_flat_folder(const std::string& root, const std::string& prefix,
                                 const std::vector<NameFilter>& wanted, Steps& steps) {
  std::string names;
  std::vector<std::string_view> files;
  list_folder(root, false, names, files, steps,
              [&](std::string_view name) { return NameFilter::any_matches(wanted, name); });
  if (files.empty()) return "";
  auto ending = [](std::string_view name) { return name.substr(std::min(name.rfind('.'), name.size())); };
  bool is_common =
      std::all_of(files.begin(), files.end(), [&](auto& file) { return ending(file) == ending(files[0]); });
  return str(". ", files.size(), files.size() == 1 ? " such file lies" : " such files lie",
             " in this folder itself, without a class folder as a label. To read them: files=sorted(glob.glob(\"",
             prefix, "*", is_common ? ending(files[0]) : "", "\"))");
}

// Resolves all links of a path. Each folder is resolved once.
class Resolver {
 public:
  std::filesystem::path resolve(const std::filesystem::path& path) {
    auto [known, is_new] = folders_.try_emplace(path.parent_path().string());
    if (is_new) known->second = std::filesystem::weakly_canonical(path.has_parent_path() ? path.parent_path() : ".");
    std::filesystem::path file = known->second / path.filename();
    std::error_code ignored;
    bool is_plain = path.filename() != ".." && path.filename() != "." && !std::filesystem::is_symlink(file, ignored);
    return is_plain ? file : std::filesystem::weakly_canonical(file);
  }

 private:
  std::unordered_map<std::string, std::filesystem::path> folders_;
};

}  // namespace

std::string FileList::path(int64_t i) const {
  const Entry& entry = entries_[i];
  std::string_view name(names_.data() + entry.name, entry.length);
  std::string path;
  if (!name.starts_with('/')) path = folders_[entry.folder];
  return path.append(name);
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

FileList FileList::from_folders(const std::string& root, const Filters& filters, const Interrupt& interrupt) {
  Steps steps(interrupt);
  auto of_files = NameFilter::all(filters.files, filters.case_sensitive);
  auto of_folders = NameFilter::all(filters.folders, filters.case_sensitive);
  FileList list;
  std::string prefix = root.ends_with('/') ? root : root + '/';
  std::string folder_names, file_names;
  std::vector<std::string_view> folders, files;
  list_folder(root, true, folder_names, folders, steps,
              [&](std::string_view name) { return of_folders.empty() || NameFilter::any_matches(of_folders, name); });
  for (size_t label = 0; label < folders.size(); label++) {
    std::string path = prefix + std::string(folders[label]);
    steps.next();
    list_folder(path, false, file_names, files, steps,
                [&](std::string_view name) { return NameFilter::any_matches(of_files, name); });
    int folder = list.add_folder(path);
    for (std::string_view file : files) list.add(folder, file, static_cast<int32_t>(label));
  }
  if (list.size() == 0)
    refuse("no files found: expected ", prefix, "*/FILE, where FILE matches one of the filters",
           hint_for_flat_folder(root, prefix, of_files, steps));
  return list;
}

FileList FileList::from_tree(const std::string& root, const std::string& filter, const Interrupt& interrupt) {
  Steps steps(interrupt);
  NameFilter wanted(filter, true);
  FileList list;
  std::string prefix = root.ends_with('/') ? root : root + '/';
  std::string folder_names, file_names;
  std::vector<std::string_view> folders, files;
  auto add_files = [&](const std::string& path) {
    list_folder(path, false, file_names, files, steps, [&](std::string_view name) { return wanted.matches(name); });
    if (files.empty()) return;
    int folder = list.add_folder(path);
    for (std::string_view file : files) list.add(folder, file, 0);
  };
  add_files(root);
  list_folder(root, true, folder_names, folders, steps, [](std::string_view) { return true; });
  for (std::string_view folder : folders) add_files(prefix + std::string(folder));
  if (list.size() == 0)
    refuse("no files found: expected some that match \"", filter, "\" in ", root, " or in its folders");
  return list;
}

FileList FileList::from_text(const std::string& path, const std::string& root, bool labels,
                             const Interrupt& interrupt) {
  FileList list;
  try {
    File file(path);
    list.names_.resize(static_cast<size_t>(file.size()));
    file.read(list.names_.data(), file.size());
  } catch (const Error& error) {
    fail(error.kind, "the file list ", path, ": ", error.message);
  }
  Steps steps(interrupt);
  list.add_folder(!root.empty()                         ? root
                  : path.find('/') == std::string::npos ? ""
                                                        : path.substr(0, path.rfind('/') + 1));
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
  Resolver resolver;
  std::vector<std::filesystem::path> roots;
  try {
    for (auto& folder : folders_)
      roots.push_back(std::filesystem::weakly_canonical(folder.empty() ? "." : folder) / "");
    for (int64_t i = 0; i < size(); i++) {
      steps.next();
      std::string to = resolver.resolve(path(i)).string();
      const std::string root = roots[static_cast<size_t>(entries_[static_cast<size_t>(i)].folder)].string();
      if (!to.starts_with(root))
        refuse(origin, ": expected the names of files within ", root, ", got ", path(i),
               to == path(i) ? "" : str(", which is ", to));
    }
  } catch (const std::filesystem::filesystem_error& error) {
    refuse(origin, ": ", error.what());
  }
}

}  // namespace avida
