"""augment.presets beside the originals: numbers are those of torchvision 0.29, timm 1.0.31 and transformers 5.23."""

import io
import wave

import numpy as np
import pytest
import torch
from PIL import Image

import avida
from avida.augment import Policy, presets
from avida.augment.presets import _detection as detection

RANDOM = np.random.default_rng(0)
MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
BOXES = np.float32([[10, 10, 30, 30], [40, 20, 70, 55], [5, 40, 15, 50]])


def photo(width, height):
    small = RANDOM.integers(0, 256, (height // 20, width // 20, 3), np.uint8)
    return np.asarray(Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC))


PHOTOS = [photo(160, 120), photo(120, 150), photo(141, 100)]


def photos():
    return avida.as_batch(PHOTOS, layout="HWC")


def files():
    def encoded(image):
        file = io.BytesIO()
        Image.fromarray(image).save(file, "PNG")
        return np.frombuffer(file.getvalue(), np.uint8)

    return avida.as_batch([encoded(image) for image in PHOTOS])


def scenes(count=1, image=None):
    image = np.zeros((60, 80, 3), np.uint8) if image is None else image
    images = avida.as_batch([image] * count, layout="HWC")
    return avida.Scene(images, boxes=[BOXES] * count, labels=[[1, 2, 3]] * count)


def values(made):
    """All arrays of what a preset returns."""
    made = made if isinstance(made, list | tuple) else [made]
    return [np.asarray(sample) for view in made for sample in (view.image if isinstance(view, avida.Scene) else view)]


def rng(seed=4):
    return avida.random.RNG(seed=seed)


CLASSIFICATION = {
    "imagenet_train": {"size": 32, "auto_augment": avida.trivial_augment, "erase": 0.5},
    "timm_train": {"size": 32, "erase": 0.5},
    "simclr": {"size": 32},
    "dino": {"size": 32, "local_size": 16, "local_crops": 2},
}


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_the_same_bits_from_files_and_images(name):
    preset, arguments = getattr(presets, name), CLASSIFICATION[name]
    expected = values(preset(photos(), **arguments, rng=rng()))
    assert all(each.dtype == np.float32 and each.shape[0] == 3 for each in expected)
    for mode, threads in ((avida.EvalMode.eager, 2), (avida.EvalMode.deferred, 16)):
        with mode, avida.EvalContext(num_threads=threads):
            for source in (photos(), files()):
                found = values(preset(source, **arguments, rng=rng()))
                assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(values(preset(photos(), **arguments)), expected, strict=True))


@pytest.mark.parametrize("name", [*CLASSIFICATION, "ssd", "detr", "yolo"])
def test_any_batch_size_when_keyed(name):
    def results(batch_size):
        found = {}
        for (batch,) in avida.ExternalSource(PHOTOS, layout="HWC").next_epoch(batch_size=batch_size):
            count = batch.batch_size
            if name in CLASSIFICATION:
                made = getattr(presets, name)(batch, **CLASSIFICATION[name], rng=rng(), keyed_by=batch)
            else:
                scene = avida.Scene(batch, boxes=[BOXES] * count, labels=[[1, 2, 3]] * count)
                options = {"mosaic": False} if name == "yolo" else {}
                made = getattr(presets, name)(scene, **options, rng=rng(), keyed_by=batch)
            for k, view in enumerate(made if isinstance(made, list | tuple) else [made]):
                image = view.image if isinstance(view, avida.Scene) else view
                found.setdefault(k, []).extend(np.asarray(sample) for sample in image)
        return [sample for view in found.values() for sample in view]

    assert all(np.array_equal(a, b) for a, b in zip(results(3), results(2), strict=True))


@pytest.mark.parametrize(("preset", "mode", "size"), [
    (presets.imagenet_eval, "bilinear", 80), (presets.timm_eval, "bicubic", 73),
])  # fmt: skip
def test_evaluation(preset, mode, size):
    """Resized as torchvision does tensors, and the middle of it."""
    arguments = {"resize": 80} if preset is presets.imagenet_eval else {}
    for image, found in zip(PHOTOS, preset(photos(), size=64, **arguments), strict=True):
        height, width = image.shape[:2]
        extents = [int(size * each / min(height, width)) for each in (height, width)]
        tensor = torch.from_numpy(image.copy()).permute(2, 0, 1)[None]
        resized = torch.nn.functional.interpolate(tensor, extents, mode=mode, antialias=True)[0].numpy()
        top, left = (round((each - 64) / 2) for each in extents)
        expected = (resized[:, top : top + 64, left : left + 64] / 255 - MEAN[:, None, None]) / STD[:, None, None]
        difference = np.abs(np.asarray(found) - expected) * 0.225 * 255
        assert difference.mean() < 0.5
        assert difference.max() < 3


