// The listing of a folder: page after page, and of the folders in it at the same time where there are many names.
#include <set>

#include "core/error.h"
#include "storage/http/asked.h"

namespace avida::storage {
namespace {

constexpr int64_t kMostOfPage = 64 << 20;  // bytes of a page of a listing; a thousand long names have five million
constexpr int kMostWithoutNames = 1000;    // pages of a listing
// In a page, where each is listed by itself: requests for smaller folders would be many more than pages.
constexpr size_t kMostFolders = 8;

// The pages of a listing, which must lead on: a server may go in a circle, or send pages without names for ever.
class Onward {
 public:
  // Where the next page begins, and the names of this one. Throws where it was there before. A circle of any length
  // comes back to a page that was remembered, since each is remembered for twice as many pages.
  void check(const std::string& next, size_t names) {
    if (next.empty()) return;
    if (pages_ > 0 && next == earlier_)
      refuse("the listing of the store goes in a circle: it comes back to ", quoted(next));
    if (++pages_ == compared_) {
      earlier_ = next;
      compared_ *= 2;
    }
    without_names_ = names == 0 ? without_names_ + 1 : 0;
    if (without_names_ == kMostWithoutNames)
      refuse("the listing of the store goes on, but its last ", kMostWithoutNames, " pages had no names");
  }

 private:
  std::string earlier_;
  int64_t pages_ = 0, compared_ = 1, without_names_ = 0;
};

bool is_folder(std::string_view name) { return name.ends_with('/'); }

}  // namespace

class HttpStore::Listing {
 public:
  Listing(const HttpStore& store, const std::string& folder, bool deep, const OnEntry& on_entry)
      : store_(store), folder_(folder), deep_(deep), entries_("", deep, on_entry) {
    begin("", deep);
    store_.answer_all(asked_);
  }

 private:
  // A folder, of which one page is asked for at a time.
  struct Part {
    HttpPage page;
    std::string name;  // relative to the listed folder
    std::string prefix;
    Onward onward{};
    Request request{};
  };

  void begin(const std::string& name, bool deep) {
    const std::string folder = (folder_.empty() || folder_.ends_with('/') ? folder_ : folder_ + '/') + name;
    parts_.push_back({{folder, deep, {}}, name, store_.prefix(folder)});
    ask(parts_.back());
  }

  void ask(Part& part) {
    part.request = {.name = part.page.folder};
    asked_.push_back({&part.request, store_.full(part.page.folder),
                      [this, &part](const Settings& settings) { return store_.page(part.page, settings); }, kMostOfPage,
                      [this, &part](const Transfer& answer) { take(part, answer); }});
  }

  void take(Part& part, const Transfer& answer) {
    try {
      if (part.request.error) std::rethrow_exception(part.request.error);
      std::vector<std::string> names;  // relative to the listed folder
      const std::string text = text_of(part.request);
      std::string next = store_.take_page(
          text, [&](const std::string& name) { return answer.header(name); },
          [&](std::string_view name) {
            if (name.starts_with(part.prefix) && name.size() > part.prefix.size())
              names.push_back(part.name + std::string(name.substr(part.prefix.size())));
          });
      part.onward.check(next, names.size());
      take(part, names, std::move(next));
    } catch (const Error& error) {
      throw Error(error.kind, str("cannot list ", store_.full(folder_), ": ", error.message));
    }
  }

  void take(Part& part, const std::vector<std::string>& names, std::string next) {
    const bool is_first = part.page.from.empty();
    if (part.page.deep && is_first && !next.empty() && has_few_folders(part, names)) return begin_again(part);
    for (const std::string& name : names)
      if (deep_ && !part.page.deep && is_folder(name))
        begin(name, true);
      else
        entries_.add(name);
    part.page.from = std::move(next);
    if (!part.page.from.empty()) ask(part);
  }

  // This time the files in it alone, and the folders each by itself.
  void begin_again(Part& part) {
    part.page.deep = false;
    part.onward = {};
    ask(part);
  }

  static bool has_few_folders(const Part& part, const std::vector<std::string>& names) {
    std::set<std::string_view> folders;
    for (const std::string& name : names)
      if (const size_t end = name.find('/', part.name.size()); end != name.npos)
        folders.insert(std::string_view(name).substr(0, end));
    return !folders.empty() && folders.size() <= kMostFolders;
  }

  // Which the request then does not keep.
  static std::string text_of(Request& request) {
    std::string text(static_cast<const char*>(request.data.get()), static_cast<size_t>(request.received));
    request.data.reset();
    return text;
  }

  const HttpStore& store_;
  const std::string folder_;
  const bool deep_;
  EntriesOf entries_;
  std::deque<Part> parts_;
  std::deque<Asked> asked_;
};

void HttpStore::list(const std::string& folder, bool deep, const OnEntry& on_entry) const {
  Listing(*this, folder, deep, on_entry);
}

}  // namespace avida::storage
