#include "readers/video/video_source.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "codecs/limits.h"
#include "core/clones.h"
#include "readers/file/file.h"
#include "readers/video/video_files.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace avida {
namespace {

enum class Output { frames, label, numbers, times };

// A part of a file, with the number of its first clip.
struct Entry {
  size_t file, part;  // numbers; that of the part is its place in the list of files
  int32_t label;
  ClipRange range;
  int64_t first_clip;
};

AVIDA_CLONES void to_floats(const uint8_t* from, float* to, int64_t n, float scale) {
  for (int64_t i = 0; i < n; i++) to[i] = static_cast<float>(from[i]) * scale;
}

class VideoSource : public Source {
 public:
  VideoSource(std::unique_ptr<VideoFiles> files, const VideoOptions& options, std::optional<Classes> classes)
      : files_(std::move(files)), options_(options), classes_(std::move(classes)) {
    codecs::read_fill_value(options.fill_value, fill_);
    add(Output::frames, options.dtype, 4);
    metas_[0].layout = Layout("FHWC");
    if (options.gpu) {
      metas_[0].device = {Device::Kind::gpu, static_cast<int16_t>(*options.gpu)};
      stream_ = Gpu::at(*options.gpu).create_stream();
    }
    if (options.labels) add(Output::label, DType::int32, 1);
    if (options.frame_numbers != FrameNumbers::none) add(Output::numbers, DType::int32, 1);
    if (options.timestamps) add(Output::times, DType::float64, 1);
  }

  void add_part(size_t part, size_t file, int32_t label, const ClipBounds& bounds) {
    int64_t clips = 1;  // that fails, for a file that cannot be read
    ClipRange range{};
    if (const codecs::VideoIndex* index = files_->index(file); index && !options_.times) {
      range = clip_range(*index, bounds, options_.bounds);
      if (!is_refused(*index)) clips = count_clips(range, options_.clips);
    }
    if (clips == 0) return;
    entries_.push_back({file, part, label, range, size_});
    size_ += clips;
  }

