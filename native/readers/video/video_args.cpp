#include "readers/video/video_args.h"

#include <charconv>
#include <climits>
#include <cmath>
#include <iterator>
#include <sstream>

#include "readers/file/file_args.h"
#include "storage/names.h"

namespace avida {
namespace {

constexpr int64_t kLargestLength = INT_MAX;

void check_within(const char* name, int64_t number, int64_t least) {
  if (number < least || number > kLargestLength)
    value_error(name, " must be from ", least, " to ", kLargestLength, ", got ", number);
}

template <class Number>
bool parse(const std::string& word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

struct ListedVideos {
  FileList files;
  std::vector<ClipBounds> bounds;
};

std::string text_of(const std::string& path) {
  try {
    return storage::read_text(path);
  } catch (const Error& error) {
    fail(ErrorKind::os, path, ": ", error.message);
  }
}

// Lines of a file, a label, and optionally begin and end.
ListedVideos read_list(const std::string& path, const Opening& opening) {
  std::istringstream file(text_of(path));
  ListedVideos videos;
  const int folder = videos.files.add_folder(storage::folder_of(path));
  const double none = std::nan("");
  std::string line;
  for (int64_t number = 1; std::getline(file, line); number++) {
    if (number % 1024 == 0) opening.interrupt();
    std::istringstream text(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
    if (words.empty()) continue;
    int32_t label = 0;
    ClipBounds bounds{none, none};
    if (words.size() < 2 || words.size() > 4 || !parse(words[1], label) ||
        (words.size() > 2 && !parse(words[2], bounds.begin)) || (words.size() > 3 && !parse(words[3], bounds.end)))
      refuse(path, ":", number, ": expected a file, a label and optionally begin and end, got '", line, "'");
    if (bounds.begin == bounds.end) {
      opening.warn(str(path, ":", number, ": begin and end are the same, so the line is left out"));
      continue;
    }
    videos.files.add(folder, words[0], label);
    videos.bounds.push_back(bounds);
  }
  if (videos.bounds.empty()) refuse("the file list ", path, " names no part of a video");
  return videos;
}

bool is_given(const std::optional<std::string>& path) { return path && !path->empty(); }

void check_times(const ClipTimes& times, const VideoArgs& args) {
  if (!args.filenames) refuse("times go with filenames, which name the video of each clip");
  if (args.sequence_length || args.stride || args.step)
    refuse("expected times, or sequence_length with stride and step, got both");
  if (times.size() != args.filenames->size())
    refuse("expected times for each file, got ", args.filenames->size(), " files, ", times.size(), " lists of times");
  for (const std::vector<double>& clip : times) {
    if (clip.empty()) refuse("expected at least one time for a clip, got none");
    for (double time : clip)
      if (!std::isfinite(time)) refuse("expected finite times in seconds, got ", time);
  }
}

}  // namespace

const std::vector<std::string> kVideoFiles = {"*.mp4", "*.m4v",  "*.mov", "*.mkv", "*.webm", "*.avi", "*.ts", "*.m2ts",
                                              "*.mpg", "*.mpeg", "*.flv", "*.3gp", "*.ogv",  "*.wmv", "*.y4m"};

void VideoArgs::check() {
  const int given = is_given(file_root) + is_given(file_list) + filenames.has_value();
  if (given != 1) refuse("expected one of file_root, file_list and filenames, got ", given);
  if (labels && !filenames) refuse("labels go with filenames; elsewhere they come from the folders or the list");
  if (labels && labels->size() != filenames->size())
    refuse("expected one label for each file, got ", filenames->size(), " files, ", labels->size(), " labels");
  if (times) return check_times(*times, *this);
  if (!sequence_length) fail(ErrorKind::type, "expected sequence_length, the number of frames of a clip, or times");
  check_within("sequence_length", *sequence_length, 1);
  check_within("stride", stride.value_or(1), 1);
  check_within("step", step.value_or(-1), -kLargestLength);
}

VideoOptions VideoArgs::options() const {
  VideoOptions options;
  options.clips.length = sequence_length.value_or(1);
  options.clips.stride = stride.value_or(1);
  options.clips.step = step.value_or(-1) > 0 ? *step : options.clips.length * options.clips.stride;
  options.times = times;
  options.request = {static_cast<codecs::ImageType>(image_type), color_matrix == ColorMatrix::file};
  options.labels = !filenames || labels;
  options.frame_numbers = enable_frame_num;
  options.timestamps = enable_timestamps;
  options.gpu = gpu;
  return options;
}

std::shared_ptr<Source> VideoArgs::open(VideoOptions options, const Opening& opening) const {
  options.reader = opening.reader;
  ListedVideos videos;
  if (filenames)
    videos.files = files_of_names(*filenames, labels ? *labels : std::vector<int64_t>(filenames->size()), "");
  else if (is_given(file_list))
    videos = read_list(*file_list, opening);
  else
    videos.files =
        FileList::from_folders(*file_root, {kVideoFiles, {}, false, {}, "filenames= takes other files"}, opening);
  return video_source(videos.files, videos.bounds, options, indexes, opening.interrupt);
}

void check_classic_video(ClassicVideoArgs& args) {
  if (args.channels != 3) refuse("expected 3 channels, got channels=", args.channels);
  if (args.dtype != DType::uint8 && args.dtype != DType::float32)
    refuse("expected uint8 or float32 as dtype, got ", args.dtype);
  if (args.filenames && args.labels && args.labels->empty())
    for (size_t i = 0; i < args.filenames->size(); i++) args.labels->push_back(static_cast<int64_t>(i));
  args.check();
}

std::shared_ptr<Source> classic_video_source(const ClassicVideoArgs& args, const Opening& opening) {
  using codecs::Rounding;
  VideoOptions options = args.options();
  const bool outer = args.file_list_include_preceding_frame && !args.file_list_frame_num;
  options.bounds = {args.file_list_frame_num, outer ? Rounding::down : Rounding::up,
                    outer ? Rounding::up : Rounding::down};
  options.clips.padding = args.pad_sequences ? codecs::FramePadding::constant : codecs::FramePadding::none;
  options.clips.is_classic = true;
  options.dtype = args.dtype;
  options.normalized = args.normalized;
  options.refuse_variable_rate = !args.skip_vfr_check;
  options.filter = args.filter;
  return args.open(std::move(options), opening);
}

}  // namespace avida
