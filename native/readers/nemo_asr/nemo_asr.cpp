#include "readers/nemo_asr/nemo_asr.h"

#include <simdjson.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/file.h"

namespace avida {
namespace {

// Path and text are in one string for all entries: `at` is the offset of the path.
struct Entry {
  int64_t at;
  uint32_t path_bytes, text_bytes;
  double offset, duration;  // in seconds; a duration below 0 means the rest of the file
  int64_t number;           // among the kept entries of the manifest
  int32_t manifest;
};

struct Manifests {
  std::vector<std::string> paths;
  std::vector<Entry> entries;
  std::string strings;

  std::string_view path(const Entry& entry) const { return {strings.data() + entry.at, entry.path_bytes}; }
  std::string_view text(const Entry& entry) const {
    return {strings.data() + entry.at + entry.path_bytes, entry.text_bytes};
  }
  // Names are relative to the working folder or, if there is no such file, to the manifest's folder.
  std::string file(const Entry& entry) const {
    std::filesystem::path name(path(entry));
    std::error_code unknown;
    if (name.is_absolute() || std::filesystem::exists(name, unknown)) return name;
    std::filesystem::path beside = std::filesystem::path(paths[entry.manifest]).parent_path() / name;
    return std::filesystem::exists(beside, unknown) ? beside : name;
  }
};

// Parses one line; throws Error for a line that is not an entry.
struct Line {
  std::string_view path, text;  // within the parser
  double offset = 0, duration = -1;

  explicit Line(const simdjson::dom::element& json) {
    simdjson::dom::object fields;
    if (json.get(fields)) refuse("expected an object in braces");
    for (auto [key, value] : fields) {
      if (key == "audio_filepath") set(key, value, path);
      if (key == "text" && !value.is_null()) set(key, value, text);
      if (key == "offset" && !value.is_null()) set(key, value, offset);
      if (key == "duration" && !value.is_null()) set(key, value, duration);
    }
    if (path.empty()) refuse("expected the name of a file in \"audio_filepath\", found none");
    if (path.find('\0') != path.npos) refuse("a file name cannot contain a null character");
  }

 private:
  static void set(std::string_view key, const simdjson::dom::element& value, std::string_view& to) {
    if (value.get(to)) refuse("expected a string in \"", key, '"');
  }
  static void set(std::string_view key, const simdjson::dom::element& value, double& to) {
    if (value.get(to)) refuse("expected a number in \"", key, '"');
  }
};

class ManifestReader {
 public:
  ManifestReader(Manifests& all, const NemoAsrOptions& options, SkippedLines& skipped)
      : all_(all), options_(options), skipped_(skipped) {}

  void read(const std::string& path) {
    simdjson::padded_string text = load(path);
    all_.paths.push_back(path);
    number_ = 0;
    std::string_view rest = text;
    for (int64_t line = 1; !rest.empty(); line++) {
      std::string_view one = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      // Blanks and the commas of a list are ignored.
      one = one.substr(0, one.find_last_not_of(" \t\r,") + 1);
      if (one.empty()) continue;
      try {
        add(one);
      } catch (const Error& error) {
        if (skipped_.count++ == 0) skipped_.first = str('"', path, "\", line ", line, ": ", error.message);
      }
    }
  }

 private:
  static simdjson::padded_string load(const std::string& path) {
    try {
      File file(path);
      simdjson::padded_string text(static_cast<size_t>(file.size()));
      file.read(text.data(), file.size());
      return text;
    } catch (const Error& error) {
      throw Error(error.kind, str("the manifest \"", path, "\": ", error.message));
    }
  }

  void add(std::string_view text) {
    simdjson::dom::element json;
    // The rest of the manifest serves as the padding that the parser needs.
    if (auto error = parser_.parse(text.data(), text.size(), false).get(json))
      refuse("expected JSON, ", simdjson::error_message(error));
    Line line(json);
    if (options_.max_duration > 0 && line.duration > options_.max_duration) return;
    if (options_.min_duration > 0 && line.duration < options_.min_duration) return;
    if (!options_.read_text) line.text = {};
    all_.entries.push_back({static_cast<int64_t>(all_.strings.size()), static_cast<uint32_t>(line.path.size()),
                            static_cast<uint32_t>(line.text.size()), line.offset, line.duration, number_++,
                            static_cast<int32_t>(all_.paths.size()) - 1});
    all_.strings.append(line.path).append(line.text);
  }

