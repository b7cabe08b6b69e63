// The arguments of the readers of videos.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "readers/declare.h"
#include "readers/video/video_source.h"

namespace avida {

enum class ColorMatrix { bt601, file };
AVIDA_CHOICES(ColorMatrix, "bt601", "file")
AVIDA_CHOICES(FrameNumbers, "none", "scalar", "sequence")

// Of the image types, those of videos.
enum class VideoColors { rgb = 0, ycbcr = 3 };
inline constexpr ChoiceRules kVideoColorRules{.enumeration = "DALIImageType"};
AVIDA_CHOICES_WITH(VideoColors, kVideoColorRules, {"RGB", VideoColors::rgb}, {"YCbCr", VideoColors::ycbcr})

struct VideoArgs : ReaderArgs {
  std::optional<std::string> file_root, file_list, index_path;
  std::optional<std::vector<std::string>> filenames;
  std::optional<std::vector<int64_t>> labels;
  std::optional<int64_t> sequence_length, stride, step;
  std::optional<ClipTimes> times;
  ColorMatrix color_matrix = ColorMatrix::bt601;
  FrameNumbers enable_frame_num = FrameNumbers::none;
  bool enable_timestamps = false;
  VideoColors image_type = VideoColors::rgb;
  VideoIndexes* indexes = nullptr;  // those in the file `index_path`; outlives the opening

  void check();
  VideoOptions options() const;  // all that these arguments say
  std::shared_ptr<Source> open(VideoOptions options, const Opening& opening) const;
};

// Of readers.Video, and of readers.VideoResize, which filters the frames.
struct ClassicVideoArgs : VideoArgs {
  DType dtype = DType::uint8;
  int64_t channels = 3;
  bool normalized = false, pad_sequences = false, skip_vfr_check = false;
  bool file_list_frame_num = false, file_list_include_preceding_frame = false;
  std::shared_ptr<const codecs::FrameFilter> filter;
};

void check_classic_video(ClassicVideoArgs& args);
std::shared_ptr<Source> classic_video_source(const ClassicVideoArgs& args, const Opening& opening);

// The arguments that all readers of videos have.
template <class Args>
void declare_videos(ReaderDeclaration<Args>& reader) {
  reader
      .arg("color_matrix", &Args::color_matrix,
           "How YCbCr becomes RGB: \"bt601\", whatever the file says, or \"file\", with the matrix that the file "
           "names: BT.601, BT.709 or BT.2020.")
      .arg("enable_frame_num", &Args::enable_frame_num,
           "Return frame numbers: \"scalar\" (or ``True``) of the first frame, \"sequence\" of all frames, ``-1`` for "
           "padded ones.")
      .typed("Literal[\"none\", \"scalar\", \"sequence\"] | bool | None")
      .arg("enable_timestamps", &Args::enable_timestamps, "Return the time of each frame, ``-1`` for padded ones.")
      .path("file_root", &Args::file_root, "A folder with one folder of videos for each label.")
      .path("filenames", &Args::filenames, "The files, in this order.")
      .arg("image_type", &Args::image_type, "RGB, or YCbCr with the codes of BT.601.")
      .typed("ImageTypeArg | None")
      .path("index_path", &Args::index_path,
            "A file that keeps times and keyframes of the videos, so that the next run need not read all of them "
            "first. It is made where it is missing; videos that have changed are read again. ``avida index FOLDER`` "
            "makes it, too.")
      .arg("sequence_length", &Args::sequence_length, "The number of frames of a clip. Required without ``times``.")
      .arg("step", &Args::step, "The distance between the beginnings of clips. Default: ``sequence_length * stride``.")
      .arg("stride", &Args::stride, "The distance between frames of a clip. Default: ``1``.")
      .arg("times", &Args::times,
           "For each of ``filenames``, in which a file may stand many times, the times of the frames of one clip, in "
           "seconds after the first frame: the frames that are shown then. Times outside of the video are an error, "
           "unless the reader pads.")
      .typed("Iterable[FixedFloats] | None")
      .arg("indexes", &Args::indexes, "", ReaderArg::internal);
}

template <class Args>
void declare_classic_video(ReaderDeclaration<Args>& reader) {
  declare_videos(reader);
  reader.ignored("additional_decode_surfaces", "int | None")
      .arg("channels", &Args::channels, "The number of channels, which is 3.")
      .arg("dtype", &Args::dtype, "uint8 or float32.")
      .path("file_list", &Args::file_list,
            "A text file with ``file label [begin [end]]`` in each line, separated by blanks. Names are relative to "
            "the folder of the list. Begin and end are times in seconds; begin is rounded up to a frame, end down, and "
            "the end is not included.")
      .arg("file_list_frame_num", &Args::file_list_frame_num,
           "Begin and end are frame numbers; negative ones count from the end.")
      .arg("file_list_include_preceding_frame", &Args::file_list_include_preceding_frame,
           "Round times the other way: begin down, end up.")
      .arg("labels", &Args::labels, "A label for each of ``filenames``; with an empty list, their numbers.")
      .arg("normalized", &Args::normalized, "Return floats from 0 to 1, not to 255.")
      .arg("pad_sequences", &Args::pad_sequences,
           "Return clips also where frames are missing at the end: those are black. Otherwise such clips are left out.")
      .arg("skip_vfr_check", &Args::skip_vfr_check, "Read videos with a variable frame rate, too.")
      .arg("filter", &Args::filter, "", ReaderArg::internal);
}

// Patterns of the names of videos.
extern const std::vector<std::string> kVideoFiles;

}  // namespace avida
