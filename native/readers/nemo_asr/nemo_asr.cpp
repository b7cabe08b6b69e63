// readers.NemoAsr: speech and transcripts, from manifests of JSON lines that name sound files.
#include <simdjson.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "codecs/audio/audio.h"
#include "codecs/audio/decode_audio.h"
#include "readers/declare.h"
#include "storage/names.h"

namespace avida {
namespace {

struct NemoAsrArgs : ReaderArgs {
  std::vector<std::string> manifest_filepaths;
  DType dtype = DType::float32;
  bool downmix = true;
  double quality = 50;
  std::optional<double> sample_rate;
  double min_duration = 0, max_duration = 0;  // in seconds, according to the manifest; no limit unless above 0
  bool read_sample_rate = true, read_text = true, read_idxs = false;

  codecs::AudioRequest audio() const { return {dtype, downmix, quality, sample_rate.value_or(-1)}; }
};

// The lines of manifests that are invalid.
struct SkippedLines {
  int64_t count = 0;
  std::string first;  // the position of the first one, and the problem
};

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
    std::string name(path(entry));
    if (storage::is_complete(name) || storage::exists(name)) return name;
    const std::string& manifest = paths[entry.manifest];
    std::string beside = storage::folder_of(manifest) + name;
    return !storage::is_local(manifest) || storage::exists(beside) ? beside : name;
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
  ManifestReader(Manifests& all, const NemoAsrArgs& args, SkippedLines& skipped)
      : all_(all), args_(args), skipped_(skipped) {}

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
      return simdjson::padded_string(storage::read_text(path));
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
    if (args_.max_duration > 0 && line.duration > args_.max_duration) return;
    if (args_.min_duration > 0 && line.duration < args_.min_duration) return;
    if (!args_.read_text) line.text = {};
    all_.entries.push_back({static_cast<int64_t>(all_.strings.size()), static_cast<uint32_t>(line.path.size()),
                            static_cast<uint32_t>(line.text.size()), line.offset, line.duration, number_++,
                            static_cast<int32_t>(all_.paths.size()) - 1});
    all_.strings.append(line.path).append(line.text);
  }

  Manifests& all_;
  const NemoAsrArgs& args_;
  SkippedLines& skipped_;
  simdjson::dom::parser parser_;
  int64_t number_ = 0;
};

enum class Output { sound, rate, text, number };

// The limit of decoders that stay open; others are closed after their header is read, and opened again to decode.
constexpr int kMostOpen = 128;
std::atomic<int> open_sounds{0};

struct OpenSound {
  explicit OpenSound(const storage::ObjectPtr& file) : sound(file) { open_sounds++; }
  ~OpenSound() { open_sounds--; }
  OpenSound(const OpenSound&) = delete;

  codecs::AudioFile sound;
};

class NemoAsrSource : public Source {
 public:
  NemoAsrSource(Manifests manifests, const NemoAsrArgs& args) : manifests_(std::move(manifests)), args_(args) {
    manifests_.entries.shrink_to_fit();
    manifests_.strings.shrink_to_fit();
    auto is_local = [&](const Entry& each) { return storage::is_local(manifests_.path(each)); };
    is_local_ =
        std::ranges::all_of(manifests_.paths, storage::is_local) && std::ranges::all_of(manifests_.entries, is_local);
    add(Output::sound, args.dtype, args.downmix ? 1 : 2);
    if (args.read_sample_rate) add(Output::rate, DType::float32, 0);
    if (args.read_text) add(Output::text, DType::uint8, 1);
    if (args.read_idxs) add(Output::number, DType::int64, 1);
  }
  const char* name() const override { return "readers.NemoAsr"; }
  int64_t size() const override { return static_cast<int64_t>(manifests_.entries.size()); }
  const std::vector<Meta>& outputs() const override { return metas_; }
  std::string describe(int64_t index) const override {
    const Entry& entry = manifests_.entries[index];
    std::string path(manifests_.path(entry));
    return entry.offset > 0 ? str(path, " from ", entry.offset, " s") : path;
  }
  bool is_local() const override { return is_local_; }
  // A sound that begins later may be a short part of a long file, of which only that is read.
  void name_needs(int64_t index, storage::Needs& needs) const override {
    const Entry& entry = manifests_.entries[index];
    if (!(entry.offset > 0)) needs.whole(manifests_.file(entry));
  }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override {
    const Entry& entry = manifests_.entries[index];
    return std::make_unique<Speech>(*this, entry, fetched.open(manifests_.file(entry)));
  }

 private:
  class Speech : public Sample {
   public:
    Speech(const NemoAsrSource& source, const Entry& entry, storage::ObjectPtr file)
        : source_(source), entry_(entry), file_(std::move(file)) {
      open();
      if (source.args_.read_ahead) file_->read_ahead(0, file_->size());
      if (open_sounds > kMostOpen) open_.reset();
    }

