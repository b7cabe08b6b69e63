// readers.Video and experimental.readers.Video: clips of videos.
#include "readers/video/video_args.h"

namespace avida {

enum class BoundsFormat { timestamps, frames };
AVIDA_CHOICES(BoundsFormat, "timestamps", "frames")

enum class BoundsRounding { start_down_end_up, start_up_end_down, all_up, all_down };
AVIDA_CHOICES(BoundsRounding, "start_down_end_up", "start_up_end_down", "all_up", "all_down")

namespace {

using codecs::Rounding;

struct ExperimentalArgs : VideoArgs {
  BoundsFormat file_list_format = BoundsFormat::timestamps;
  BoundsRounding file_list_rounding = BoundsRounding::start_down_end_up;
  std::vector<int64_t> fill_value = {0};
  codecs::FramePadding pad_mode = codecs::FramePadding::none;
  bool uniform_sample = false;
};

void check_experimental(ExperimentalArgs& args) {
  if (args.times && args.uniform_sample) refuse("expected times or uniform_sample, got both");
  args.check();
}

std::shared_ptr<Source> experimental_source(const ExperimentalArgs& args, const Opening& opening) {
  VideoOptions options = args.options();
  const bool begin_up =
      args.file_list_rounding == BoundsRounding::start_up_end_down || args.file_list_rounding == BoundsRounding::all_up;
  const bool end_up =
      args.file_list_rounding == BoundsRounding::start_down_end_up || args.file_list_rounding == BoundsRounding::all_up;
  options.bounds = {args.file_list_format == BoundsFormat::frames, begin_up ? Rounding::up : Rounding::down,
                    end_up ? Rounding::up : Rounding::down};
  options.clips.uniform = args.uniform_sample;
  options.clips.padding = args.pad_mode;
  options.fill_value.assign(args.fill_value.begin(), args.fill_value.end());
  return args.open(std::move(options), opening);
}

}  // namespace

AVIDA_READER(Video, ClassicVideoArgs) {
  declare_classic_video(reader);
  reader
      .doc(R"(Reads clips of videos with a constant frame rate, decoded.

The outputs are the frames (layout FHWC), then, as asked for, the label (int32, one element), the frame numbers
(int32) and the times of the frames in seconds after the first one (float64).

The real library needs a GPU for this reader; here it decodes on the CPU, too. With ``device="gpu"`` the GPU's video
engine (NVDEC) decodes what it knows, and the CPU the rest. ``experimental.readers.Video`` has more ways to choose
frames.)")
      .example(R"(>>> import pathlib, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> frames = [b"FRAME\n" + bytes([16 * i] * 16 + [128] * 8) for i in range(6)]
>>> _ = pathlib.Path(folder.name, "a.y4m").write_bytes(b"YUV4MPEG2 W4 H4 F25:1\n" + b"".join(frames))
>>> reader = avida.readers.Video(filenames=[folder.name + "/a.y4m"], labels=[7], sequence_length=3)
>>> for clips, labels in reader.next_epoch(batch_size=2):
...     print(clips.shape, np.asarray(labels).tolist())
[(3, 4, 4, 3), (3, 4, 4, 3)] [[7], [7]])")
      .needs("FFmpeg")
      .check(check_classic_video)
      .source(classic_video_source);
}

AVIDA_READER_IN(experimental, Video, ExperimentalArgs) {
  declare_videos(reader);
  reader
      .doc(R"(Reads clips of videos: sequences of frames, decoded.

The outputs are the frames (uint8, layout FHWC), then, as asked for, the label (int32, one element), the frame
numbers (int32) and the times of the frames in seconds after the first one (float64).

A sample is a clip of ``sequence_length`` frames that are ``stride`` apart. Clips of a file begin ``step`` frames
apart; those that do not fit any more are left out, or padded as ``pad_mode`` says. The labels are the numbers of
the folders under ``file_root``, or those of ``file_list`` or ``labels``; without labels there is no such output.

All files are opened when the reader is made, to find their frames and keyframes. A file that cannot be read is one
sample that fails; see ``on_error``. With ``device="gpu"`` the GPU's video engine (NVDEC) decodes what it knows, and
the CPU the rest.)")
      .path("file_list", &ExperimentalArgs::file_list,
            "A text file with ``file label [begin [end]]`` in each line, separated by blanks. Names are relative to "
            "the folder of the list. The end is not included; without one, the part goes to the end of the file.")
      .arg("file_list_format", &ExperimentalArgs::file_list_format,
           "What begin and end are: \"timestamps\" in seconds, or \"frames\", of which negative ones count from the "
           "end.")
      .ignored("file_list_include_end", "bool | None")
      .arg("file_list_rounding", &ExperimentalArgs::file_list_rounding,
           "How begin and end become frames: \"start_down_end_up\", \"start_up_end_down\", \"all_up\" or \"all_down\".")
      .arg("fill_value", &ExperimentalArgs::fill_value,
           "The colour of padded frames with ``pad_mode=\"constant\"``: a number from 0 to 255, or three. Default: "
           "``0``.")
      .arg("labels", &ExperimentalArgs::labels, "A label for each of ``filenames``.")
      .arg("pad_mode", &ExperimentalArgs::pad_mode,
           "What stands for frames beyond the end: \"constant\" (``fill_value``), \"edge\" or \"repeat\" (the last "
           "frame), \"reflect_1001\" or \"symmetric\", \"reflect_101\" or \"reflect\" (backwards, with and without the "
           "last frame again), or \"none\": clips that are too short are left out.")
      .arg("uniform_sample", &ExperimentalArgs::uniform_sample,
           "Make one clip of each file, or part, with evenly spaced frames from the first to the last; ``stride``, "
           "``step`` and ``pad_mode`` have no effect.")
      .example(R"(>>> import pathlib, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> frames = [b"FRAME\n" + bytes([16 * i] * 16 + [128] * 8) for i in range(6)]
>>> _ = pathlib.Path(folder.name, "a.y4m").write_bytes(b"YUV4MPEG2 W4 H4 F25:1\n" + b"".join(frames))
>>> reader = avida.experimental.readers.Video(
...     filenames=[folder.name + "/a.y4m"], sequence_length=3, enable_frame_num="sequence"
... )
>>> for clips, numbers in reader.next_epoch(batch_size=2):
...     print(clips.shape, clips.layout, np.asarray(numbers).tolist())
[(3, 4, 4, 3), (3, 4, 4, 3)] FHWC [[0, 1, 2], [3, 4, 5]])")
      .needs("FFmpeg")
      .check(check_experimental)
      .source(experimental_source);
}

}  // namespace avida