  const char* name() const override { return options_.reader.c_str(); }
  int64_t size() const override { return size_; }
  const std::vector<Meta>& outputs() const override { return metas_; }
  std::optional<Classes> classes() const override { return classes_; }
  bool takes_long() const override { return true; }
  Data allocate(const Meta& meta, const ShapeList& shapes) const override {
    if (meta.device.kind == Device::Kind::cpu) return allocate_data(meta, shapes);
    Gpu& gpu = Gpu::at(stream_->device);
    Data data = allocate_data(meta, shapes, [&](int64_t bytes) { return gpu.allocate(bytes, stream_->handle); });
    data.device = meta.device;
    data.stream = stream_->handle;
    return data;
  }
  std::string describe(int64_t index) const override {
    const Entry& entry = entry_of(index);
    if (options_.times) return str(files_->path(entry.file), ", clip at ", (*options_.times)[entry.part][0], " s");
    if (!files_->index(entry.file)) return files_->path(entry.file);
    return str(files_->path(entry.file), ", clip from frame ", frames_of(entry, index)[0]);
  }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched&) const override {
    return std::make_unique<Clip>(*this, index);
  }
  // Clips whose frames, with those before them from the keyframe on, overlap are decoded together; but where threads
  // would be idle, a list ends at a keyframe.
  std::vector<std::vector<size_t>> arrange(std::span<Sample* const> samples, std::span<const SampleId>) const override {
    std::vector<size_t> order(samples.size());
    std::iota(order.begin(), order.end(), size_t{0});
    auto clip_at = [&](size_t i) -> Clip& { return static_cast<Clip&>(*samples[i]); };
    auto place = [&](size_t i) { return std::pair(clip_at(i).file(), clip_at(i).first_frame()); };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return place(a) < place(b); });
    int64_t frames = 0;
    for (size_t i : order) frames += clip_at(i).last_frame() + 1 - clip_at(i).first_frame();
    const int64_t enough = frames / available_cpus();  // for a list
    std::vector<std::vector<size_t>> lists;
    int64_t from = 0, last = -1;
    for (size_t i : order) {
      const Clip& clip = clip_at(i);
      const bool is_other = lists.empty() || clip.file() != clip_at(lists.back()[0]).file();
      if (is_other || clip.decodes_from() > last || (clip.decodes_from() > from && last - from >= enough)) {
        lists.push_back({});
        from = clip.decodes_from();
        last = -1;
      }
      lists.back().push_back(i);
      last = std::max(last, clip.last_frame());
    }
    for (const std::vector<size_t>& list : lists)
      for (size_t k = list.size() - 1; k > 0; k--) clip_at(list[k - 1]).comes_before(clip_at(list[k]));
    return lists;
  }

 private:
  class Clip : public Sample {
   public:
    Clip(const VideoSource& source, int64_t number)
        : source_(source), entry_(source.entry_of(number)), index_(source.usable_index(entry_.file)) {
      frames_ = source.frames_of(entry_, number);
      extents_ = {index_.height, index_.width};
      if (source.options_.filter) extents_ = source.options_.filter->extents(extents_);
      codecs::check_memory(pixels(), 3 * size_of(source.options_.dtype));
      for (int64_t frame : frames_)
        if (frame >= 0) sorted_.push_back(frame);
      std::sort(sorted_.begin(), sorted_.end());
    }

    size_t file() const { return entry_.file; }
    int64_t first_frame() const { return sorted_.empty() ? 0 : sorted_.front(); }
    int64_t last_frame() const { return sorted_.empty() ? 0 : sorted_.back(); }
    int64_t decodes_from() const {
      const int64_t key = index_.key_before(first_frame());
      return key < 0 ? 0 : index_.keys[static_cast<size_t>(key)].frame;
    }
    // Both are decoded in one pass, which keeps the frames of the later one and of those after it as they come along.
    void comes_before(const Clip& next) {
      std::set_union(next.sorted_.begin(), next.sorted_.end(), next.keep_.begin(), next.keep_.end(),
                     std::back_inserter(keep_));
      pass_ = next.pass_;
      ends_pass_ = false;
    }

    Shape shape(int output) const override {
      const auto count = static_cast<int64_t>(frames_.size());
      switch (source_.outputs_[output]) {
        case Output::frames:
          return {count, extents_.height, extents_.width, 3};
        case Output::label:
          return {1};
        case Output::numbers:
          return {source_.options_.frame_numbers == FrameNumbers::first ? 1 : count};
        case Output::times:
          break;
      }
      return {count};
    }

    void read(int output, void* to) override {
      switch (source_.outputs_[output]) {
        case Output::frames:
          return decode(to);
        case Output::label:
          std::memcpy(to, &entry_.label, sizeof(entry_.label));
          return;
        case Output::numbers:
          for (int64_t i = 0, n = shape(output)[0]; i < n; i++)
            static_cast<int32_t*>(to)[i] = static_cast<int32_t>(frames_[static_cast<size_t>(i)]);
          return;
        case Output::times:
          for (size_t i = 0; i < frames_.size(); i++)
            static_cast<double*>(to)[i] = frames_[i] < 0 ? -1 : index_.time(frames_[i]);
      }
    }

   private:
    // Whether the clips of the file overlap and seem to be read one after the other, so that the next one may need
    // frames of this one: it is the first, or the decoder has just decoded a part of it.
    bool is_read_in_order(int64_t position) const {
      const ClipOptions& clips = source_.options_.clips;
      if (clips.uniform || clips.step >= clips.length * clips.stride) return false;
      return first_frame() == entry_.range.begin || (first_frame() < position && position <= last_frame() + 1);
    }
    int64_t pixels() const { return static_cast<int64_t>(frames_.size()) * extents_.height * extents_.width; }

    void decode(void* to) {
      const VideoOptions& options = source_.options_;
      if (options.gpu) return decode_on_gpu(to);
      if (options.dtype == DType::uint8) return decode_bytes(static_cast<uint8_t*>(to));
      const int64_t n = 3 * pixels();
      Block block = avida::allocate(n);
      decode_bytes(static_cast<uint8_t*>(block.get()));
      to_floats(static_cast<const uint8_t*>(block.get()), static_cast<float*>(to), n,
                options.normalized ? 1.0f / 255 : 1.0f);
    }

    void decode_bytes(uint8_t* to) {
      with_video([&](VideoFiles::Video& video) {
        codecs::decode_frames(video.video, frames_, source_.options_.request, source_.fill_, to, keep_,
                              source_.options_.filter.get());
      });
    }

    void decode_on_gpu(void* to) {
      const VideoOptions& options = source_.options_;
      with_video([&](VideoFiles::Video& video) {
        if (!video.on_gpu)
          video.on_gpu = std::make_unique<codecs::GpuVideo>(video.video, source_.files_->path(entry_.file));
        const float scale = options.normalized ? 1.0f / 255 : 1.0f;
        video.on_gpu->decode(frames_, options.request, {to, options.dtype, scale, source_.fill_, *source_.stream_},
                             ends_pass_ ? codecs::NextFrames::unknown : codecs::NextFrames::follow, keep_);
      });
    }

    template <class Use>
    void with_video(const Use& use) {
      std::unique_ptr<VideoFiles::Video> video = std::move(*pass_);
      if (!video) video = source_.files_->take(entry_.file, first_frame());
      if (ends_pass_ && is_read_in_order(video->position())) keep_ = sorted_;  // for the next batch
      use(*video);
      if (ends_pass_)
        source_.files_->give_back(entry_.file, std::move(video));
      else
        *pass_ = std::move(video);
    }

    const VideoSource& source_;
    const Entry& entry_;
    const codecs::VideoIndex& index_;
    codecs::FrameFilter::Extents extents_;
    std::vector<int64_t> frames_, sorted_;  // as they are returned; as they are decoded
    std::vector<int64_t> keep_;
    std::shared_ptr<std::unique_ptr<VideoFiles::Video>> pass_ = std::make_shared<std::unique_ptr<VideoFiles::Video>>();
    bool ends_pass_ = true;
  };

  bool is_refused(const codecs::VideoIndex& index) const {
    return options_.refuse_variable_rate && index.variable_rate();
  }

  const codecs::VideoIndex& usable_index(size_t file) const {
    const codecs::VideoIndex* index = files_->index(file);
    if (!index) throw files_->error(file);
    if (is_refused(*index))
      refuse("expected a constant frame rate, got a variable one; skip_vfr_check=True reads the video nevertheless");
    return *index;
  }

  const Entry& entry_of(int64_t index) const {
    auto after = std::upper_bound(entries_.begin(), entries_.end(), index,
                                  [](int64_t number, const Entry& entry) { return number < entry.first_clip; });
    return *std::prev(after);
  }
  std::vector<int64_t> frames_of(const Entry& entry, int64_t index) const {
    if (options_.times)
      return frames_shown(*files_->index(entry.file), (*options_.times)[entry.part], options_.clips.padding);
    return clip_frames(entry.range, options_.clips, index - entry.first_clip);
  }

  void add(Output output, DType dtype, int ndim) {
    outputs_.push_back(output);
    metas_.push_back({.dtype = dtype, .ndim = ndim});
  }

  std::unique_ptr<VideoFiles> files_;
  VideoOptions options_;
  const std::optional<Classes> classes_;
  uint8_t fill_[3];
  std::vector<Entry> entries_;
  int64_t size_ = 0;
  std::vector<Output> outputs_;
  std::vector<Meta> metas_;
  std::shared_ptr<GpuStream> stream_;  // of the frames on a GPU
};

}  // namespace