def test_training_without_chance_is_evaluation():
    """Of all that is random, the window and the mirror remain."""
    plain = avida.as_batch([np.full((40, 50, 3), 200, np.uint8)] * 8, layout="HWC")
    for found in values(presets.imagenet_train(plain, size=16)):
        expected = np.broadcast_to(((200 / 255 - MEAN) / STD)[:, None, None], (3, 16, 16))
        np.testing.assert_allclose(found, expected, atol=1e-5)
    same = Policy([])
    made = values(presets.timm_train(plain, size=16, auto_augment=same, erase=0.0))
    assert all(np.ptp(each, axis=(1, 2)).max() < 1e-6 for each in made)


def test_erasing():
    """timm: of 3000 images 0.251, and of these 0.1767 of the pixels, with a deviation of 0.090."""
    plain = avida.as_batch([np.full((32, 32, 3), 200, np.uint8)] * 600, layout="HWC")
    made = np.stack(
        values(presets.timm_train(plain, size=32, auto_augment=None, color_jitter=0, erase=0.25, rng=rng()))
    )
    noise = np.abs(made - ((200 / 255 - MEAN) / STD)[:, None, None]).max(axis=1) > 1e-4
    shares = noise.mean(axis=(1, 2))
    assert abs((shares > 0).mean() - 0.25) < 0.06
    assert abs(shares[shares > 0].mean() - 0.1767) < 0.025
    assert abs(shares[shares > 0].std() - 0.090) < 0.02
    inside = made.transpose(0, 2, 3, 1)[noise]
    assert abs(inside.mean()) < 0.03
    assert abs(inside.std() - 1) < 0.03


def test_views_of_self_supervision():
    """A fifth of views is gray; the second large view of DINO is solarized in a fifth of cases, and rarely blurred."""
    noisy = avida.as_batch([RANDOM.integers(0, 256, (40, 40, 3), np.uint8)] * 300, layout="HWC")
    one, other = presets.simclr(noisy, size=24, rng=rng())
    for view in (one, other):
        gray = [np.ptp(each * STD[:, None, None] + MEAN[:, None, None], axis=0).max() < 0.01 for each in values(view)]
        assert abs(np.mean(gray) - 0.2) < 0.08
    assert not np.array_equal(values(one)[0], values(other)[0])
    first, second, *local = presets.dino(noisy, size=24, local_size=12, rng=rng())
    assert len(local) == 8
    assert {each.shape for each in values(local)} == {(3, 12, 12)}

    def detail(view):
        return np.mean([np.abs(np.diff(each, axis=2)).mean() for each in values(view)])

    assert detail(first) < 0.5 * detail(second)  # the first is always blurred


def test_ssd_crops_as_torchvision():
    """RandomIoUCrop: mean and deviation of areas and ratios, and how many objects remain, in 1500 images."""
    made = detection._cropped_around(scenes(1500), {"rng": rng()})
    sizes = np.array(made.image.shape)[:, :2]
    areas, ratios = sizes.prod(axis=1) / (60 * 80), sizes[:, 1] / sizes[:, 0]
    kept = np.bincount([boxes.shape[0] for boxes in made.boxes], minlength=4) / 1500
    np.testing.assert_allclose([areas.mean(), areas.std(), (areas == 1).mean()], [0.515, 0.287, 0.197], atol=0.03)
    np.testing.assert_allclose([ratios.mean(), ratios.std()], [1.177, 0.356], atol=0.04)
    np.testing.assert_allclose(kept, [0, 0.527, 0.162, 0.311], atol=0.04)


def test_objects_beyond_the_border():
    beyond = avida.Scene(scenes(6).image, boxes=[[[-9, 5, 40, 30], [70, 50, 99, 80]], [[90, 90, 95, 95]]] * 3)
    for preset in (presets.ssd, presets.detr, presets.yolo):
        assert preset(beyond, rng=rng()).evaluate().batch_size == 6


def test_images_that_are_no_bytes_are_refused():
    """Their colours would be taken for those of bytes, and be nearly black."""
    for dtype, layout in ((np.float32, "HWC"), (np.uint16, "HWC"), (np.uint8, "CHW")):
        others = avida.as_batch([np.zeros((60, 80, 3), dtype)] * 2, layout=layout)
        with pytest.raises(TypeError, match=r"presets: expected image files, or images of bytes \(uint8, HWC\), got"):
            presets.imagenet_eval(others)
        with pytest.raises(TypeError, match="presets: expected image files"):
            presets.yolo(avida.Scene(others, boxes=[[], []]))


