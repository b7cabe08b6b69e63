"""avida.torchcodec: torchcodec's names, arguments, return types and times, as its documentation has them."""

import io
import json

import numpy as np
import pytest
import torch
from PIL import Image

from avida.torchcodec import AudioSamples, Frame, FrameBatch, samplers
from avida.torchcodec.decoders import AudioDecoder, VideoDecoder, decode_gif, decode_image, decode_jpeg, decode_png
from tests.codecs.tracks import all_tracks, decoded_track
from tests.codecs.videos import all_videos, decoded, encoded, rotated, times_of

H264 = all_videos()["h264.mp4"]
PTS = np.arange(20) / 25


def decoder(**arguments) -> VideoDecoder:
    return VideoDecoder(H264.tobytes(), **arguments)


def test_frames_by_number():
    video = decoder()
    assert (len(video), video.stream_index) == (20, 0)
    frame = video.get_frame_at(-1)
    assert isinstance(frame, Frame)
    assert (frame.data.shape, frame.data.dtype) == ((3, 48, 64), torch.uint8)
    assert (frame.pts_seconds, frame.duration_seconds) == pytest.approx((0.76, 0.04))
    batch = video.get_frames_at([5, 0, 5])
    assert isinstance(batch, FrameBatch)
    assert batch.pts_seconds.dtype == batch.duration_seconds.dtype == torch.float64
    np.testing.assert_allclose(batch.pts_seconds, PTS[[5, 0, 5]])
    assert torch.equal(batch.data[0], video[5])
    assert torch.equal(video.get_frames_at(torch.tensor([5, 0, 5])).data, batch.data)
    assert torch.equal(video[2:9:3], video.get_frames_in_range(2, 9, 3).data)
    assert torch.equal(video.get_all_frames().data, video[:])
    data, pts, duration = frame
    assert (data.ndim, pts, duration) == (3, frame.pts_seconds, frame.duration_seconds)
    first = next(iter(batch))
    assert isinstance(first, FrameBatch)
    assert first.data.shape == (3, 48, 64)
    assert "data (shape): torch.Size([3, 3, 48, 64])" in repr(batch)


@pytest.mark.parametrize("name", ["h264.mp4", "h264_variable_rate.mp4", "h264_open_gop.mp4", "vp9.webm"])
def test_frames_by_time(name):
    """The frame that is shown at a time is the last one that has begun."""
    video, times = VideoDecoder(all_videos()[name].tobytes()), times_of(all_videos()[name])
    asked = np.linspace(0, times[-1], 23)
    shown = np.searchsorted(times, asked, side="right") - 1
    batch = video.get_frames_played_at(asked.tolist())
    np.testing.assert_allclose(batch.pts_seconds, times[shown], atol=2e-3)
    np.testing.assert_allclose(video.get_frame_played_at(asked[7]).pts_seconds, times[shown[7]], atol=2e-3)
    part = video.get_frames_played_in_range(asked[3], asked[11])
    expected = [i for i in range(shown[3], 20) if times[i] < asked[11]]
    np.testing.assert_allclose(part.pts_seconds, times[expected], atol=2e-3)
    at_rate = video.get_frames_played_in_range(asked[3], asked[11], fps=9)
    np.testing.assert_allclose(at_rate.pts_seconds, asked[3] + np.arange(round((asked[11] - asked[3]) * 9)) / 9)
    assert (at_rate.duration_seconds == 1 / 9).all()


def test_metadata():
    metadata = VideoDecoder(all_videos()["h264_variable_rate.mp4"].tobytes()).metadata
    assert (metadata.num_frames, metadata.num_frames_from_header, metadata.num_frames_from_content) == (20, 20, 20)
    assert (metadata.height, metadata.width, metadata.codec, metadata.pixel_format) == (48, 64, "h264", "yuv420p")
    assert (metadata.begin_stream_seconds, metadata.end_stream_seconds) == pytest.approx((0, 15.24))
    assert metadata.average_fps == pytest.approx(20 / 15.24)
    turned = VideoDecoder(rotated(H264, 90).tobytes())
    assert (turned.metadata.rotation, turned.metadata.height, turned.metadata.width) == (-90, 64, 48)
    assert torch.equal(turned[3], torch.rot90(decoder()[3], -1, (1, 2)))
    sound = AudioDecoder(all_tracks()["aac.mp4"].tobytes()).metadata
    assert (sound.sample_rate, sound.num_channels, sound.sample_format, sound.codec) == (44100, 2, "fltp", "aac")


