// readers.Webdataset: samples of several members in tar archives, chosen by their extensions.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <set>
#include <unordered_map>
#include <utility>

#include "readers/blocks/block_cutter.h"
#include "readers/declare.h"
#include "readers/webdataset/webdataset_samples.h"

namespace avida {

enum class Missing { empty, skip, error };
AVIDA_CHOICES_WITH(Missing, kAnyCase, "empty", "skip", "error")

namespace {

struct WebdatasetArgs : ReaderArgs {
  std::vector<std::string> paths, index_paths;  // of these none, or one for each archive
  std::vector<std::string> ext;                 // for each output: the accepted extensions, separated by semicolons
  std::vector<std::string> decode;              // for each output: what its members are
  std::vector<DType> dtypes;                    // for each output
  std::optional<Missing> missing_component_behavior;
  bool case_sensitive_extensions = true;

  // Whether members contain one number as text.
  bool is_number(size_t output) const { return decode[output] == "int" || decode[output] == "float"; }
};

// Members of one sample are read at once if they lie within this number of bytes.
constexpr int64_t kReadTogether = 16 << 10;
constexpr int64_t kLongestNumber = 400;                     // as text
constexpr size_t kMostShown = 20, kMembersLookedAt = 1000;  // for messages about extensions

struct Part {  // the member for one output; has no offset if the sample has no such member
  int64_t offset = -1, size = 0;
  uint64_t name = 0;  // a hash of the member's name in an index that has names
};

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// Splits "jpg;png"; a trailing semicolon adds nothing.
std::vector<std::string> alternatives(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    size_t end = std::min(text.find(';'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// Assigns members to outputs.
class Extensions {
 public:
  explicit Extensions(const WebdatasetArgs& args) : case_sensitive_(args.case_sensitive_extensions) {
    for (auto& text : args.ext) alternatives_.push_back(alternatives(case_sensitive_ ? text : lower(text)));
  }
  // The text itself if case matters, else in lower case.
  std::string fold(std::string_view extension) const {
    return case_sensitive_ ? std::string(extension) : lower(std::string(extension));
  }
  bool fits(size_t output, const std::string& folded) const {
    auto& fitting = alternatives_[output];
    return std::find(fitting.begin(), fitting.end(), folded) != fitting.end();
  }

 private:
  const bool case_sensitive_;
  std::vector<std::vector<std::string>> alternatives_;  // for each output
};

// Parses a number and writes it.
void parse_number(std::string_view text, DType dtype, void* to) {
  constexpr std::string_view blanks = " \t\r\v\f\n";
  std::string_view digits = text.substr(std::min(text.find_first_not_of(blanks), text.size()));
  digits = digits.substr(0, digits.find_last_not_of(blanks) + 1);
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  with_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      auto* value = static_cast<T*>(to);
      auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
      if (error == std::errc() && end == digits.data() + digits.size()) return;
      bool too_large = error == std::errc::result_out_of_range;
      fail(ErrorKind::value, "expected a number of type ", dtype, " as text, found \"", text.substr(0, 40), "\"",
           too_large ? ", which is out of its range" : "");
    }
  });
}

// All samples of a data set.
struct Found {
  std::vector<storage::ObjectPtr> archives;  // null where it cannot be opened
  std::vector<int64_t> ends_of_archives;     // cumulative numbers of samples
  std::vector<int64_t> ends_of_keys;         // offsets in keys
  std::string keys;
  std::vector<Part> parts;                            // the parts of one sample are contiguous
  std::unordered_map<int64_t, std::string> failures;  // of samples that cannot be read, by index

  int64_t size() const { return static_cast<int64_t>(ends_of_keys.size()); }
};

class Finder {
 public:
  Finder(const WebdatasetArgs& args, const ScanProgress& on_progress)
      : args_(args),
        on_progress_(on_progress),
        extensions_(args),
        parts_(args.ext.size()),
        is_matched_(args.ext.size()) {}

