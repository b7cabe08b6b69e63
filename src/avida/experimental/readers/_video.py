"""The reader of clips of videos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack

from avida._values.dtype import uint8
from avida._values.typing import DeviceArg, ImageTypeArg
from avida.readers._options import ReaderOptions
from avida.readers._paths import Path
from avida.readers._reader import Reader
from avida.readers._videos import VideoArguments, gpu_number, image_type_number, uses_file_matrix

_ROUNDING = {
    "start_down_end_up": (False, True),
    "start_up_end_down": (True, False),
    "all_up": (True, True),
    "all_down": (False, False),
}


class Video(Reader):
    """Reads clips of videos: sequences of frames, decoded.

    The outputs are the frames (uint8, layout FHWC), then, as asked for, the label (int32, one element), the frame
    numbers (int32) and the times of the frames in seconds after the first one (float64).

    A sample is a clip of ``sequence_length`` frames that are ``stride`` apart. Clips of a file begin ``step`` frames
    apart; those that do not fit any more are left out, or padded as ``pad_mode`` says. The labels are the numbers of
    the folders under ``file_root``, or those of ``file_list`` or ``labels``; without labels there is no such output.

    All files are opened when the reader is made, to find their frames and keyframes. A file that cannot be read is one
    sample that fails; see ``on_error``. With ``device="gpu"`` the GPU's video engine (NVDEC) decodes what it knows, and
    the CPU the rest.

    Args:
        color_matrix: How YCbCr becomes RGB: "bt601", whatever the file says, as DALI does, or "file", with
            the matrix that the file names: BT.601, BT.709 or BT.2020. Default: ``"bt601"``.
        enable_frame_num: Return frame numbers: "scalar" (or ``True``) of the first frame, "sequence" of all frames,
            ``-1`` for padded ones. Default: ``"none"``.
        enable_timestamps: Return the time of each frame, ``-1`` for padded ones. Default: ``False``.
        file_list: A text file with ``file label [begin [end]]`` in each line, separated by blanks. Names are relative
            to the folder of the list. The end is not included; without one, the part goes to the end of the file.
        file_list_format: What begin and end are: "timestamps" in seconds, or "frames", of which negative ones count
            from the end. Default: ``"timestamps"``.
        file_list_include_end: Ignored.
        file_list_rounding: How begin and end become frames: "start_down_end_up", "start_up_end_down", "all_up" or
            "all_down". Default: ``"start_down_end_up"``.
        file_root: A folder with one folder of videos for each label.
        filenames: The files, in this order.
        fill_value: The colour of padded frames with ``pad_mode="constant"``: a number from 0 to 255, or three.
            Default: ``0``.
        image_type: RGB, or YCbCr with the codes of BT.601. Default: RGB.
        index_path: A file that keeps times and keyframes of the videos, so that the next run need not read all of
            them first. It is made where it is missing; videos that have changed are read again. ``avida index FOLDER``
            makes it, too.
        labels: A label for each of ``filenames``.
        pad_mode: What stands for frames beyond the end: "constant" (``fill_value``), "edge" or "repeat" (the last
            frame), "reflect_1001" or "symmetric", "reflect_101" or "reflect" (backwards, with and without the last
            frame again), or "none": clips that are too short are left out. Default: ``"none"``.
        sequence_length: The number of frames of a clip.
        step: The distance between the beginnings of clips. Default: ``sequence_length * stride``.
        stride: The distance between frames of a clip. Default: ``1``.
        uniform_sample: Make one clip of each file, or part, with evenly spaced frames from the first to the last;
            ``stride``, ``step`` and ``pad_mode`` have no effect. Default: ``False``.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> frames = [b"FRAME\\n" + bytes([16 * i] * 16 + [128] * 8) for i in range(6)]
        >>> _ = pathlib.Path(folder.name, "a.y4m").write_bytes(b"YUV4MPEG2 W4 H4 F25:1\\n" + b"".join(frames))
        >>> reader = avida.experimental.readers.Video(
        ...     filenames=[folder.name + "/a.y4m"], sequence_length=3, enable_frame_num="sequence"
        ... )
        >>> for clips, numbers in reader.next_epoch(batch_size=2):
        ...     print(clips.shape, clips.layout, np.asarray(numbers).tolist())
        [(3, 4, 4, 3), (3, 4, 4, 3)] FHWC [[0, 1, 2], [3, 4, 5]]
    """

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        color_matrix: Literal["bt601", "file"] | None = None,
        enable_frame_num: Literal["none", "scalar", "sequence"] | bool | None = None,
        enable_timestamps: bool | None = None,
        file_list: Path | None = None,
        file_list_format: Literal["timestamps", "frames"] | None = None,
        file_list_include_end: bool | None = None,
        file_list_rounding: Literal["start_down_end_up", "start_up_end_down", "all_up", "all_down"] | None = None,
        file_root: Path | None = None,
        filenames: Path | Sequence[Path] | None = None,
        fill_value: int | Sequence[int] | None = None,
        image_type: ImageTypeArg | None = None,
        index_path: Path | None = None,
        labels: int | Sequence[int] | None = None,
        pad_mode: str | None = None,
        sequence_length: int,
        step: int | None = None,
        stride: int | None = None,
        uniform_sample: bool | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        form = "timestamps" if file_list_format is None else file_list_format
        if form not in ("timestamps", "frames"):
            raise RuntimeError(f'expected "timestamps" or "frames" as file_list_format, got {form!r}')
        rounding = "start_down_end_up" if file_list_rounding is None else file_list_rounding
        if rounding not in _ROUNDING:
            raise RuntimeError(f"expected one of {', '.join(_ROUNDING)} as file_list_rounding, got {rounding!r}")
        video = VideoArguments("experimental.readers.Video", file_root, file_list, filenames, labels, index_path)
        video.options.set_bounds(form == "frames", *_ROUNDING[rounding])
        video.options.set_frames(
            image_type_number(image_type), uses_file_matrix(color_matrix), uint8._id, False, gpu_number(device)
        )
        video.set_outputs(enable_frame_num, enable_timestamps)
        video.set_clips(
            sequence_length, step, stride, bool(uniform_sample), pad_mode or "none", fill_value, is_classic=False
        )
        super().__init__(video.source, max_batch_size, name, device, num_inputs, **options)

    def _title(self) -> str:
        return "experimental.readers.Video"