    Shape shape(int output) const override {
      switch (source_.outputs_[output]) {
        case Output::sound:
          return codecs::audio_shape(info_, source_.args_.audio(), segment_);
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
      open_.emplace(file_);
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
      codecs::decode_audio(open_->sound, source_.args_.audio(), segment_, to);
      open_.reset();
      file_.reset();
    }

    const NemoAsrSource& source_;
    const Entry& entry_;
    storage::ObjectPtr file_;  // null once it is decoded
    std::optional<OpenSound> open_;
    codecs::AudioInfo info_;
    codecs::AudioSegment segment_{};
  };

  void add(Output output, DType dtype, int ndim) {
    outputs_.push_back(output);
    metas_.push_back({.dtype = dtype, .ndim = ndim});
  }

  Manifests manifests_;
  NemoAsrArgs args_;
  bool is_local_;
  std::vector<Output> outputs_;
  std::vector<Meta> metas_;
};

std::shared_ptr<Source> source_of_args(const NemoAsrArgs& args, const Opening& opening) {
  codecs::check_audio_request(args.audio());
  Manifests all;
  SkippedLines skipped;
  ManifestReader reader(all, args, skipped);
  for (const std::string& path : args.manifest_filepaths) reader.read(path);
  if (skipped.count > 0)
    opening.warn(str("readers.NemoAsr: ", skipped.count,
                     skipped.count == 1 ? " line of the manifest is" : " lines of the manifests are",
                     " invalid and skipped; the first: ", skipped.first));
  return std::make_shared<NemoAsrSource>(std::move(all), args);
}

}  // namespace

AVIDA_READER(NemoAsr, NemoAsrArgs) {
  reader
      .doc(R"(Reads speech and transcripts that manifests list, in the form of NVIDIA NeMo.

A manifest has one JSON object in each line: the sound file as ``audio_filepath`` and, where they are known, the
``text`` that is spoken, the ``duration`` in seconds, and the ``offset`` in seconds at which it begins. Without a
duration the sound goes to the end of the file. A relative name is looked for in the working folder, then beside the
manifest. A line that is no such object is left out with a warning.

The outputs are the sound, with shape ``(frames,)``, or ``(frames, channels)`` without ``downmix``; then, as asked
for, the file's sample rate (float32), the bytes of the text (uint8), and the entry's number (int64).)")
      .arg("downmix", &NemoAsrArgs::downmix, "Return the mean of the channels, without an axis for them.")
      .arg("dtype", &NemoAsrArgs::dtype, "float32, from -1 to 1, or int16 or int32, which use the whole range.")
      .path("manifest_filepaths", &NemoAsrArgs::manifest_filepaths, "The manifest, or several.", ReaderArg::required)
      .arg("max_duration", &NemoAsrArgs::max_duration, "If above 0, leave out entries with a longer ``duration``.")
      .arg("min_duration", &NemoAsrArgs::min_duration,
           "If above 0, leave out entries with a shorter ``duration``, or none.")
      .ignored("normalize_text", "bool | None")
      .arg("quality", &NemoAsrArgs::quality, "Of resampling, from 0 to 100.")
      .arg("read_idxs", &NemoAsrArgs::read_idxs,
           "Return the number of the entry within its manifest, among those that are not left out.")
      .arg("read_sample_rate", &NemoAsrArgs::read_sample_rate,
           "Return the sample rate that the file has, also where the sound is resampled.")
      .arg("read_text", &NemoAsrArgs::read_text, "Return the text.")
      .arg("sample_rate", &NemoAsrArgs::sample_rate, "The rate in Hz to resample to. Default: that of each file.")
      .example(R"(>>> import json, pathlib, tempfile, wave
>>> folder = tempfile.TemporaryDirectory()
>>> with wave.open(f"{folder.name}/hello.wav", "wb") as file:
...     file.setparams((1, 2, 8000, 4, "NONE", ""))
...     file.writeframes(np.array([0, 8192, 16384, -8192], np.int16).tobytes())
>>> manifest = pathlib.Path(folder.name, "train.json")
>>> _ = manifest.write_text(json.dumps({"audio_filepath": "hello.wav", "duration": 0.0005, "text": "hello"}))
>>> reader = avida.readers.NemoAsr(manifest_filepaths=manifest)
>>> for sound, rate, text in reader.next_epoch():
...     print(np.asarray(sound), rate.item(), np.asarray(text).tobytes().decode())
[ 0.    0.25  0.5  -0.25] 8000.0 hello)")
      .needs("libsndfile or simdjson")
      .source(source_of_args);
}

}  // namespace avida
