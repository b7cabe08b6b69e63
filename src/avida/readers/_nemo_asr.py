"""The reader of speech with transcripts."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Unpack

from avida import _core
from avida._values.dtype import dtype as make_dtype
from avida._values.dtype import float32
from avida._values.typing import DeviceArg, DTypeArg
from avida.readers._options import ReaderOptions
from avida.readers._reader import Reader

Path = str | os.PathLike[str]


class NemoAsr(Reader):
    """Reads speech and transcripts that manifests list, in the form of NVIDIA NeMo.

    A manifest has one JSON object in each line: the sound file as ``audio_filepath`` and, where they are known, the
    ``text`` that is spoken, the ``duration`` in seconds, and the ``offset`` in seconds at which it begins. Without a
    duration the sound goes to the end of the file. A relative name is looked for in the working folder, then beside the
    manifest. A line that is no such object is left out with a warning.

    The outputs are the sound, with shape ``(frames,)``, or ``(frames, channels)`` without ``downmix``; then, as asked
    for, the file's sample rate (float32), the bytes of the text (uint8), and the entry's number (int64).

    Args:
        downmix: Return the mean of the channels, without an axis for them. Default: ``True``.
        dtype: float32, from -1 to 1, or int16 or int32, which use the whole range. Default: ``float32``.
        manifest_filepaths: The manifest, or several.
        max_duration: If above 0, leave out entries with a longer ``duration``. Default: ``0``.
        min_duration: If above 0, leave out entries with a shorter ``duration``, or none. Default: ``0``.
        normalize_text: Ignored.
        quality: Of resampling, from 0 to 100. Default: ``50``.
        read_idxs: Return the number of the entry within its manifest, among those that are not left out. Default:
            ``False``.
        read_sample_rate: Return the sample rate that the file has, also where the sound is resampled. Default:
            ``True``.
        read_text: Return the text. Default: ``True``.
        sample_rate: The rate in Hz to resample to. Default: that of each file.

    Example:
        >>> import json, pathlib, tempfile, wave
        >>> folder = tempfile.TemporaryDirectory()
        >>> with wave.open(f"{folder.name}/hello.wav", "wb") as file:
        ...     file.setparams((1, 2, 8000, 4, "NONE", ""))
        ...     file.writeframes(np.array([0, 8192, 16384, -8192], np.int16).tobytes())
        >>> manifest = pathlib.Path(folder.name, "train.json")
        >>> _ = manifest.write_text(json.dumps({"audio_filepath": "hello.wav", "duration": 0.0005, "text": "hello"}))
        >>> reader = avida.readers.NemoAsr(manifest_filepaths=manifest)
        >>> for sound, rate, text in reader.next_epoch():
        ...     print(np.asarray(sound), rate.item(), np.asarray(text).tobytes().decode())
        [ 0.    0.25  0.5  -0.25] 8000.0 hello
    """

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        downmix: bool | None = None,
        dtype: DTypeArg | None = None,
        manifest_filepaths: Path | Sequence[Path],
        max_duration: float | None = None,
        min_duration: float | None = None,
        normalize_text: bool | None = None,
        quality: float | None = None,
        read_idxs: bool | None = None,
        read_sample_rate: bool | None = None,
        read_text: bool | None = None,
        sample_rate: float | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        if not hasattr(_core, "nemo_asr_source"):
            raise RuntimeError("readers.NemoAsr is not in this build of avida: it needs libsndfile and simdjson")
        if normalize_text is not None:
            warnings.warn("normalize_text has no effect and will be removed", DeprecationWarning, stacklevel=2)
        one = isinstance(manifest_filepaths, str | os.PathLike)
        manifests = [os.fspath(path) for path in ([manifest_filepaths] if one else manifest_filepaths)]

        def source() -> _core.ReaderSource:
            return _core.nemo_asr_source(
                manifests,
                make_dtype(float32 if dtype is None else dtype)._id,
                downmix is None or bool(downmix),
                50.0 if quality is None else float(quality),
                -1.0 if sample_rate is None else float(sample_rate),
                0.0 if min_duration is None else float(min_duration),
                0.0 if max_duration is None else float(max_duration),
                read_sample_rate is None or bool(read_sample_rate),
                read_text is None or bool(read_text),
                bool(read_idxs),
                bool(options.get("read_ahead")),
            )

        super().__init__(source, max_batch_size, name, device, num_inputs, **options)