  Manifests& all_;
  const NemoAsrOptions& options_;
  SkippedLines& skipped_;
  simdjson::dom::parser parser_;
  int64_t number_ = 0;
};

enum class Output { sound, rate, text, number };

// The limit of files that stay open; others are closed after their header is read, and reopened to be decoded.
constexpr int kMostOpen = 128;
std::atomic<int> open_files{0};

struct OpenSound {
  explicit OpenSound(const std::string& path)
      : file(path),
        sound(file.size(), [this](int64_t offset, void* to, int64_t bytes) { file.read_at(offset, to, bytes); }) {
    open_files++;
  }
  ~OpenSound() { open_files--; }
  OpenSound(const OpenSound&) = delete;

  File file;
  codecs::AudioFile sound;
};

class NemoAsrSource : public Source {
 public:
  NemoAsrSource(Manifests manifests, const NemoAsrOptions& options)
      : manifests_(std::move(manifests)), options_(options) {
    manifests_.entries.shrink_to_fit();
    manifests_.strings.shrink_to_fit();
    add(Output::sound, options.audio.dtype, options.audio.downmix ? 1 : 2);
    if (options.read_sample_rate) add(Output::rate, DType::float32, 0);
    if (options.read_text) add(Output::text, DType::uint8, 1);
    if (options.read_idxs) add(Output::number, DType::int64, 1);
  }
  const char* name() const override { return "readers.NemoAsr"; }
  int64_t size() const override { return static_cast<int64_t>(manifests_.entries.size()); }
  const std::vector<Meta>& outputs() const override { return metas_; }
  std::string describe(int64_t index) const override {
    const Entry& entry = manifests_.entries[index];
    std::string path(manifests_.path(entry));
    return entry.offset > 0 ? str(path, " from ", entry.offset, " s") : path;
  }
  std::unique_ptr<Sample> open(int64_t index) const override {
    return std::make_unique<Speech>(*this, manifests_.entries[index]);
  }

 private:
  class Speech : public Sample {
   public:
    Speech(const NemoAsrSource& source, const Entry& entry) : source_(source), entry_(entry) {
      open();
      if (source.options_.read_ahead) open_->file.read_ahead();
      if (open_files > kMostOpen) open_.reset();
    }

    Shape shape(int output) const override {
      switch (source_.outputs_[output]) {
        case Output::sound:
          return codecs::audio_shape(info_, source_.options_.audio, segment_);
        case Output::rate:
          return {};
        case Output::text:
          return {entry_.text_bytes};
        case Output::number:
          break;
      }
      return {1};
    }

    void read(int output, void* to) override {
      switch (source_.outputs_[output]) {
        case Output::sound:
          return decode(to);
        case Output::rate: {
          float rate = static_cast<float>(info_.rate);
          std::memcpy(to, &rate, sizeof(rate));
          return;
        }
        case Output::text:
          std::memcpy(to, source_.manifests_.text(entry_).data(), entry_.text_bytes);
          return;
        case Output::number:
          std::memcpy(to, &entry_.number, sizeof(entry_.number));
      }
    }

   private:
    void open() {
      open_.emplace(source_.manifests_.file(entry_));
      info_ = open_->sound.info();
      // Fractions of a frame are dropped; a segment beyond the end of the file is clipped.
      double begin = std::max(0.0, std::trunc(entry_.offset * info_.rate));
      double frames = static_cast<double>(info_.frames);
      if (begin > frames)
        refuse("expected an offset within the ", frames / info_.rate, " s of the file, got ", entry_.offset, " s");
      double end = entry_.duration < 0 ? frames : begin + std::trunc(entry_.duration * info_.rate);
      segment_ = {static_cast<int64_t>(begin), static_cast<int64_t>(std::min(end, frames))};
    }

    void decode(void* to) {
      if (!open_) {
        Shape before = shape(0);
        open();
        if (shape(0) != before) refuse("the file changed while it was read");
      }
      codecs::decode_audio(open_->sound, source_.options_.audio, segment_, to);
      open_.reset();
    }

    const NemoAsrSource& source_;
    const Entry& entry_;
    std::optional<OpenSound> open_;
    codecs::AudioInfo info_;
    codecs::AudioSegment segment_{};
  };

  void add(Output output, DType dtype, int ndim) {
    outputs_.push_back(output);
    Meta meta;
    meta.dtype = dtype;
    meta.ndim = ndim;
    metas_.push_back(meta);
  }

  Manifests manifests_;
  NemoAsrOptions options_;
  std::vector<Output> outputs_;
  std::vector<Meta> metas_;
};

}  // namespace

std::shared_ptr<Source> nemo_asr_source(const std::vector<std::string>& manifests, const NemoAsrOptions& options,
                                        SkippedLines& skipped) {
  if (manifests.empty()) refuse("expected at least one manifest, got none");
  codecs::check_audio_request(options.audio);
  Manifests all;
  ManifestReader reader(all, options, skipped);
  for (const std::string& path : manifests) reader.read(path);
  return std::make_shared<NemoAsrSource>(std::move(all), options);
}

}  // namespace avida