def test_ssd():
    image = RANDOM.integers(0, 256, (16, 16, 3), np.uint8)
    colors = np.stack(values(detection._distorted(scenes(1500, image), {"rng": rng()}))).astype(float)
    torchvision = colors.std(axis=0).mean() / 49.57  # RandomPhotometricDistort of another such image: 49.57
    assert 0.9 < torchvision < 1.1
    made = presets.ssd(scenes(64), size=30, rng=rng())
    assert made.image.shape == [(3, 30, 30)] * 64
    for boxes, labels in zip(made.boxes, made.labels, strict=True):
        boxes = np.asarray(boxes)
        assert len(boxes) == labels.shape[0]
        assert (boxes[:, 2:] > boxes[:, :2]).all()
        assert boxes.min(initial=0) >= 0
        assert boxes.max(initial=0) <= 30
    white = scenes(8, np.full((60, 80, 3), 255, np.uint8))
    assert max(each.max() for each in values(presets.ssd(white, size=8))) < 255 * (1 - 0.40784) + 1e-3


def test_detr():
    made = presets.detr(scenes(24), rng=rng())
    sides = [(min(shape[1:]), max(shape[1:])) for shape in made.image.shape]
    assert max(longest for _, longest in sides) <= 1333
    whole = [shortest for shortest, longest in sides if abs(longest / shortest - 80 / 60) < 0.02]
    assert len(set(whole)) > 5
    assert set(whole) <= set(range(480, 801, 32))
    assert made.boxes.batch_size == 24
    fixed = presets.detr(scenes(1), train=False)
    assert fixed.image.shape == [(3, 800, 1066)]
    scales = np.float32([1066 / 80, 800 / 60] * 2)
    np.testing.assert_allclose(fixed.boxes.tensors[0].numpy(), BOXES * scales, rtol=1e-4)


def test_yolo():
    """A white rectangle stays where its box says; what is around the images is gray."""
    image = np.zeros((60, 80, 3), np.uint8)
    for left, top, right, bottom in BOXES.astype(int):
        image[top:bottom, left:right] = 255
    made = presets.yolo(scenes(16, image), size=128, rng=rng())
    assert made.image.shape == [(3, 128, 128)] * 16
    shown = 0
    for pixels, boxes in zip(made.image, made.boxes, strict=True):
        pixels, boxes = np.asarray(pixels), np.asarray(boxes)
        assert 0 <= pixels.min() <= pixels.max() <= 1
        for left, top, right, bottom in boxes[((boxes[:, 2:] - boxes[:, :2]) > 6).all(axis=1)]:
            inside = pixels[:, int(top) + 2 : int(bottom) - 2, int(left) + 2 : int(right) - 2]
            assert inside.min() > 0.5
            shown += 1
    assert shown > 30
    with pytest.raises(TypeError, match="yolo: expected a Scene of a batch of images, with boxes; got Batch"):
        presets.yolo(photos())


TIMES = np.arange(48000) / 16000
SIGNAL = 0.3 * np.sin(2 * np.pi * 440 * TIMES * (1 + TIMES / 10)) + 0.1 * np.sin(6000 * np.pi * TIMES)


@pytest.mark.parametrize(
    ("mels", "mean", "std", "some"),
    [
        (80, -0.6311093, 0.18326816, [1.22685, 0.36622, -0.6582, -0.23776, -0.6582, -0.6582]),
        (128, -0.5853068, 0.16929552, [0.88129, -0.38113, 0.24098, -0.2738, -0.60933, -0.60933]),
    ],
)
def test_whisper(mels, mean, std, some):
    """transformers.WhisperFeatureExtractor of this signal. Elsewhere the largest difference was 3e-5."""
    (found,) = values(presets.whisper(avida.as_batch([SIGNAL.astype(np.float32)]), mels=mels))
    assert found.shape == (mels, 3000)
    places = [(10, 0), (10, 100), (30, 150), (60, 299), (70, 50), (5, 2000)]
    np.testing.assert_allclose([found[place] for place in places], some, atol=1e-4)
    np.testing.assert_allclose([found.mean(), found.std()], [mean, std], atol=1e-5)


def test_wav2vec():
    signals = [SIGNAL[:n].astype(np.float32) + 0.1 for n in (400, 16000)]
    for signal, found in zip(signals, presets.wav2vec(avida.as_batch(signals)), strict=True):
        np.testing.assert_allclose(found, (signal - signal.mean()) / np.sqrt(signal.var() + 1e-7), atol=1e-5)


def test_sound_files():
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16000)
        sound.writeframes((SIGNAL * 32767).round().astype("<i2").tobytes())
    files = avida.as_batch([np.frombuffer(file.getvalue(), np.uint8)])
    decoded = avida.as_batch([((SIGNAL * 32767).round() / 32768).astype(np.float32)])
    for preset in (presets.whisper, presets.wav2vec):
        np.testing.assert_allclose(values(preset(files))[0], values(preset(decoded))[0], atol=2e-3)
