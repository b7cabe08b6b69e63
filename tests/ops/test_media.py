"""decoders.media: the frames and the sound of the same seconds."""

import numpy as np
import pytest

import avida as ndd
from tests.codecs.tracks import decoded_track
from tests.codecs.videos import all_videos, decoded, encoded
from tests.op_case import op_case

X264 = {"preset": "ultrafast"}
SIZES = ((8, (48, 64)), (12, (32, 48)), (9, (32, 32)))
FILES = [[encoded("libx264", "mp4", frames=frames, size=size, audio=True, options=X264)] for frames, size in SIZES]


def sound_of(file: np.ndarray, frames: int) -> np.ndarray:
    """Of all the seconds of a film of 25 frames per second, with silence at the end."""
    sound, length = decoded_track(file), round(frames / 25 * 8000)
    return np.pad(sound, ((0, max(0, length - len(sound))), (0, 0)))[:length]


@op_case("decoders.media", inputs=FILES, downmix=[False, True], on_error=["raise", "placeholder"], atol=1)
def media(file, downmix, on_error):
    frames = decoded(file)
    sound = sound_of(file, len(frames)).astype(np.float32)
    return frames, (sound.mean(1) if downmix else sound), np.float32(8000)


@pytest.mark.parametrize(("start", "end"), [(0.0, 0.4), (0.2, 0.76), (0.6, 5.0)])
def test_parts(start, end):
    file = all_videos()["h264_with_sound.mp4"]
    frames, sound, rate = ndd.decoders.media(file, start=start, end=end)
    np.testing.assert_array_equal(frames, ndd.decoders.video(file, start=start, end=end))
    whole = sound_of(file, 20)
    last = min(end, 0.8)
    np.testing.assert_allclose(np.asarray(sound), whole[round(start * 8000) : round(last * 8000)], atol=1e-6)
    _, resampled, rate = ndd.decoders.media(file, start=start, end=end, sample_rate=16000, num_frames=4)
    assert rate.item() == 16000
    assert resampled.shape[0] == 2 * sound.shape[0]


def test_late_sound_is_preceded_by_silence():
    """Of a film whose sound begins later than its frames."""
    import io
    from fractions import Fraction

    import av

    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as output:
        video = output.add_stream("libx264", rate=25, options=X264)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        sound = output.add_stream("pcm_s16le", rate=8000)
        sound.layout = "mono"
        for i in range(20):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 10 * i, np.uint8), format="rgb24")
            frame.pts, frame.time_base = i, Fraction(1, 25)
            output.mux(video.encode(frame))
        tone = av.AudioFrame.from_ndarray(np.full((1, 2000), 1000, np.int16), format="s16", layout="mono")
        tone.sample_rate, tone.pts, tone.time_base = 8000, 2400, Fraction(1, 8000)  # 0.3 s
        output.mux(sound.encode(tone))
        output.mux([*video.encode(None), *sound.encode(None)])
    _, samples, _ = ndd.decoders.media(np.frombuffer(file.getvalue(), np.uint8), downmix=True)
    expected = np.zeros(6400, np.float32)
    expected[2400:4400] = 1000 / 32768
    np.testing.assert_allclose(np.asarray(samples), expected, atol=1e-6)


def test_errors():
    silent = all_videos()["h264.mp4"]
    with pytest.raises(RuntimeError, match="sample 1: expected a sound track, the file has none"):
        ndd.decoders.media(ndd.as_batch([FILES[0][0], silent]))[0].evaluate()
    frames, sound, rate = ndd.decoders.media(ndd.as_batch([FILES[0][0], silent]), on_error="placeholder")
    assert (frames.shape[1], sound.shape[1], rate.tensors[1].item()) == ((0, 1, 1, 3), (0, 1), 0)
    with pytest.raises(RuntimeError, match="one of stride, fps and num_frames"):
        ndd.decoders.media(FILES[0][0], fps=5.0, stride=2)[0].evaluate()
