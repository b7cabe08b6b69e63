"""Policies from what Albumentations and timm write: numbers are those of albumentations 2.0.8 and timm 1.0.31."""

import collections
import json

import numpy as np
import pytest

import avida
from avida.augment import Policy, record

RANDOM = np.random.default_rng(0)
IMAGE = RANDOM.integers(0, 256, (20, 30, 3), np.uint8)


def batch(count=4):
    return avida.as_batch([IMAGE] * count, layout="HWC")


def compose(*transforms, name="Compose", p=1.0, **others):
    return {"__class_fullname__": name, "p": p, "transforms": list(transforms), **others}


def transform(name, p=1.0, **arguments):
    return {"__class_fullname__": name, "p": p, **arguments}


def test_composition():
    flips = transform("HorizontalFlip", 0.5), transform("VerticalFlip", 0.2)
    config = compose(
        compose(*flips, name="OneOf", p=0.3),
        compose(*flips, name="SomeOf", p=1, n=1, replace=False),
        compose(flips[0], name="Sequential", p=0.5),
        compose(transform("NoOp"), flips[1], name="OneOrOther", p=0.25),
        compose(*flips, name="RandomOrder", n=2),
    )
    horizontal, vertical = {"horizontal": 1, "vertical": 0}, {"horizontal": 0, "vertical": 1}
    drawn = [
        ["flip", {**horizontal, "horizontal": {"chance": 0.5}}],
        ["flip", {**vertical, "vertical": {"chance": 0.2}}],
    ]
    policy = Policy.from_albumentations({"__version__": "2.0.8", "transform": config})
    assert json.loads(policy.to_json()) == [
        ["one_of", {"p": 0.3, "weights": [0.5, 0.2]}, [["flip", horizontal], ["flip", vertical]]],
        ["some_of", {"n": 1, "p": 1}, drawn],
        ["maybe", {"p": 0.5}, [drawn[0]]],
        ["one_of", {"weights": [0.25, 0.75]}, [["in_turn", {}, []], ["flip", vertical]]],
        ["shuffled", {"p": 1.0}, drawn],
    ]
    assert Policy.from_albumentations(json.dumps({"transform": config})) == policy
    assert policy(batch()).batch_size == 4


