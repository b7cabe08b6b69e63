"""Policies from what Albumentations writes: the dictionary of its 2.0, for images of bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from avida.augment._arguments import between, chance, either

Config = Mapping[str, Any]
_MOST_NESTED = 24
_BORDERS = {0: "constant", 1: "clamp", 2: "reflect_1001", 3: "wrap", 4: "reflect_101"}  # OpenCV's numbers
_OF_WARPS = (0, 1)
_OF_ALL = ("__class_fullname__", "p", "transforms")


def steps_of(config: Any) -> list[Any]:
    """The steps of a policy; an error lists all that has no counterpart."""
    root = config.get("transform", config) if isinstance(config, Mapping) else config
    reader = _Reader()
    steps = reader.step(root, "", False, 0)
    if reader.missing:
        raise ValueError("there is no counterpart of " + "; ".join(reader.missing))
    return steps


class _Reader:
    def __init__(self) -> None:
        self.missing: list[str] = []

    def step(self, config: Any, place: str, forced: bool, nested: int) -> list[Any]:
        if not isinstance(config, Mapping) or not isinstance(config.get("__class_fullname__"), str):
            raise TypeError(f"expected the dictionary that albumentations.to_dict makes, got {type(config).__name__}")
        if nested > _MOST_NESTED:
            raise ValueError(f"expected transforms within transforms up to {_MOST_NESTED} times")
        name = config["__class_fullname__"].rpartition(".")[2]
        place = f"{place}/{name}"
        try:
            p = 1.0 if forced else _number(config, "p", 1.0)
            if name in _COMPOSED:
                children = [*config.get("transforms", [])]
                return self.composed(name, config, children, p, place, nested)
            if name not in _TRANSFORMS:
                raise LookupError("this transform")
            return _with_chance(_TRANSFORMS[name](config), p)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, ValueError) and "transforms within" in str(error):
                raise
            self.missing.append(f"{place.removeprefix('/')}: {error.args[0] if error.args else error}")
            return []

    def composed(self, name: str, config: Config, given: list[Any], p: float, place: str, nested: int) -> list[Any]:
        forced = name in ("OneOf", "OneOrOther")
        children = [self.step(each, f"{place}[{k}]", forced, nested + 1) for k, each in enumerate(given)]
        if name in ("Compose", "Sequential", "ReplayCompose"):
            return _with_chance([step for steps in children for step in steps], p)
        if not children:
            return []
        one_each = [_as_one(steps) for steps in children]
        if name == "OneOf":
            return [("one_of", {"p": p, "weights": [_number(each, "p", 1.0) for each in given]}, one_each)]
        if name == "OneOrOther":
            return [("one_of", {"weights": [p, 1 - p]}, one_each)]
        n = config.get("n", 1)
        if config.get("replace"):
            raise LookupError("replace=True")
        if name == "RandomOrder":
            if n != len(given):
                raise LookupError("n below the number of transforms, in random order")
            return [("shuffled", {"p": p}, one_each)]
        return [("some_of", {"n": n, "p": p}, one_each)]


_COMPOSED = ("Compose", "ReplayCompose", "OneOf", "OneOrOther", "RandomOrder", "Sequential", "SomeOf")


def _with_chance(steps: list[Any], p: float) -> list[Any]:
    """Steps that happen with a probability: flips draw it themselves."""
    if p >= 1 or not steps:
        return steps
    if len(steps) == 1 and steps[0][0] == "flip" and all(isinstance(on, int) for on in steps[0][1].values()):
        return [("flip", {axis: chance(p) if on else 0 for axis, on in steps[0][1].items()})]
    if steps == [("augment.grayscale", {})]:
        return [("augment.grayscale", {"on": chance(p)})]
    return [("maybe", {"p": p}, [_as_one(steps)])]


def _as_one(steps: list[Any]) -> Any:
    return steps[0] if len(steps) == 1 else ("in_turn", {}, steps)


def _number(config: Any, name: str, default: float) -> float:
    value = config.get(name, default) if isinstance(config, Mapping) else default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name}={value!r:.40}")
    return value


def _range(config: Config, name: str, scale: float = 1, add: float = 0) -> Any:
    """A number, or a random one between two."""
    low, high = config[name]
    return between(low * scale + add, high * scale + add) if low < high else low * scale + add


def _whole(config: Config, name: str, step: int = 1) -> Any:
    low, high = config[name]
    return either(*range(int(low), int(high) + 1, step)) if low < high else int(low)


def _expect(config: Config, **expected: Any) -> None:
    """Arguments that have no counterpart keep their defaults."""
    for name, value in expected.items():
        if name in config and config[name] != value:
            raise LookupError(f"{name}={config[name]!r:.60}")


def _filter(config: Config, known: tuple[int, ...] = (0, 1, 2)) -> dict[str, Any]:
    if config.get("area_for_downscale"):
        raise LookupError(f"area_for_downscale={config['area_for_downscale']!r:.40}")
    code = config.get("interpolation", 1)
    if code not in known:  # nearest, linear, cubic: OpenCV's numbers and ours
        raise LookupError(f"interpolation={code!r:.40}")
    return {"interp_type": code}


def _fill(config: Config) -> Any:
    fill = config.get("fill", 0)
    if isinstance(fill, str):
        raise LookupError(f"fill={fill!r:.40}")
    return fill


def _affine(config: Config, **arguments: Any) -> list[Any]:
    border = config.get("border_mode", 0)
    if border not in _BORDERS:
        raise LookupError(f"border_mode={border!r:.40}")
    around = {"fill_value": _fill(config)} if border == 0 else {"border": _BORDERS[border]}
    given = {name: value for name, value in arguments.items() if value is not None}
    return [("augment.affine", {**given, **around, **_filter(config, _OF_WARPS)})]


def _rotate(config: Config) -> list[Any]:
    _expect(config, crop_border=False)
    angle = _range(config, "limit")
    if config.get("border_mode", 0) != 0:
        return _affine(config, angle=angle)
    return [("rotate", {"angle": angle, "keep_size": True, "fill_value": _fill(config), **_filter(config, _OF_WARPS)})]


def _pair(config: Config, name: str) -> Any:
    (x0, x1), (y0, y1) = config[name]["x"], config[name]["y"]
    if x0 == x1 == y0 == y1 == 0:
        return None
    return [x0, y0] if x0 == x1 and y0 == y1 else between([x0, y0], [x1, y1])


def _any_affine(config: Config) -> list[Any]:
    _expect(config, fit_output=False, balanced_scale=False)
    scale, shear = config["scale"], config["shear"]
    if _pair(config, "shear") is not None:
        raise LookupError(f"shear={shear!r:.60}")
    if scale["x"] != scale["y"] or (scale["x"][0] < scale["x"][1] and not config.get("keep_ratio")):
        raise LookupError("scales that differ between x and y")
    percent = _pair(config, "translate_percent") if config.get("translate_percent") else None
    pixels = _pair(config, "translate_px") if config.get("translate_px") else None
    places = {"scale": _range(scale, "x"), "rel_translate": percent, "translate": pixels}
    return _affine(config, angle=_range(config, "rotate"), **places)


def _shift_scale_rotate(config: Config) -> list[Any]:
    (x0, x1), (y0, y1) = config["shift_limit_x"], config["shift_limit_y"]
    scale = _range(config, "scale_limit", add=1)
    return _affine(config, angle=_range(config, "rotate_limit"), scale=scale, rel_translate=between([x0, y0], [x1, y1]))


def _crop(config: Config, **places: Any) -> list[Any]:
    _expect(config, pad_if_needed=False)
    return [("crop", {"crop": [config["height"], config["width"]], "rounding": "truncate", **places})]


def _window(config: Config) -> list[Any]:
    _expect(config, pad_if_needed=False)
    start, end = [config["y_min"], config["x_min"]], [config["y_max"], config["x_max"]]
    return [("slice", {"start": start, "end": end, "axis_names": "HW"})]


def _longest(config: Config, argument: str) -> list[Any]:
    _expect(config, max_size_hw=None)
    size = config["max_size"]
    return [("resize", {argument: either(*size) if isinstance(size, list) else size, **_resizing(config)})]


def _resizing(config: Config) -> dict[str, Any]:
    return {**_filter(config), "antialias": False}


def _resized_crop(config: Config) -> list[Any]:
    window = {"random_area": config["scale"], "random_aspect_ratio": config["ratio"]}
    return [("random_resized_crop", {"size": config["size"], **window, **_resizing(config)})]


def _brightness_contrast(config: Config) -> list[Any]:
    _expect(config, brightness_by_max=True, ensure_safe_range=False)
    contrast, shift = _range(config, "contrast_limit", add=1), _range(config, "brightness_limit")
    return [("brightness_contrast", {"contrast": contrast, "contrast_center": 0, "brightness_shift": shift})]


def _rgb_shift(config: Config) -> list[Any]:
    ranges = [config[f"{channel}_shift_limit"] for channel in "rgb"]
    low, high = ([each[k] / 255 for each in ranges] for k in (0, 1))
    return [("augment.rgb_shift", {"shift": between(low, high)})]


def _grayscale(config: Config) -> list[Any]:
    _expect(config, method="weighted_average", num_output_channels=3)
    return [("augment.grayscale", {})]


def _clahe(config: Config) -> list[Any]:
    if config["clip_limit"][0] < config["clip_limit"][1]:
        raise LookupError("a clip_limit that is drawn")
    tiles = dict(zip(("tiles_y", "tiles_x"), config["tile_grid_size"], strict=True))
    return [("clahe", {"clip_limit": _range(config, "clip_limit"), **tiles})]


def _equalize(config: Config) -> list[Any]:
    _expect(config, mode="cv", by_channels=True, mask=None)
    return [("augment.equalize", {})]


def _auto_contrast(config: Config) -> list[Any]:
    _expect(config, method="pil", cutoff=0, ignore=None)
    return [("augment.autocontrast", {})]


def _gaussian_blur(config: Config) -> list[Any]:
    low, high = config["blur_limit"]
    window = {} if low == high == 0 else {"window_size": _whole({"b": [low | 1, high]}, "b", 2)}
    return [("gaussian_blur", {"sigma": _range(config, "sigma_limit"), **window})]


def _gauss_noise(config: Config) -> list[Any]:
    _expect(config, per_channel=True, noise_scale_factor=1.0)
    noise = {"mean": _range(config, "mean_range", 255), "stddev": _range(config, "std_range", 255)}
    return [("noise.gaussian", noise)]


def _salt_and_pepper(config: Config) -> list[Any]:
    return [
        (
            "noise.salt_and_pepper",
            {"prob": _range(config, "amount"), "salt_vs_pepper": _range(config, "salt_vs_pepper")},
        )
    ]


def _compression(config: Config) -> list[Any]:
    _expect(config, compression_type="jpeg")
    return [("jpeg_compression_distortion", {"quality": _whole(config, "quality_range")})]


def _holes(config: Config) -> list[Any]:
    _expect(config, fill_mask=None)
    fill = {"noise": True} if config.get("fill") == "random" else {"fill_value": _fill(config)}
    sizes = {"height": config["hole_height_range"], "width": config["hole_width_range"]}
    if any(limit > 1 for limits in sizes.values() for limit in limits):
        raise LookupError("holes of sizes in pixels")
    return [("augment.coarse_dropout", {"holes": config["num_holes_range"], **sizes, **fill})]


def _normalize(config: Config) -> list[Any]:
    _expect(config, normalization="standard")
    white = _number(config, "max_pixel_value", 255.0)
    mean, std = ([white * each for each in config[name]] for name in ("mean", "std"))
    return [("crop_mirror_normalize", {"mean": mean, "std": std, "output_layout": "HWC", "dtype": "float32"})]


def _to_float(config: Config) -> list[Any]:
    white = config.get("max_value") or 255
    return [("crop_mirror_normalize", {"mean": 0, "std": white, "output_layout": "HWC", "dtype": "float32"})]


def _jitter(config: Config) -> list[Any]:
    return [("augment.color_jitter", {name: config[name] for name in ("brightness", "contrast", "saturation", "hue")})]


_QUARTERS = {"angle": either(0, 90, 180, 270)}
_TRANSFORMS: dict[str, Callable[[Config], list[Any]]] = {
    "Affine": _any_affine,
    "AutoContrast": _auto_contrast,
    "Blur": lambda c: [("augment.box_blur", {"size": _whole(c, "blur_limit", 2)})],
    "CLAHE": _clahe,
    "CenterCrop": _crop,
    "ChannelDropout": lambda c: [
        ("augment.channel_dropout", {"channels": _whole(c, "channel_drop_range"), "fill_value": _fill(c)})
    ],
    "ChannelShuffle": lambda c: [("augment.channel_shuffle", {})],
    "CoarseDropout": _holes,
    "ColorJitter": _jitter,
    "Crop": _window,
    "D4": lambda c: [("rotate", _QUARTERS), ("flip", {"horizontal": chance(0.5)})],
    "Equalize": _equalize,
    "GaussNoise": _gauss_noise,
    "GaussianBlur": _gaussian_blur,
    "HorizontalFlip": lambda c: [("flip", {"horizontal": 1, "vertical": 0})],
    "ImageCompression": _compression,
    "InvertImg": lambda c: [("augment.invert", {})],
    "LongestMaxSize": lambda c: _longest(c, "resize_longer"),
    "MedianBlur": lambda c: [("experimental.median_blur", {"window_size": _whole(c, "blur_limit", 2)})],
    "NoOp": lambda c: [],
    "Normalize": _normalize,
    "Posterize": lambda c: [("augment.posterize", {"bits": _whole(c, "num_bits")})],
    "RGBShift": _rgb_shift,
    "RandomBrightnessContrast": _brightness_contrast,
    "RandomCrop": lambda c: _crop(c, crop_pos_x=between(0, 1), crop_pos_y=between(0, 1)),
    "RandomGamma": lambda c: [("augment.gamma", {"gamma": _range(c, "gamma_limit", 0.01)})],
    "RandomResizedCrop": _resized_crop,
    "RandomRotate90": lambda c: [("rotate", _QUARTERS)],
    "Resize": lambda c: [("resize", {"size": [c["height"], c["width"]], **_resizing(c)})],
    "Rotate": _rotate,
    "SaltAndPepper": _salt_and_pepper,
    "ShiftScaleRotate": _shift_scale_rotate,
    "SmallestMaxSize": lambda c: _longest(c, "resize_shorter"),
    "Solarize": lambda c: [("augment.solarize_levels", {"levels": _range(c, "threshold_range", 255)})],
    "ToFloat": _to_float,
    "ToGray": _grayscale,
    "ToTensorV2": lambda c: [("transpose", {"perm": [2, 0, 1]})],
    "Transpose": lambda c: [("rotate", {"angle": 90}), ("flip", {"horizontal": 0, "vertical": 1})],
    "VerticalFlip": lambda c: [("flip", {"horizontal": 0, "vertical": 1})],
}
"""What transforms become. Arguments that have no counterpart are refused by name."""