@pytest.mark.parametrize("colorspace", [None, 1])
def test_colours_are_by_the_matrix_of_the_file(colorspace):
    """Chroma is repeated, as in torchcodec, and not interpolated: compared where it hardly changes."""
    file = encoded("libx264", "mp4", frames=3, pixels="yuv444p", colorspace=colorspace, options={"preset": "veryfast"})
    found = VideoDecoder(file.tobytes(), dimension_order="NHWC")[:].numpy()
    np.testing.assert_allclose(found, decoded(file, "bt601" if colorspace is None else "bt709"), atol=1)
    halved = VideoDecoder(H264.tobytes(), dimension_order="NHWC")[0].numpy().astype(int)
    red_less_blue = halved[..., 0] - halved[..., 2]
    assert abs(red_less_blue[:, ::2] - red_less_blue[:, 1::2]).mean() < 4


def test_sources(tmp_path):
    path = tmp_path / "film.mp4"
    path.write_bytes(H264.tobytes())
    expected = decoder()[3]
    with path.open("rb") as file:
        tensor = torch.from_numpy(H264.copy())
        for source in (path, str(path), H264.tobytes(), tensor, file, io.BytesIO(H264.tobytes())):
            assert torch.equal(VideoDecoder(source)[3], expected)
    mappings = json.dumps({"frames": [{"pts": 0, "duration": 1, "key_frame": 1}]})
    assert torch.equal(decoder(custom_frame_mappings=mappings, num_ffmpeg_threads=0)[3], expected)
    small = decoder(transforms=[lambda frames: frames[..., ::2, ::2]])
    assert torch.equal(small[3], expected[..., ::2, ::2])
    assert not decoder().cpu_fallback


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: decoder()[20], IndexError, "must be less than 20"),
        (lambda: decoder()[-21], IndexError, "negative indices"),
        (lambda: decoder()["a"], TypeError, "int and slice"),
        (lambda: decoder().get_frame_played_at(0.8), IndexError, "Invalid pts"),
        (lambda: decoder().get_frames_played_at(["a"]), ValueError, "convert timestamps"),  # pyright: ignore
        (lambda: decoder().get_frames_played_in_range(0.5, 0.2), ValueError, "Invalid start seconds"),
        (lambda: decoder().get_frames_played_in_range(0, 9), ValueError, "Invalid stop seconds"),
        (lambda: decoder().get_frames_played_in_range(0, 0.5, fps=0), RuntimeError, "fps must be positive"),
        (lambda: decoder(dimension_order="CHW"), ValueError, "Invalid dimension order"),
        (lambda: decoder(seek_mode="fast"), ValueError, "Invalid seek mode"),
        (lambda: decoder(stream_index=4), ValueError, "not a valid stream"),
        (lambda: decoder(custom_frame_mappings="{}"), ValueError, "Invalid custom frame mappings"),
        (lambda: VideoDecoder(3), TypeError, "Unknown source type"),  # pyright: ignore[reportArgumentType]
        (lambda: VideoDecoder(b"nothing"), RuntimeError, "expected a video"),
        (lambda: AudioDecoder(H264.tobytes()), ValueError, "not a valid stream"),
        (lambda: AudioDecoder(all_tracks()["aac.mp4"].tobytes(), num_channels=5), ValueError, "num_channels"),
        (lambda: samplers.clips_at_random_indices(decoder(), num_clips=0), ValueError, "must be > 0"),
        (lambda: samplers.clips_at_random_timestamps(decoder(), sampling_range_end=-2), ValueError, "at least 0"),
        (lambda: samplers.clips_at_regular_indices(decoder(), sampling_range_start=30), ValueError, "number of frames"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_sound():
    file = all_tracks()["aac.mp4"]
    expected = decoded_track(file).T
    samples = AudioDecoder(file.tobytes()).get_all_samples()
    assert isinstance(samples, AudioSamples)
    assert (samples.sample_rate, samples.pts_seconds) == (44100, 0)
    assert samples.duration_seconds == pytest.approx(expected.shape[1] / 44100)
    np.testing.assert_allclose(samples.data, expected, atol=2e-6)
    part = AudioDecoder(file.tobytes()).get_samples_played_in_range(0.1, 0.2)
    np.testing.assert_allclose(part.data, expected[:, 4410:8820], atol=2e-6)
    assert (part.pts_seconds, part.duration_seconds) == pytest.approx((0.1, 0.1))
    mono = AudioDecoder(file.tobytes(), num_channels=1, sample_rate=16000).get_samples_played_in_range(0.1, 0.2)
    assert (mono.data.shape, mono.sample_rate) == ((1, 1600), 16000)
    late = AudioDecoder(file.tobytes())
    with pytest.raises(RuntimeError, match="No audio frames"):
        late.get_samples_played_in_range(5, 6)


def test_samplers():
    video = decoder()
    clips = samplers.clips_at_regular_indices(video, num_clips=3, num_frames_per_clip=4, num_indices_between_frames=2)
    assert clips.data.shape == (3, 4, 3, 48, 64)
    np.testing.assert_allclose(clips.pts_seconds, PTS[[[0, 2, 4, 6], [6, 8, 10, 12], [13, 15, 17, 19]]])
    late = {"num_clips": 3, "num_frames_per_clip": 4, "sampling_range_start": 15, "sampling_range_end": 20}
    repeated = samplers.clips_at_regular_indices(video, policy="repeat_last", **late)
    np.testing.assert_allclose(repeated.pts_seconds[1], PTS[[17, 18, 19, 19]])
    wrapped = samplers.clips_at_regular_indices(video, policy="wrap", **late)
    np.testing.assert_allclose(wrapped.pts_seconds[1], PTS[[17, 18, 19, 17]])
    with pytest.raises(ValueError, match="beyond the number of frames"):
        samplers.clips_at_regular_indices(video, policy="error", **late)
    torch.manual_seed(0)
    drawn = samplers.clips_at_random_indices(video, num_clips=4, num_frames_per_clip=2)
    torch.manual_seed(0)
    np.testing.assert_allclose(drawn.pts_seconds[:, 0], PTS[torch.randint(0, 19, (4,))])
    timed = samplers.clips_at_regular_timestamps(
        video, seconds_between_clip_starts=0.2, num_frames_per_clip=3, seconds_between_frames=0.05
    )
    np.testing.assert_allclose(timed.pts_seconds, PTS[[[0, 1, 2], [5, 6, 7], [10, 11, 12], [15, 16, 17]]])
    torch.manual_seed(0)
    drawn = samplers.clips_at_random_timestamps(video, num_clips=4, num_frames_per_clip=2)
    assert drawn.data.shape == (4, 2, 3, 48, 64)


def test_clips_begin_at_exact_times():
    """As float64: 0.44 as float32 is just before a frame begins. 0.6 is the end, which no clip begins at."""
    clips = samplers.clips_at_regular_timestamps(decoder(), seconds_between_clip_starts=0.44)
    np.testing.assert_allclose(clips.pts_seconds[:, 0], [0, 0.44])
    of_three = {"num_frames_per_clip": 3, "seconds_between_frames": 0.1}
    assert len(samplers.clips_at_regular_timestamps(decoder(), seconds_between_clip_starts=0.2, **of_three)) == 3


def test_images(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (8, 10, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    expected = torch.from_numpy(pixels).permute(2, 0, 1)
    assert torch.equal(decode_image(file.getvalue()), expected)
    assert torch.equal(decode_png(torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)), expected)
    assert decode_image(file.getvalue(), mode="GRAY").shape == (1, 8, 10)
    with_alpha = decode_image(file.getvalue(), mode="RGB_ALPHA")
    assert with_alpha.shape == (4, 8, 10)
    assert (with_alpha[3] == 255).all()
    with pytest.raises(RuntimeError, match="expected a file in the format JPEG, got PNG"):
        decode_jpeg(file.getvalue())
    with pytest.raises(ValueError, match="Invalid mode"):
        decode_image(file.getvalue(), mode="CMYK")  # pyright: ignore[reportArgumentType]
    path = tmp_path / "a.gif"
    Image.new("RGB", (6, 4), "red").save(path, save_all=True, append_images=[Image.new("RGB", (6, 4), "blue")])
    assert decode_gif(path).shape == (2, 3, 4, 6)