FIXED = {"interpolation": 1, "border_mode": 0, "fill": 0.0}
NEUTRAL = {"x": [0.0, 0.0], "y": [0.0, 0.0]}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (transform("Transpose"), IMAGE.transpose(1, 0, 2)),
        (transform("CenterCrop", height=11, width=9, pad_if_needed=False), IMAGE[4:15, 10:19]),
        (transform("Crop", x_min=3, y_min=2, x_max=13, y_max=9, pad_if_needed=False), IMAGE[2:9, 3:13]),
        (transform("InvertImg"), 255 - IMAGE),
        (transform("Posterize", num_bits=[3, 3]), IMAGE & 224),
        (transform("Solarize", threshold_range=[0.5, 0.5]), np.where(IMAGE >= 127.5, 255 - IMAGE, IMAGE)),
        (transform("RGBShift", **{f"{c}_shift_limit": [k, k] for c, k in zip("rgb", (20, 10, -7), strict=True)}),
         np.clip(IMAGE.astype(int) + np.array([20, 10, -7]), 0, 255)),
        (transform("RandomGamma", gamma_limit=[120, 120]), 255 * (IMAGE / 255) ** 1.2),
        (transform("RandomBrightnessContrast", contrast_limit=[0.2, 0.2], brightness_limit=[0.1, 0.1],
                   brightness_by_max=True), np.clip(IMAGE * 1.2 + 25.5, 0, 255)),
        (transform("ColorJitter", brightness=[1.2, 1.2], contrast=[1, 1], saturation=[1, 1], hue=[0, 0]),
         np.minimum(IMAGE * 1.2, 255)),
        (transform("Normalize", mean=[0.5, 0.4, 0.3], std=[0.2, 0.3, 0.4], max_pixel_value=255.0),
         (IMAGE / 255 - [0.5, 0.4, 0.3]) / [0.2, 0.3, 0.4]),
        (transform("ToFloat", max_value=None), IMAGE / 255),
        (transform("Rotate", limit=[90, 90], crop_border=False, **FIXED),
         np.pad(np.rot90(IMAGE)[5:25], ((0, 0), (5, 5), (0, 0)))),
        (transform("Affine", scale={"x": [1, 1], "y": [1, 1]}, rotate=[0, 0], shear=NEUTRAL, translate_percent=None,
                   translate_px={"x": [5, 5], "y": [2, 2]}, **FIXED),
         np.pad(IMAGE, ((2, 0), (5, 0), (0, 0)))[:20, :30]),
        (transform("ShiftScaleRotate", shift_limit_x=[0.1, 0.1], shift_limit_y=[0.1, 0.1], scale_limit=[0, 0],
                   rotate_limit=[0, 0], **FIXED), np.pad(IMAGE, ((2, 0), (3, 0), (0, 0)))[:20, :30]),
    ],
    ids=lambda value: value["__class_fullname__"] if isinstance(value, dict) else "",
)  # fmt: skip
def test_pixels(config, expected):
    """Of all other transforms too, given parameters: 1/255 at most, but for cubic filters (4), hues (5) and JPEG."""
    found = np.asarray(Policy.from_albumentations(config)(batch(1)).tensors[0]).astype(float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1


ALL_DRAWN = [
    transform("Blur", 0.5, blur_limit=[3, 7]),
    transform("CLAHE", 0.5, clip_limit=[4.0, 4.0], tile_grid_size=[2, 2]),
    transform("ChannelDropout", 0.5, channel_drop_range=[1, 2], fill=0.0),
    transform("ChannelShuffle", 0.5),
    transform("CoarseDropout", 0.5, fill=0.0, fill_mask=None, hole_height_range=[0.1, 0.2], hole_width_range=[0.1, 0.2],
              num_holes_range=[1, 2]),
    transform("D4"),
    transform("Equalize", 0.5, by_channels=True, mask=None, mode="cv"),
    transform("GaussNoise", 0.5, mean_range=[0.0, 0.0], noise_scale_factor=1.0, per_channel=True,
              std_range=[0.2, 0.44]),
    transform("GaussianBlur", 0.5, blur_limit=[3, 7], sigma_limit=[0.5, 3.0]),
    transform("ImageCompression", 0.5, compression_type="jpeg", quality_range=[90, 100]),
    transform("MedianBlur", 0.5, blur_limit=[3, 5]),
    transform("RandomRotate90"),
    transform("RandomResizedCrop", area_for_downscale=None, interpolation=1, ratio=[0.75, 1.3], scale=[0.5, 1.0],
              size=[24, 24]),
    transform("RandomCrop", height=20, width=20, pad_if_needed=False),
    transform("Rotate", 0.5, limit=[-90.0, 90.0], border_mode=4, interpolation=1, crop_border=False, fill=0.0),
    transform("SaltAndPepper", 0.5, amount=[0.01, 0.06], salt_vs_pepper=[0.4, 0.6]),
    transform("SmallestMaxSize", max_size=[16, 20], max_size_hw=None, interpolation=1, area_for_downscale=None),
    transform("LongestMaxSize", max_size=16, max_size_hw=None, interpolation=1, area_for_downscale=None),
    transform("ToGray", 0.5, method="weighted_average", num_output_channels=3),
    transform("AutoContrast", 0.5, method="pil", cutoff=0, ignore=None),
    transform("Resize", height=12, width=14, interpolation=0, area_for_downscale=None),
    transform("albumentations.pytorch.ToTensorV2"),
]  # fmt: skip


def test_all_transforms_run():
    policy = Policy.from_albumentations(compose(*ALL_DRAWN))
    assert policy(batch(16)).shape == [(3, 12, 14)] * 16


def test_all_that_has_no_counterpart_is_one_error():
    config = compose(
        transform("Perspective"),
        transform("HorizontalFlip"),
        compose(transform("ZoomBlur"), transform("ToGray", method="pca"), name="OneOf"),
        compose(name="SomeOf", n=3, replace=True),
        transform("Blur"),
        transform("CLAHE", clip_limit=[1.0, 4.0], tile_grid_size=[2, 2]),
    )
    with pytest.raises(ValueError, match=r"^Policy.from_albumentations: there is no counterpart of ") as caught:
        Policy.from_albumentations({"transform": config})
    assert str(caught.value).split("counterpart of ")[1].split("; ") == [
        "Compose[0]/Perspective: this transform",
        "Compose[2]/OneOf[0]/ZoomBlur: this transform",
        "Compose[2]/OneOf[1]/ToGray: method='pca'",
        "Compose[4]/Blur: blur_limit",
        "Compose[5]/CLAHE: a clip_limit that is drawn",
    ]
    for wrong in ("[]", "{}", '{"transform": 3}', '{"transform": {"__class_fullname__": 3}}', "nonsense"):
        with pytest.raises((TypeError, ValueError), match=r"^Policy.from_albumentations: "):
            Policy.from_albumentations(wrong)
    nested = transform("NoOp")
    for _ in range(50):
        nested = compose(nested)
    with pytest.raises(ValueError, match="transforms within transforms"):
        Policy.from_albumentations(nested)


TIMM_STRINGS = [
    "rand-m9-mstd0.5-inc1", "rand-m7-n3-p0.8", "rand-tweights-mstd1", "rand-t3aw-inc1", "rand-t3a", "augmix-m5-w4-d2",
    "original-mstd0.5", "originalr", "v0", "v0r-mstd0.5", "3a",
]  # fmt: skip


@pytest.mark.parametrize("text", TIMM_STRINGS)
def test_strings_of_timm(text):
    policy = Policy.from_timm(text)
    assert Policy.from_json(policy.to_json()) == policy
    assert policy(batch(16)).shape == [(20, 30, 3)] * 16


def test_distribution_of_timm():
    """How often, and mean and deviation of what is drawn, as timm's ``rand-m9-mstd0.5-inc1`` has in 4000 images."""
    theirs = {  # of each augmentation: magnitudes without signs
        "rotate": ("angle", 27.03, 1.49),
        "shear_x": ("factor", 0.2688, 0.0138),
        "translate_x": ("distance", 0.4027, 0.022),
        "solarize_levels": ("levels", 26.2, 12.6),
        "brightness": ("factor", 1.0, 0.81),
        "color": ("factor", 1.0, 0.81),
    }
    avida.random.set_seed(3)
    tiny = avida.as_batch([IMAGE[:4, :4]] * 3000, layout="HWC")
    with record() as records:
        Policy.from_timm("rand-m9-mstd0.5-inc1")(tiny)
    found = collections.defaultdict(list)
    for line in records[0]:
        for name, *arguments in json.loads(line):
            found[name.removeprefix("augment.")].append(arguments[0] if arguments else {})
    assert len(found) == 15
    for name, drawn in found.items():
        assert abs(len(drawn) / 3000 - 1 / 15) < 0.02, name
    for name, (argument, mean, deviation) in theirs.items():
        values = np.array([each[argument] for each in found[name]])
        strengths = np.abs(values)
        assert abs(strengths.mean() - mean) < 4 * deviation / np.sqrt(len(values)) + 0.02 * mean, name
        assert abs(strengths.std() - deviation) < 0.15 * deviation, name
    assert abs(np.mean([round(each["bits"]) for each in found["posterize"]]) - 0.98) < 0.05


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rnd-m9", "expected rand-..., augmix-..., .* got 'rnd-m9'"),
        ("rand-q9", "expected sections m, n, p, mstd, mmax, inc, each with a number; got 'q9'"),
        ("rand-m9-mmax30", "mmax30: expected magnitudes of at most 10"),
        ("augmix-b1", "approximate blending has no counterpart"),
        ("augmix-mstd0.5", "drawn evenly"),
        (3, "expected a string"),
    ],
)
def test_strings_that_timm_does_not_have(text, message):
    with pytest.raises((TypeError, ValueError), match=f"^Policy.from_timm: .*{message}"):
        Policy.from_timm(text)