  Found run() {
    std::vector<storage::Opened> archives = storage::open_all(args_.paths);
    storage::Needs needs;
    for (const std::string& index : args_.index_paths) needs.whole(index);
    const storage::Fetched indexes(needs);
    for (size_t i = 0; i < args_.paths.size(); i++) {
      WebdatasetSample sample;
      found_.archives.push_back(archives[i].object);
      try {
        if (archives[i].error) std::rethrow_exception(archives[i].error);
        find_in(i, indexes, sample);
      } catch (const Error& error) {
        if (!args_.skip_errors) fail(error.kind, args_.paths[i], ": ", error.message);
        add_failure(sample.key, str(error.message, " (the rest of this archive is skipped, too)"));
      }
      if (archives[i].object) archives[i].object->rest();
      found_.ends_of_archives.push_back(found_.size());
      if (on_progress_) on_progress_(0);
    }
    check_matched();
    found_.ends_of_keys.shrink_to_fit();
    found_.keys.shrink_to_fit();
    found_.parts.shrink_to_fit();
    return std::move(found_);
  }

 private:
  void find_in(size_t archive, const storage::Fetched& indexes, WebdatasetSample& sample) {
    const storage::ObjectPtr file = storage::in_order(found_.archives[archive]);
    auto add_sample = [&](const WebdatasetSample& found) { add(found); };
    if (args_.index_paths.empty()) return find_webdataset_samples(*file, sample, add_sample, on_progress_);
    const std::string& index = args_.index_paths[archive];
    try {
      list_webdataset_samples(indexes.read_text(index), file->size(), sample, add_sample);
    } catch (const Error& error) {
      fail(error.kind, "index ", index, ": ", error.message);
    }
  }

  void add(const WebdatasetSample& sample) {
    parts_.assign(parts_.size(), {});
    for (auto& member : sample.members) match(member);
    for (size_t k = 0; k < parts_.size(); k++) {
      if (!args_.is_number(k) && parts_[k].size % size_of(args_.dtypes[k]) != 0)
        return report(sample, str("expected a member .", args_.ext[k], " with whole elements of type ", args_.dtypes[k],
                                  ", found ", parts_[k].size, " bytes at byte ", parts_[k].offset));
      if (parts_[k].offset >= 0 || missing_ == Missing::empty) continue;
      if (missing_ == Missing::skip) return;
      return report(sample, str("expected a member .", args_.ext[k], ", found none"));
    }
    append(sample.key);
  }

  // If several members match an output, the first one counts.
  void match(const WebdatasetMember& member) {
    std::string folded = extensions_.fold(member.extension);
    for (size_t k = 0; k < parts_.size(); k++) {
      if (parts_[k].offset >= 0 || !extensions_.fits(k, folded)) continue;
      parts_[k] = {member.offset, member.size, args_.index_paths.empty() ? 0 : hash_of_webdataset_name(member.name)};
      is_matched_[k] = true;
    }
    if (looked_at_++ < kMembersLookedAt && seen_.size() < kMostShown) seen_.insert(member.extension);
  }

  // An extension that no member has is a mistake, not a data set of empty samples.
  void check_matched() const {
    if (args_.missing_component_behavior == Missing::empty || seen_.empty()) return;
    std::string seen;
    for (auto& extension : seen_) seen += str(seen.empty() ? "." : ", .", extension);
    for (size_t k = 0; k < is_matched_.size(); k++)
      if (!is_matched_[k])
        refuse("expected members with the extension .", args_.ext[k], " in ", args_.paths[0],
               args_.paths.size() > 1 ? " and the other archives" : "", ", found only ", seen,
               args_.ext[k].starts_with('.') ? str(". Write \"", args_.ext[k].substr(1), "\" without the dot") : "",
               ". If it may be missing everywhere, pass missing_component_behavior=\"empty\".");
  }

  void report(const WebdatasetSample& sample, const std::string& reason) {
    if (args_.skip_errors) return add_failure(sample.key, reason);
    refuse("sample ", sample.key, " at byte ", sample.members[0].offset, ": ", reason);
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

  const WebdatasetArgs& args_;
  const Missing missing_ = args_.missing_component_behavior.value_or(Missing::empty);
  const ScanProgress& on_progress_;
  const Extensions extensions_;
  std::vector<Part> parts_;       // of the current sample
  std::vector<bool> is_matched_;  // whether any member matches, for each output
  std::set<std::string> seen_;    // extensions of the first members
  size_t looked_at_ = 0;
  Found found_;
};

class WebdatasetSource : public Source {
 public:
  WebdatasetSource(const WebdatasetArgs& args, const ScanProgress& on_progress)
      : args_(args),
        extensions_(args),
        outputs_(args.dtypes.size()),
        found_(Finder(args, on_progress).run()),
        is_verified_(args.index_paths.size()),
        is_stale_(args.index_paths.size()) {
    for (size_t k = 0; k < outputs_.size(); k++) {
      outputs_[k].dtype = args.dtypes[k];
      outputs_[k].ndim = args.is_number(k) ? 0 : 1;
    }
  }

