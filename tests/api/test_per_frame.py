"""per_frame: what it marks, which counts of frames fit together, and what errors say."""

import numpy as np
import pytest

import avida as ndd


def videos(*frames):
    rng = np.random.default_rng(1)
    return ndd.batch([rng.integers(0, 255, (n, 6, 8, 3), np.uint8) for n in frames], layout="FHWC")


def numbers(*lists):
    return ndd.per_frame(ndd.batch([np.float32(list) for list in lists]))


def test_marks_the_first_axis():
    assert numbers([1, 2], [3]).layout == "F"
    assert ndd.per_frame(np.zeros((2, 3, 4))).layout == "F**"
    assert ndd.per_frame(ndd.tensor(np.zeros((2, 3)), layout="FX")).layout == "FX"
    assert ndd.per_frame(ndd.tensor(np.zeros((2, 3)), layout="YX"), replace=True).layout == "FX"


def test_refuses_what_has_no_frames():
    with pytest.raises(RuntimeError, match="single number"):
        ndd.per_frame(ndd.tensor(1.0)).evaluate()
    with pytest.raises(RuntimeError, match='begins with F, got "YX"'):
        ndd.per_frame(ndd.tensor(np.zeros((2, 3)), layout="YX")).evaluate()


def test_shares_memory():
    values = np.arange(6.0)
    marked = ndd.per_frame(ndd.as_tensor(values))
    assert np.shares_memory(np.asarray(marked), values)


@pytest.mark.parametrize("mode", list(ndd.EvalMode))
def test_modes(mode):
    video = videos(2, 3)
    expected = [np.asarray(v).astype(np.float32) for v in video.tensors]
    with mode:
        out = ndd.brightness(video, brightness=numbers([1, 0], [0, 1, 0]))
        assert out.layout == "FHWC"
        np.testing.assert_array_equal(np.asarray(out.tensors[0]), expected[0] * np.float32([1, 0])[:, None, None, None])
        np.testing.assert_array_equal(
            np.asarray(out.tensors[1]), expected[1] * np.float32([0, 1, 0])[:, None, None, None]
        )


def test_frames_of_odd_size_are_joined():
    video = ndd.batch([np.full((n, 3, 5, 1), 10, np.uint8) for n in (2, 1)], layout="FHWC")  # 15 bytes each
    out = ndd.crop(video, crop_h=ndd.batch([2, 3]), crop_w=4, crop_pos_x=numbers([0, 1], [0]))
    assert [np.asarray(t).shape for t in out.tensors] == [(2, 2, 4, 1), (1, 3, 4, 1)]
    assert all((np.asarray(t) == 10).all() for t in out.tensors)


def test_one_tensor_of_frames():
    video = ndd.tensor(np.full((3, 4, 4, 3), 100, np.uint8), layout="FHWC")
    out = ndd.brightness(video, brightness=ndd.per_frame([0, 1, 2]))
    assert isinstance(out, ndd.Tensor)
    assert [int(frame[0, 0, 0]) for frame in np.asarray(out)] == [0, 100, 200]


def test_one_value_stands_for_all_frames():
    np.testing.assert_array_equal(
        np.asarray(ndd.brightness(videos(3), brightness=numbers([2])).tensors[0]),
        np.asarray(ndd.brightness(videos(3), brightness=2.0).tensors[0]),
    )


def test_per_sample_beside_per_frame():
    video = videos(2, 1)
    out = ndd.brightness_contrast(
        video, brightness=numbers([1, 2], [3]), brightness_shift=ndd.batch([np.float32(0), np.float32(0.5)])
    )
    alone = ndd.brightness_contrast(video.tensors[1], brightness=3.0, brightness_shift=0.5)
    np.testing.assert_array_equal(np.asarray(out.tensors[1]), np.asarray(alone))


def test_frames_turned_by_different_angles_share_a_canvas():
    out = ndd.rotate(videos(3), angle=numbers([0, 45, 90]))
    assert np.asarray(out.tensors[0]).shape == (3, 10, 10, 3)


def test_transforms_for_each_frame():
    matrices = ndd.transforms.rotation(angle=numbers([0, 90], [180]))
    assert matrices.layout == "F**"
    assert [np.asarray(t).shape for t in matrices.tensors] == [(2, 2, 3), (1, 2, 3)]
    moved = ndd.warp_affine(videos(2, 1), matrices)
    assert [np.asarray(t).shape for t in moved.tensors] == [(2, 6, 8, 3), (1, 6, 8, 3)]


def test_no_frames():
    out = ndd.brightness(videos(0, 2), brightness=numbers([], [1, 2]))
    assert [np.asarray(t).shape for t in out.tensors] == [(0, 6, 8, 3), (2, 6, 8, 3)]


def test_random_operators_draw_for_each_frame():
    video = ndd.tensor(np.zeros((2, 8, 8, 3), np.float32), layout="FHWC")
    first, second = np.asarray(ndd.noise.gaussian(video, stddev=ndd.per_frame([1, 1]), rng=ndd.random.RNG(seed=1)))
    assert not np.array_equal(first, second)


def test_counts_must_fit():
    with pytest.raises(ValueError, match=r"sample 1: expected 2 frames in \"brightness\", got 3"):
        ndd.brightness(videos(2, 2), brightness=numbers([1, 2], [1, 2, 3])).evaluate()
    with pytest.raises(ValueError, match="expected 1 frame in"):
        ndd.brightness(videos(1), brightness=numbers([1, 2])).evaluate()


def test_images_take_the_value_of_a_single_frame_only():
    image = ndd.tensor(np.ones((4, 4, 3), np.uint8), layout="HWC")
    assert ndd.brightness(image, brightness=ndd.per_frame([2])).layout == "HWC"
    with pytest.raises(ValueError, match="expected sequences"):
        ndd.brightness(image, brightness=ndd.per_frame([2, 3])).evaluate()


def test_errors_name_the_frame():
    with pytest.raises(RuntimeError, match="sample 1, frame 2"):
        ndd.rotate(videos(3, 3), angle=numbers([0, 0, 0], [0, 0, np.inf])).evaluate()
    with pytest.raises(ValueError, match="expected frames of one shape"):
        ndd.crop(videos(2), crop_h=numbers([2, 3]), crop_w=2).evaluate()


def test_chained_calls():
    video = videos(2, 2)
    marked = ndd.per_frame(ndd.random.uniform(range=[0.5, 1.0], shape=[2], batch_size=2))
    twice = ndd.flip(ndd.contrast(video, contrast=marked), horizontal=ndd.per_frame(ndd.batch([[0, 1], [1, 1]])))
    once = ndd.contrast(video, contrast=marked)
    np.testing.assert_array_equal(np.asarray(twice.tensors[1]), np.asarray(once.tensors[1])[:, :, ::-1])
