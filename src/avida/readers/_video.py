"""The readers of clips of videos with a constant frame rate, and of resized ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

from avida import _core, _ops
from avida._values.dtype import dtype as make_dtype
from avida._values.dtype import float32, uint8
from avida._values.typing import DeviceArg, DTypeArg, FixedFloats, FloatArg, FloatsArg, ImageTypeArg, InterpTypeArg
from avida.readers._options import ReaderOptions
from avida.readers._paths import Path, list_of_paths
from avida.readers._reader import Reader
from avida.readers._videos import VideoArguments, gpu_number, image_type_number, uses_file_matrix


class Video(Reader):
    """Reads clips of videos with a constant frame rate, decoded.

    The outputs are the frames (layout FHWC), then, as asked for, the label (int32, one element), the frame numbers
    (int32) and the times of the frames in seconds after the first one (float64).

    The real library needs a GPU for this reader; here it decodes on the CPU, too. With ``device="gpu"`` the GPU's video
    engine (NVDEC) decodes what it knows, and the CPU the rest. ``experimental.readers.Video`` has more ways to choose
    frames.

    Args:
        additional_decode_surfaces: Ignored.
        channels: The number of channels, which is 3. Default: ``3``.
        color_matrix: How YCbCr becomes RGB: "bt601", whatever the file says, or "file", with the matrix that the file
            names: BT.601, BT.709 or BT.2020. Default: ``"bt601"``.
        dtype: uint8 or float32. Default: ``uint8``.
        enable_frame_num: Return frame numbers: "scalar" (or ``True``) of the first frame, "sequence" of all frames,
            ``-1`` for padded ones. Default: ``"none"``.
        enable_timestamps: Return the time of each frame, ``-1`` for padded ones. Default: ``False``.
        file_list: A text file with ``file label [begin [end]]`` in each line, separated by blanks. Names are relative
            to the folder of the list. Begin and end are times in seconds; begin is rounded up to a frame, end down, and
            the end is not included.
        file_list_frame_num: Begin and end are frame numbers; negative ones count from the end. Default: ``False``.
        file_list_include_preceding_frame: Round times the other way: begin down, end up. Default: ``False``.
        file_root: A folder with one folder of videos for each label.
        filenames: The files, in this order.
        image_type: RGB, or YCbCr with the codes of BT.601. Default: RGB.
        index_path: A file that keeps times and keyframes of the videos, so that the next run need not read all of
            them first. It is made where it is missing; videos that have changed are read again. ``avida index FOLDER``
            makes it, too.
        labels: A label for each of ``filenames``; with an empty list, their numbers.
        normalized: Return floats from 0 to 1, not to 255. Default: ``False``.
        pad_sequences: Return clips also where frames are missing at the end: those are black. Otherwise such clips are
            left out. Default: ``False``.
        sequence_length: The number of frames of a clip.
        skip_vfr_check: Read videos with a variable frame rate, too. Default: ``False``.
        step: The distance between the beginnings of clips. Default: ``sequence_length * stride``.
        stride: The distance between frames of a clip. Default: ``1``.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> frames = [b"FRAME\\n" + bytes([16 * i] * 16 + [128] * 8) for i in range(6)]
        >>> _ = pathlib.Path(folder.name, "a.y4m").write_bytes(b"YUV4MPEG2 W4 H4 F25:1\\n" + b"".join(frames))
        >>> reader = avida.readers.Video(filenames=[folder.name + "/a.y4m"], labels=[7], sequence_length=3)
        >>> for clips, labels in reader.next_epoch(batch_size=2):
        ...     print(clips.shape, np.asarray(labels).tolist())
        [(3, 4, 4, 3), (3, 4, 4, 3)] [[7], [7]]
    """

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        additional_decode_surfaces: int | None = None,
        channels: int | None = None,
        color_matrix: Literal["bt601", "file"] | None = None,
        dtype: DTypeArg | None = None,
        enable_frame_num: Literal["none", "scalar", "sequence"] | bool | None = None,
        enable_timestamps: bool | None = None,
        file_list: Path | None = None,
        file_list_frame_num: bool | None = None,
        file_list_include_preceding_frame: bool | None = None,
        file_root: Path | None = None,
        filenames: Path | Sequence[Path] | None = None,
        image_type: ImageTypeArg | None = None,
        index_path: Path | None = None,
        labels: int | Sequence[int] | None = None,
        normalized: bool | None = None,
        pad_sequences: bool | None = None,
        sequence_length: int,
        skip_vfr_check: bool | None = None,
        step: int | None = None,
        stride: int | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        if channels not in (None, 3):
            raise RuntimeError(f"expected 3 channels, got channels={channels}")
        kind = uint8 if dtype is None else make_dtype(dtype)
        if kind not in (uint8, float32):
            raise RuntimeError(f"expected uint8 or float32 as dtype, got {kind}")
        if filenames is not None and labels is not None and not isinstance(labels, int) and not len(labels):
            labels = range(len(list_of_paths("filenames", filenames)))
        video = VideoArguments(self._title(), file_root, file_list, filenames, labels, index_path, not skip_vfr_check)
        outer = bool(file_list_include_preceding_frame) and not file_list_frame_num
        video.options.set_bounds(bool(file_list_frame_num), not outer, outer)
        video.options.set_frames(
            image_type_number(image_type),
            uses_file_matrix(color_matrix),
            kind._id,
            bool(normalized),
            gpu_number(device),
        )
        if kind == uint8 and gpu_number(device) is None:
            self._add_filter(video.options)
        video.set_outputs(enable_frame_num, enable_timestamps)
        pad_mode = "constant" if pad_sequences else "none"
        video.set_clips(sequence_length, step, stride, False, pad_mode, None, is_classic=True)
        super().__init__(video.source, max_batch_size, name, device, num_inputs, **options)

    def _add_filter(self, options: _core.VideoOptions) -> None:
        """What is done to each frame while it is decoded: nothing."""


class VideoResize(Video):
    """Reads clips of videos and resizes their frames.

    ``readers.Video`` followed by :func:`avida.resize`, with the arguments of both.

    Args:
        additional_decode_surfaces: Ignored.
        antialias: Whether to filter when shrinking. Default: ``True``.
        channels: The number of channels, which is 3. Default: ``3``.
        color_matrix: As of ``readers.Video``. Default: ``"bt601"``.
        dtype: uint8 or float32. Default: ``uint8``.
        enable_frame_num: As of ``readers.Video``. Default: ``"none"``.
        enable_timestamps: Return the time of each frame, ``-1`` for padded ones. Default: ``False``.
        file_list: As of ``readers.Video``.
        file_list_frame_num: Begin and end are frame numbers; negative ones count from the end. Default: ``False``.
        file_list_include_preceding_frame: Round times the other way: begin down, end up. Default: ``False``.
        file_root: A folder with one folder of videos for each label.
        filenames: The files, in this order.
        image_type: RGB, or YCbCr with the codes of BT.601. Default: RGB.
        index_path: As of ``readers.Video``.
        interp_type: The interpolation for enlarging and shrinking. Default: linear.
        labels: A label for each of ``filenames``; with an empty list, their numbers.
        mag_filter: The interpolation for enlarging. Default: linear.
        max_size: The largest extents that ``resize_shorter`` or ``mode="not_smaller"`` may give.
        min_filter: The interpolation for shrinking. Default: linear.
        minibatch_size: Ignored.
        mode: "default", "stretch", "not_larger" or "not_smaller", as of :func:`avida.resize`. Default: ``"default"``.
        normalized: Return floats from 0 to 1, not to 255. Default: ``False``.
        pad_sequences: As of ``readers.Video``. Default: ``False``.
        resize_longer: The length of the longer side.
        resize_shorter: The length of the shorter side.
        resize_x: The width.
        resize_y: The height.
        resize_z: Ignored.
        roi_end: Where the region to resize ends.
        roi_relative: Whether the region is given in parts of the extents. Default: ``False``.
        roi_start: Where the region to resize begins.
        sequence_length: The number of frames of a clip.
        size: Height and width.
        skip_vfr_check: Read videos with a variable frame rate, too. Default: ``False``.
        step: The distance between the beginnings of clips. Default: ``sequence_length * stride``.
        stride: The distance between frames of a clip. Default: ``1``.
        subpixel_scale: As of :func:`avida.resize`. Default: ``True``.
        temp_buffer_hint: Ignored.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> frames = [b"FRAME\\n" + bytes([16 * i] * 16 + [128] * 8) for i in range(6)]
        >>> _ = pathlib.Path(folder.name, "a.y4m").write_bytes(b"YUV4MPEG2 W4 H4 F25:1\\n" + b"".join(frames))
        >>> reader = avida.readers.VideoResize(filenames=[folder.name + "/a.y4m"], sequence_length=2, size=[2, 3])
        >>> for (clips,) in reader.next_epoch(batch_size=3):
        ...     print(clips.shape)
        [(2, 2, 3, 3), (2, 2, 3, 3), (2, 2, 3, 3)]
    """

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        additional_decode_surfaces: int | None = None,
        antialias: bool | None = None,
        channels: int | None = None,
        color_matrix: Literal["bt601", "file"] | None = None,
        dtype: DTypeArg | None = None,
        enable_frame_num: Literal["none", "scalar", "sequence"] | bool | None = None,
        enable_timestamps: bool | None = None,
        file_list: Path | None = None,
        file_list_frame_num: bool | None = None,
        file_list_include_preceding_frame: bool | None = None,
        file_root: Path | None = None,
        filenames: Path | Sequence[Path] | None = None,
        image_type: ImageTypeArg | None = None,
        index_path: Path | None = None,
        interp_type: InterpTypeArg | None = None,
        labels: int | Sequence[int] | None = None,
        mag_filter: InterpTypeArg | None = None,
        max_size: FixedFloats | None = None,
        min_filter: InterpTypeArg | None = None,
        minibatch_size: int | None = None,
        mode: str | None = None,
        normalized: bool | None = None,
        pad_sequences: bool | None = None,
        resize_longer: FloatArg | None = None,
        resize_shorter: FloatArg | None = None,
        resize_x: FloatArg | None = None,
        resize_y: FloatArg | None = None,
        resize_z: FloatArg | None = None,
        roi_end: FloatsArg | None = None,
        roi_relative: bool | None = None,
        roi_start: FloatsArg | None = None,
        sequence_length: int,
        size: FloatsArg | None = None,
        skip_vfr_check: bool | None = None,
        step: int | None = None,
        stride: int | None = None,
        subpixel_scale: bool | None = None,
        temp_buffer_hint: int | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        self._is_resized = False  # by the source, frame by frame
        self._resize: dict[str, Any] = {
            "antialias": antialias,
            "interp_type": interp_type,
            "mag_filter": mag_filter,
            "max_size": max_size,
            "min_filter": min_filter,
            "mode": mode,
            "resize_longer": resize_longer,
            "resize_shorter": resize_shorter,
            "resize_x": resize_x,
            "resize_y": resize_y,
            "roi_end": roi_end,
            "roi_relative": roi_relative,
            "roi_start": roi_start,
            "size": size,
            "subpixel_scale": subpixel_scale,
        }
        super().__init__(
            max_batch_size,
            name,
            device,
            num_inputs,
            channels=channels,
            color_matrix=color_matrix,
            dtype=dtype,
            enable_frame_num=enable_frame_num,
            enable_timestamps=enable_timestamps,
            file_list=file_list,
            file_list_frame_num=file_list_frame_num,
            file_list_include_preceding_frame=file_list_include_preceding_frame,
            file_root=file_root,
            filenames=filenames,
            image_type=image_type,
            index_path=index_path,
            labels=labels,
            normalized=normalized,
            pad_sequences=pad_sequences,
            sequence_length=sequence_length,
            skip_vfr_check=skip_vfr_check,
            step=step,
            stride=stride,
            **options,
        )

    def _add_filter(self, options: _core.VideoOptions) -> None:
        self._is_resized = options.set_filter("resize", self._resize)

    def _item(self, outputs: tuple) -> tuple:
        if self._is_resized:
            return outputs
        clips, *rest = outputs
        return _ops.resize(clips, **self._resize), *rest