  const char* name() const override { return "readers.Webdataset"; }
  int64_t size() const override { return found_.size(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }

  std::string describe(int64_t index) const override {
    size_t archive = archive_of(index);
    std::string text = args_.paths[archive];
    if (auto key = key_of(index); !key.empty()) return text.append("/").append(key);
    if (found_.failures.contains(index)) return text;
    return str(text, ", sample ", index - first_of(archive));
  }

  bool is_local() const override { return is_local_; }
  void name_needs(int64_t index, storage::Needs& needs) const override {
    if (found_.failures.contains(index)) return;
    const size_t archive = archive_of(index);
    const int64_t header = is_verified(archive) ? 0 : kTarBlock;
    for (size_t k = 0; k < outputs_.size(); k++)
      if (const Part& part = parts_of(index)[k]; part.offset >= 0)
        needs.part(args_.paths[archive], found_.archives[archive], part.offset - header, part.size + header);
  }
  std::vector<int64_t> blocks() const override {
    BlockCutter cutter;
    size_t archive = 0;
    for (int64_t index = 0; index < size(); index++) {
      while (index == found_.ends_of_archives[archive]) archive++;
      const auto [begin, end] = bytes_of(index);
      cutter.add(archive, begin, end);
    }
    return std::move(cutter).firsts();
  }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override {
    if (!found_.failures.empty())
      if (auto failed = found_.failures.find(index); failed != found_.failures.end()) refuse(failed->second);
    return std::make_unique<OpenSample>(*this, index, fetched);
  }

 private:
  class OpenSample : public Sample {
   public:
    OpenSample(const WebdatasetSource& source, int64_t index, const storage::Fetched& fetched)
        : source_(source),
          index_(index),
          archive_(source.archive_of(index)),
          file_(fetched.of(source.args_.paths[archive_], source.found_.archives[archive_])),
          parts_(source.parts_of(index)) {
      int64_t end = 0;
      int members = 0;
      for (size_t k = 0; k < source.outputs_.size(); k++) {
        if (parts_[k].size == 0) continue;
        int64_t from = parts_[k].offset - (source.is_verified(archive_) ? 0 : kTarBlock);
        begin_ = members == 0 ? from : std::min(begin_, from);
        end = std::max(end, parts_[k].offset + parts_[k].size);
        members++;
      }
      if (source.args_.read_ahead && members > 0) file_->read_ahead(begin_, end - begin_);
      bool several_reads = members > 1 || (members > 0 && !source.is_verified(archive_));
      if (several_reads && end - begin_ <= kReadTogether) together_.resize(static_cast<size_t>(end - begin_));
    }

    Shape shape(int output) const override {
      if (source_.outputs_[static_cast<size_t>(output)].ndim == 0) return {};
      return {parts_[output].size / size_of(source_.outputs_[static_cast<size_t>(output)].dtype)};
    }

    void read(int output, void* to) override {
      auto k = static_cast<size_t>(output);
      const Part& part = parts_[output];
      try {
        if (part.offset >= 0 && !source_.is_verified(archive_)) check_header(k);
        if (source_.args_.is_number(k)) return read_number(part, source_.outputs_[k].dtype, to);
        fetch(part.offset, to, part.size);
      } catch (const Error& error) {
        std::string at = part.offset < 0 ? "" : str(" at byte ", part.offset);
        fail(error.kind, "member .", source_.args_.ext[k], at, ": ", error.message);
      }
    }

   private:
    void read_number(const Part& part, DType dtype, void* to) {
      if (part.offset < 0)
        fail(ErrorKind::value, "expected a number of type ", dtype, " as text, found no such member");
      std::string text(static_cast<size_t>(std::min(part.size, kLongestNumber)), 0);
      fetch(part.offset, text.data(), std::ssize(text));
      parse_number(text, dtype, to);
    }

    void check_header(size_t output) {
      char block[kTarBlock];
      fetch(parts_[output].offset - kTarBlock, block, kTarBlock);
      auto header = read_tar_header(block);
      if (header && source_.is_member(*header, output, index_)) return;
      if (!header) source_.fail_as_stale(output, index_, "no header of a file");
      if (source_.is_stale_[archive_]) source_.fail_as_stale(output, index_, describe_member(*header));
      source_.verify(archive_);  // its name may be in an extended header
    }

    void fetch(int64_t offset, void* to, int64_t bytes) {
      if (bytes == 0) return;
      if (offset < begin_ || offset + bytes > begin_ + std::ssize(together_)) return file_->read_at(offset, to, bytes);
      if (!was_read_) file_->read_at(begin_, together_.data(), std::ssize(together_));
      was_read_ = true;
      std::memcpy(to, together_.data() + (offset - begin_), static_cast<size_t>(bytes));
    }

    const WebdatasetSource& source_;
    const int64_t index_;
    const size_t archive_;
    const storage::ObjectPtr file_;
    const Part* parts_;
    int64_t begin_ = 0;           // of the first member
    std::vector<char> together_;  // the bytes from there on, if all members are read at once
    bool was_read_ = false;
  };

  bool is_verified(size_t archive) const { return is_verified_.empty() || is_verified_[archive]; }

  bool is_member(const TarHeader& header, size_t output, int64_t index) const {
    const Part& part = parts_of(index)[output];
    if (header.size != part.size) return false;
    if (part.name) return hash_of_webdataset_name(header.name) == part.name;
    return extensions_.fits(output, extensions_.fold(parse_webdataset_name(header.name).extension));
  }

  static std::string describe_member(const TarHeader& header) {
    return str("\"", header.name, "\" of ", header.size, " bytes");
  }

  // Compares the whole archive with its index.
  void verify(size_t archive) const {
    std::unordered_map<int64_t, TarHeader> members;
    scan_tar(*storage::in_order(found_.archives[archive]),
             [&](const TarMember& member) { members[member.offset] = {std::string(member.name), member.size}; });
    for (int64_t index = first_of(archive); index < found_.ends_of_archives[archive]; index++)
      for (size_t k = 0; k < outputs_.size(); k++) {
        const Part& part = parts_of(index)[k];
        if (part.offset < 0) continue;
        auto member = members.find(part.offset);
        if (member == members.end()) fail_as_stale(k, index, "no file");
        if (!is_member(member->second, k, index)) fail_as_stale(k, index, describe_member(member->second));
      }
    is_verified_[archive] = true;
  }

  [[noreturn]] void fail_as_stale(size_t output, int64_t index, const std::string& found) const {
    size_t archive = archive_of(index);
    const Part& part = parts_of(index)[output];
    is_stale_[archive] = true;
    refuse("the index ", args_.index_paths[archive], " does not match the archive ", args_.paths[archive],
           ": expected ", key_of(index), ".", args_.ext[output], " of ", part.size, " bytes at byte ", part.offset,
           ", found ", found, ". Write the index again: avida index ", args_.paths[archive]);
  }

  // From its first member to the end of the last one, without the header of the first.
  std::pair<int64_t, int64_t> bytes_of(int64_t index) const {
    std::pair<int64_t, int64_t> bytes(0, 0);
    for (size_t k = 0; k < outputs_.size(); k++) {
      const Part& part = parts_of(index)[k];
      if (part.size == 0) continue;
      bytes = {bytes.second == 0 ? part.offset : std::min(bytes.first, part.offset),
               std::max(bytes.second, part.offset + part.size)};
    }
    return bytes;
  }

  const Part* parts_of(int64_t index) const {
    return found_.parts.data() + static_cast<size_t>(index) * outputs_.size();
  }

  std::string_view key_of(int64_t index) const {
    auto i = static_cast<size_t>(index);
    size_t begin = i == 0 ? 0 : static_cast<size_t>(found_.ends_of_keys[i - 1]);
    return std::string_view(found_.keys).substr(begin, static_cast<size_t>(found_.ends_of_keys[i]) - begin);
  }

  int64_t first_of(size_t archive) const { return archive == 0 ? 0 : found_.ends_of_archives[archive - 1]; }

  size_t archive_of(int64_t index) const {
    auto& ends = found_.ends_of_archives;
    return static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), index) - ends.begin());
  }