std::shared_ptr<Source> video_source(const FileList& list, const std::vector<ClipBounds>& bounds,
                                     const VideoOptions& options, VideoIndexes* known_indexes,
                                     const Interrupt& interrupt) {
  // A file that is listed several times is opened once.
  std::vector<std::string> paths;
  std::vector<size_t> numbers;
  std::unordered_map<std::string, size_t> known;
  for (int64_t i = 0; i < list.size(); i++) {
    auto [entry, is_new] = known.try_emplace(list.path(i), paths.size());
    if (is_new) paths.push_back(entry->first);
    numbers.push_back(entry->second);
  }
  auto owned = std::make_unique<VideoFiles>(std::move(paths));
  VideoFiles& files = *owned;
  files.read_indexes(known_indexes, interrupt);
  auto failed = [&](size_t file) { return !files.index(file); };
  if (!numbers.empty() && std::all_of(numbers.begin(), numbers.end(), failed)) {
    const Error& error = files.error(numbers[0]);
    throw Error(error.kind, str(files.path(numbers[0]), ": ", error.message));
  }
  auto source = std::make_shared<VideoSource>(std::move(owned), options, classes_of_folders(list));
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < numbers.size(); i++)
    source->add_part(i, numbers[i], list.label(static_cast<int64_t>(i)),
                     bounds.empty() ? ClipBounds{nothing, nothing} : bounds[i]);
  return source;
}

}  // namespace avida
