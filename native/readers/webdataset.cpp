#include "readers/webdataset.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "readers/open_files.h"
#include "readers/webdataset_samples.h"

namespace avida {
namespace {

using Missing = WebdatasetOptions::Missing;

// Members of one sample that lie within so many bytes are read at once.
constexpr int64_t kReadTogether = 16 << 10;

struct Part {  // of one output; without a place where the sample has no such member
  int64_t offset = -1, size = 0;
};

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// "jpg;png" as its parts; nothing behind a last semicolon.
std::vector<std::string> alternatives(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    size_t end = std::min(text.find(';'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// All samples of a data set.
struct Found {
  std::vector<int64_t> ends_of_archives;  // in samples
  std::vector<int64_t> ends_of_keys;      // in keys
  std::string keys;
  std::vector<Part> parts;                            // those of all outputs of one sample are neighbours
  std::unordered_map<int64_t, std::string> failures;  // of samples that cannot be read, by their numbers

  int64_t size() const { return static_cast<int64_t>(ends_of_keys.size()); }
};

class Finder {
 public:
  Finder(const WebdatasetOptions& options, const ScanProgress& on_progress)
      : options_(options), on_progress_(on_progress), parts_(options.extensions.size()) {
    for (auto& text : options.extensions)
      alternatives_.push_back(alternatives(options.case_sensitive ? text : lower(text)));
  }

  Found run() {
    for (size_t i = 0; i < options_.paths.size(); i++) {
      WebdatasetSample sample;
      try {
        find_in(i, sample);
      } catch (const Error& error) {
        if (!options_.keep_damaged) fail(error.kind, options_.paths[i], ": ", error.message);
        add_failure(sample.key, str(error.message, " (all that follows in this archive is left out too)"));
      }
      found_.ends_of_archives.push_back(found_.size());
      if (on_progress_) on_progress_(0);
    }
    found_.ends_of_keys.shrink_to_fit();
    found_.keys.shrink_to_fit();
    found_.parts.shrink_to_fit();
    return std::move(found_);
  }

 private:
  void find_in(size_t archive, WebdatasetSample& sample) {
    File file(options_.paths[archive]);
    auto add_sample = [&](const WebdatasetSample& found) { add(found); };
    if (options_.index_paths.empty()) return find_webdataset_samples(file, sample, add_sample, on_progress_);
    const std::string& index = options_.index_paths[archive];
    try {
      File index_file(index);
      std::string text(static_cast<size_t>(index_file.size()), 0);
      index_file.read(text.data(), index_file.size());
      list_webdataset_samples(text, file.size(), sample, add_sample);
    } catch (const Error& error) {
      fail(error.kind, "index ", index, ": ", error.message);
    }
  }

  void add(const WebdatasetSample& sample) {
    parts_.assign(parts_.size(), {});
    for (auto& member : sample.members) match(member);
    for (size_t k = 0; k < parts_.size(); k++) {
      if (parts_[k].size % size_of(options_.dtypes[k]) != 0)
        return refuse(sample, str("expected a member .", options_.extensions[k], " with whole elements of type ",
                                  options_.dtypes[k], ", found ", parts_[k].size, " bytes at byte ", parts_[k].offset));
      if (parts_[k].offset >= 0 || options_.missing == Missing::empty) continue;
      if (options_.missing == Missing::skip) return;
      return refuse(sample, str("expected a member .", options_.extensions[k], ", found none"));
    }
    append(sample.key);
  }

  // The first member counts where several match an output.
  void match(const WebdatasetMember& member) {
    const std::string& extension = options_.case_sensitive ? member.extension : folded_ = lower(member.extension);
    for (size_t k = 0; k < parts_.size(); k++) {
      auto& fitting = alternatives_[k];
      if (parts_[k].offset < 0 && std::find(fitting.begin(), fitting.end(), extension) != fitting.end())
        parts_[k] = {member.offset, member.size};
    }
  }

  void refuse(const WebdatasetSample& sample, const std::string& reason) {
    if (options_.keep_damaged) return add_failure(sample.key, reason);
    fail(ErrorKind::runtime, "sample ", sample.key, " at byte ", sample.members[0].offset, ": ", reason);
  }

  void add_failure(const std::string& key, const std::string& reason) {
    found_.failures.emplace(found_.size(), reason);
    parts_.assign(parts_.size(), {});
    append(key);
  }

  void append(const std::string& key) {
    found_.keys += key;
    found_.ends_of_keys.push_back(static_cast<int64_t>(found_.keys.size()));
    found_.parts.insert(found_.parts.end(), parts_.begin(), parts_.end());
  }

  const WebdatasetOptions& options_;
  const ScanProgress& on_progress_;
  std::vector<std::vector<std::string>> alternatives_;  // for each output
  std::vector<Part> parts_;                             // of the sample at hand
  std::string folded_;
  Found found_;
};

class WebdatasetSource : public Source {
 public:
  WebdatasetSource(const WebdatasetOptions& options, const ScanProgress& on_progress)
      : extensions_(options.extensions),
        read_ahead_(options.read_ahead),
        files_(options.paths),
        outputs_(options.dtypes.size()),
        found_(Finder(options, on_progress).run()) {
    for (size_t k = 0; k < outputs_.size(); k++) {
      outputs_[k].dtype = options.dtypes[k];
      outputs_[k].ndim = 1;
    }
  }

  const char* name() const override { return "readers.Webdataset"; }
  int64_t size() const override { return found_.size(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }

  std::string describe(int64_t index) const override {
    size_t i = static_cast<size_t>(index), archive = archive_of(index);
    size_t begin = i == 0 ? 0 : static_cast<size_t>(found_.ends_of_keys[i - 1]);
    size_t length = static_cast<size_t>(found_.ends_of_keys[i]) - begin;
    std::string text = files_.path(archive);
    if (length > 0) return text.append("/").append(found_.keys, begin, length);
    if (found_.failures.contains(index)) return text;
    return str(text, ", sample ", index - (archive == 0 ? 0 : found_.ends_of_archives[archive - 1]));
  }

  std::unique_ptr<Sample> open(int64_t index) const override {
    if (!found_.failures.empty())
      if (auto failed = found_.failures.find(index); failed != found_.failures.end())
        fail(ErrorKind::runtime, failed->second);
    const Part* parts = found_.parts.data() + static_cast<size_t>(index) * outputs_.size();
    return std::make_unique<OpenSample>(*this, archive_of(index), parts);
  }

 private:
  class OpenSample : public Sample {
   public:
    OpenSample(const WebdatasetSource& source, size_t archive, const Part* parts)
        : source_(source), archive_(archive), parts_(parts) {
      int64_t end = 0;
      int members = 0;
      for (size_t k = 0; k < source.outputs_.size(); k++) {
        if (parts[k].size == 0) continue;
        begin_ = members == 0 ? parts[k].offset : std::min(begin_, parts[k].offset);
        end = std::max(end, parts[k].offset + parts[k].size);
        members++;
      }
      if (source.read_ahead_ && members > 0) source.files_.get(archive)->read_ahead(begin_, end - begin_);
      if (members > 1 && end - begin_ <= kReadTogether) together_.resize(static_cast<size_t>(end - begin_));
    }

    Shape shape(int output) const override {
      return {parts_[output].size / size_of(source_.outputs_[static_cast<size_t>(output)].dtype)};
    }

    void read(int output, void* to) override {
      const Part& part = parts_[output];
      if (part.size == 0) return;
      try {
        if (together_.empty()) return source_.files_.get(archive_)->read_at(part.offset, to, part.size);
        if (!was_read_) source_.files_.get(archive_)->read_at(begin_, together_.data(), std::ssize(together_));
        was_read_ = true;
        std::memcpy(to, together_.data() + (part.offset - begin_), static_cast<size_t>(part.size));
      } catch (const Error& error) {
        fail(error.kind, "member .", source_.extensions_[static_cast<size_t>(output)], " at byte ", part.offset, ": ",
             error.message);
      }
    }

   private:
    const WebdatasetSource& source_;
    const size_t archive_;
    const Part* parts_;
    int64_t begin_ = 0;           // of the first member
    std::vector<char> together_;  // from there on, where all members are read at once
    bool was_read_ = false;
  };

  size_t archive_of(int64_t index) const {
    auto& ends = found_.ends_of_archives;
    return static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), index) - ends.begin());
  }

  const std::vector<std::string> extensions_;
  const bool read_ahead_;
  mutable OpenFiles files_;
  std::vector<Meta> outputs_;
  const Found found_;
};

}  // namespace

std::shared_ptr<Source> webdataset_source(const WebdatasetOptions& options, const ScanProgress& on_progress) {
  return std::make_shared<WebdatasetSource>(options, on_progress);
}

}  // namespace avida