  const WebdatasetArgs args_;
  const Extensions extensions_;
  std::vector<Meta> outputs_;
  const Found found_;
  const bool is_local_ =
      std::ranges::all_of(found_.archives, [](const storage::ObjectPtr& each) { return !each || each->is_local(); });
  // For each index: whether it was compared with the archive, and whether a sample was not found there.
  mutable std::vector<std::atomic<bool>> is_verified_, is_stale_;
};

void check_args(WebdatasetArgs& args) {
  if (args.ext.empty()) refuse("expected an extension for each output, got an empty list");
}

std::shared_ptr<Source> source_of_args(const WebdatasetArgs& args, const Opening& opening) {
  if (!args.index_paths.empty() && args.index_paths.size() != args.paths.size())
    refuse("expected one index file for each archive, got ", args.paths.size(), " archives, ", args.index_paths.size(),
           " index files");
  return std::make_shared<WebdatasetSource>(args, [&](int64_t) { opening.interrupt(); });
}

}  // namespace

AVIDA_READER(Webdataset, WebdatasetArgs) {
  reader
      .doc(R"(Reads samples from tar archives: one output for each of ``ext``.

Consecutive members of an archive with the same path up to the first dot of the file name are one sample; what
follows that dot is the extension. If a sample has several members for an output, the first is read. Hidden files,
folders, links and sparse files are ignored.

An output is the bytes of a member, unless ``decode`` says otherwise: the class 7 in a ``.cls`` file is the byte 55.

Archives are scanned at the start to find the samples, unless there are index files, which ``avida index`` writes.
A damaged archive raises an error at once; with ``on_error="skip"`` the samples before the damage are read. An index
file that does not match its archive raises an error when a sample is read.)")
      .arg("case_sensitive_extensions", &WebdatasetArgs::case_sensitive_extensions,
           "Whether the case of extensions matters.")
      .arg("decode", &WebdatasetArgs::decode,
           "How to decode members. ``True`` decides by the extension, as the package ``webdataset`` does: ``cls`` and "
           "``index`` are ``\"int\"``, ``txt`` is ``\"text\"``, ``json`` is ``\"json\"``, all others are "
           "``\"bytes\"``. A dictionary sets it for each extension: ``{\"cls\": \"int\", \"score.txt\": \"float\"}``. "
           "``\"int\"`` and ``\"float\"`` give scalars (int64 and float32, or as in ``dtypes``), so that a batch of "
           "them has the shape (N,). ``\"text\"`` and ``\"json\"`` give Python objects, a list of them for a batch; a "
           "missing member is ``\"\"`` or ``None``. Default: bytes.")
      .typed("bool | Mapping[str, Decoding] | None")
      .arg("dtypes", &WebdatasetArgs::dtypes,
           "The element type of each output; bytes are reinterpreted, not converted. ``None`` in the list is the "
           "default. Default: uint8.")
      .arg("ext", &WebdatasetArgs::ext,
           "The extension for each output, or alternatives separated by semicolons: ``\"jpg;jpeg;png\"``.",
           ReaderArg::required)
      .path("index_paths", &WebdatasetArgs::index_paths, "An index file for each archive.")
      .arg("missing_component_behavior", &WebdatasetArgs::missing_component_behavior,
           "What to do with a sample without a member for one of the outputs: ``\"empty\"`` gives an empty output, "
           "``\"skip\"`` leaves the sample out, ``\"error\"`` raises an error. Default: ``\"empty\"``, but an "
           "extension that no sample has is an error.")
      .typed("str | None")
      .path("paths", &WebdatasetArgs::paths,
            "The archives, in this order. Braces and wildcards are expanded if no file has that name: "
            "``\"train-{000..123}.tar\"``, ``\"train-*.tar\"`` (sorted). The same applies to ``index_paths``.",
            ReaderArg::required)
      .example(R"(>>> import io, tarfile, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> with tarfile.open(f"{folder.name}/train.tar", "w") as archive:
...     for name, content in [("1.jpg", b"image"), ("1.cls", b"7"), ("2.png", b"another"), ("2.cls", b"9")]:
...         member = tarfile.TarInfo(name)
...         member.size = len(content)
...         archive.addfile(member, io.BytesIO(content))
>>> reader = avida.readers.Webdataset(paths=f"{folder.name}/*.tar", ext=["jpg;png", "cls"], decode=True)
>>> for images, classes in reader.next_epoch(batch_size=2):
...     print(images.shape, classes.torch())
[(5,), (7,)] tensor([7, 9]))")
      .archive()
      .blocks()
      .check(check_args)
      .source(source_of_args);
}

}  // namespace avida
