"""Functions of `avida.torchvision.transforms.v2.functional` beside torchvision's, on inputs of all kinds."""

from __future__ import annotations

import warnings
from typing import Any

import PIL.Image
import pytest
import torch

from avida.torchvision.transforms.v2 import functional as ours
from tests.torchvision.compare import assert_alike, outcome
from tests.torchvision.oracle import torchvision
from tests.torchvision.samples import HEIGHT, SIZE, WIDTH, annotated, images

theirs: Any = torchvision.transforms.v2.functional

DISPLACEMENT = (torch.rand(1, HEIGHT, WIDTH, 2, generator=torch.Generator().manual_seed(0)) - 0.5) * 0.1
CORNERS = [[0, 0], [WIDTH - 1, 0], [WIDTH - 1, HEIGHT - 1], [0, HEIGHT - 1]]
MOVED = [[5, 3], [WIDTH - 8, 6], [WIDTH - 3, HEIGHT - 9], [7, HEIGHT - 2]]
AFFINE: dict[str, Any] = {"angle": 20.0, "translate": [3, -2], "scale": 0.9, "shear": [5.0, 3.0]}
PART: dict[str, Any] = {"top": 3, "left": 5, "height": 20, "width": 30}

EXACT: list[tuple[str, dict[str, Any]]] = [
    ("horizontal_flip", {}),
    ("vertical_flip", {}),
    ("get_size", {}),
    ("get_dimensions", {}),
    ("get_num_channels", {}),
    ("resize", {"size": [20, 30]}),
    ("resize", {"size": [25]}),
    ("resize", {"size": [25], "max_size": 30}),
    ("resize", {"size": None, "max_size": 90}),
    ("resize", {"size": [60, 90], "interpolation": "bicubic"}),
    ("resize", {"size": [20, 90], "interpolation": "nearest"}),
    ("resize", {"size": [20, 90], "interpolation": "nearest-exact"}),
    ("resize", {"size": [20, 90], "interpolation": 2, "antialias": False}),
    ("crop", PART),
    ("crop", {"top": -3, "left": -5, "height": 20, "width": 90}),
    ("crop", {"top": 40, "left": 50, "height": 20, "width": 30}),
    ("center_crop", {"output_size": [20, 30]}),
    ("center_crop", {"output_size": [21, 90]}),
    ("center_crop", {"output_size": 33}),
    ("resized_crop", {**PART, "size": [31, 17]}),
    ("resized_crop", {**PART, "size": [31]}),
    ("resized_crop", {**PART, "top": -3, "size": [31, 40], "interpolation": "bicubic"}),
    ("five_crop", {"size": [20, 30]}),
    ("ten_crop", {"size": [20, 30], "vertical_flip": True}),
    ("pad", {"padding": [3]}),
    ("pad", {"padding": [3, 4], "fill": 7}),
    ("pad", {"padding": [1, 2, 3, 4], "fill": [10.0, 20.0, 30.0]}),
    ("pad", {"padding": [1, 2, 3, 4], "padding_mode": "reflect"}),
    ("pad", {"padding": [1, 2, 3, 4], "padding_mode": "edge"}),
    ("pad", {"padding": [1, 2, 3, 4], "padding_mode": "symmetric"}),
    ("affine", AFFINE),
    ("rotate", {"angle": 90}),
    ("rotate", {"angle": 90, "expand": True}),
    ("elastic", {"displacement": DISPLACEMENT}),
    ("elastic", {"displacement": DISPLACEMENT, "interpolation": "nearest", "fill": [3.0]}),
    ("erase", {"i": 3, "j": 4, "h": 10, "w": 11, "v": torch.tensor([[[7]]])}),
    ("rgb_to_grayscale", {}),
    ("rgb_to_grayscale", {"num_output_channels": 3}),
    ("grayscale_to_rgb", {}),
    ("adjust_brightness", {"brightness_factor": 1.3}),
    ("adjust_contrast", {"contrast_factor": 1.3}),
    ("adjust_gamma", {"gamma": 0.7, "gain": 1.2}),
    ("adjust_sharpness", {"sharpness_factor": 2.0}),
    ("posterize", {"bits": 3}),
    ("solarize", {"threshold": 0.5}),
    ("autocontrast", {}),
    ("equalize", {}),
    ("invert", {}),
    ("permute_channels", {"permutation": [2, 0, 1]}),
    ("gaussian_blur", {"kernel_size": [5, 3], "sigma": [1.0, 2.0]}),
    ("gaussian_blur", {"kernel_size": [5, 3]}),
    ("gaussian_noise", {}),
    ("to_dtype", {"dtype": torch.float32, "scale": True}),
    ("to_dtype", {"dtype": torch.int16, "scale": True}),
    ("to_dtype", {"dtype": torch.float64}),
    ("uniform_temporal_subsample", {"num_samples": 2}),
    ("normalize", {"mean": [0.5, 0.5, 0.5], "std": [0.2, 0.3, 0.4]}),
]
# Pixels between an image and what surrounds it are blended another way; nearest neighbours are picked another way where
# two are equally near; Pillow's hue has 256 steps.
NEARLY: list[tuple[str, dict[str, Any]]] = [
    ("affine", {**AFFINE, "interpolation": "bilinear", "fill": [100.0], "center": [3.0, 9.0]}),
    ("rotate", {"angle": 30}),
    ("rotate", {"angle": -37.5, "interpolation": "bilinear", "fill": 30, "center": [3.0, 4.0]}),
    ("perspective", {"startpoints": CORNERS, "endpoints": MOVED}),
    ("perspective", {"startpoints": CORNERS, "endpoints": MOVED, "interpolation": "nearest", "fill": 9}),
    ("adjust_saturation", {"saturation_factor": 0.3}),
    ("adjust_hue", {"hue_factor": 0.2}),
]


@pytest.fixture(autouse=True)
def _no_warnings() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _pair(name: str, arguments: dict[str, Any], inpt: Any) -> tuple[Any, Any]:
    made = []
    for functions in (ours, theirs):
        torch.manual_seed(1)
        made.append(outcome(getattr(functions, name), inpt, **arguments))
    return made[0], made[1]


@pytest.mark.parametrize(("name", "arguments"), EXACT, ids=[name for name, _ in EXACT])
def test_same(name: str, arguments: dict[str, Any]) -> None:
    for inpt in {**images(), **annotated()}.values():
        assert_alike(*_pair(name, arguments, inpt))


@pytest.mark.parametrize(("name", "arguments"), NEARLY, ids=[name for name, _ in NEARLY])
def test_nearly_the_same(name: str, arguments: dict[str, Any]) -> None:
    for inpt in images().values():
        assert_alike(*_pair(name, arguments, inpt), mean=2, most=255)
    for kind, inpt in annotated().items():
        found, expected = _pair(name, arguments, inpt)
        places = 1 if "whole" in kind else 1e-2  # fractions are cut off
        assert_alike(found, expected, mean=0.5 if kind.startswith("mask") else 0, most=255, places=places)


@pytest.mark.parametrize("expand", [False, True])
def test_expanded_boxes_belong_to_the_expanded_image(expand: bool) -> None:
    image, boxes = images()["bytes"], annotated()["XYXY"]
    turned = ours.rotate(boxes, 37.5, expand=expand)
    assert tuple(ours.rotate(image, 37.5, expand=expand).shape[-2:]) == tuple(turned.canvas_size)
    torch.testing.assert_close(
        turned.as_subclass(torch.Tensor), theirs.rotate(boxes, 37.5, expand=expand).as_subclass(torch.Tensor)
    )


def test_expanded_images() -> None:
    for inpt in images().values():
        assert_alike(
            *_pair("rotate", {"angle": 37.5, "expand": True, "interpolation": "bilinear"}, inpt), mean=1, most=80
        )


def test_part_outside_of_the_image_is_black() -> None:
    part = ours.crop(images()["bytes"], top=-30, left=-60, height=20, width=30)  # torchvision's has another shape
    assert part.shape == (3, 20, 30)
    assert not part.any()


def test_jpeg() -> None:
    image = images()["bytes"]
    made = ours.jpeg(image, 80)
    assert (made.shape, made.dtype) == (image.shape, image.dtype)
    from_pillow = ours.pil_to_tensor(ours.jpeg(images()["PIL"], 80))
    assert (made.float() - from_pillow.float()).abs().mean() < 2
    assert ours.jpeg(images()["Video"], 80).shape == (2, 3, *SIZE)


def test_turned_boxes_are_torchvisions() -> None:
    boxes = torch.tensor([[10.0, 10, 15, 8, 30]])
    for format in ("XYWHR", "CXCYWHR", "XYXYXYXY"):
        numbers = theirs.convert_bounding_box_format(boxes, "CXCYWHR", format)
        assert_alike(ours.convert_bounding_box_format(boxes, "CXCYWHR", format), numbers)
        turned = torchvision.tv_tensors.BoundingBoxes(numbers, format=format, canvas_size=SIZE)
        for name, arguments in EXACT:
            if name not in ("get_dimensions", "get_num_channels", "pad") and isinstance(
                outcome(getattr(theirs, name), turned, **arguments), torch.Tensor
            ):
                assert_alike(*_pair(name, arguments, turned))


def test_names() -> None:
    assert [name for name in dir(theirs) if name[0] != "_" and not hasattr(ours, name)] == []
    with pytest.raises(AttributeError, match="no_such_function"):
        _ = ours.no_such_function


def test_of_unknown_types() -> None:
    with pytest.raises(TypeError, match="<class 'dict'>"):
        ours.resize({}, [3])


def test_private_names() -> None:
    """Programs import torchvision's own modules; its table of kernels is that of the functions here."""
    from avida.torchvision.transforms.v2._utils import check_type  # pyright: ignore[reportMissingImports]

    from avida.torchvision.transforms.v2.functional._utils import _get_kernel, _register_kernel_internal

    assert check_type is torchvision.transforms.v2._utils.check_type
    assert ours._geometry._resize_image_pil is theirs._geometry._resize_image_pil
    assert ours._color is theirs._color

    def own() -> None:
        pass

    _register_kernel_internal(own, torch.Tensor, tv_tensor_wrapper=False)(ours.resize_image)
    assert _get_kernel(own, torch.Tensor) is ours.resize_image
    with pytest.raises(ValueError, match="already"):
        _register_kernel_internal(own, torch.Tensor)
    assert _get_kernel(ours.resize, dict, allow_passthrough=True)({}) == {}


def test_scripted_kernels() -> None:
    pixels = torch.rand(3, HEIGHT, WIDTH)
    flipped = torch.jit.script(ours.horizontal_flip_image)
    assert flipped(pixels).equal(pixels.flip(-1))
    resized = torch.jit.script(ours.resize_video)
    torch.testing.assert_close(resized(pixels[None], [9, 8]), ours.resize_video(pixels[None], [9, 8]))


def test_usage_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's count of what programs call has functions by the name under which they are defined."""
    said: list[str] = []
    monkeypatch.setattr("torch._C._log_api_usage_once", said.append)
    ours.horizontal_flip(torch.zeros(3, 4, 5))
    assert f"{ours.horizontal_flip.__module__}.horizontal_flip" in said


def test_kernels_of_users() -> None:
    class Own(torchvision.tv_tensors.TVTensor):
        pass

    @ours.register_kernel(ours.resize, Own)
    def resize(inpt: Any, size: list[int], **_: Any) -> str:
        return f"resized to {size}"

    own = Own([1, 2])
    assert ours.resize(own, [3]) == "resized to [3]"
    with pytest.raises(TypeError, match="Own"):
        ours.rotate(own, 3)
    with pytest.raises(ValueError, match="already"):
        ours.register_kernel("resize", Own)
    for kind in (int, torchvision.tv_tensors.Image):
        with pytest.raises(ValueError, match="Kernels can"):
            ours.register_kernel(ours.resize, kind)


@pytest.mark.parametrize("mode", ["1", "L", "P", "I", "F", "LA", "RGBA", "CMYK", "YCbCr", "HSV", "I;16"])
def test_pil_modes(mode: str) -> None:
    image = PIL.Image.new(mode, (16, 11))
    assert_alike(ours.pil_to_tensor(image), theirs.pil_to_tensor(image))
    assert_alike(outcome(ours.to_tensor, image), outcome(theirs.to_tensor, image))
    for name, arguments in (("resize", {"size": [5, 6]}), ("pad", {"padding": [2]}), ("rotate", {"angle": 20})):
        assert_alike(*_pair(name, arguments, image))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("affine", {**AFFINE, "angle": "no"}),
        ("affine", {**AFFINE, "scale": 0.0}),
        ("affine", {**AFFINE, "translate": 3}),
        ("affine", {**AFFINE, "shear": [1, 2, 3]}),
        ("affine", {**AFFINE, "fill": [1, 2]}),
        ("affine", {**AFFINE, "interpolation": "bicubic"}),
        ("resize", {"size": [3, 4], "max_size": 5}),
        ("resize", {"size": [3], "max_size": 3}),
        ("resize", {"size": [3], "interpolation": "no"}),
        ("pad", {"padding": [1, 2, 3]}),
        ("pad", {"padding": "no"}),
        ("pad", {"padding": [1], "padding_mode": "no"}),
        ("perspective", {"startpoints": None, "endpoints": None}),
        ("perspective", {"startpoints": CORNERS, "endpoints": MOVED, "coefficients": [0.0] * 8}),
        ("elastic", {"displacement": 3}),
        ("elastic", {"displacement": torch.zeros(1)}),
        ("gaussian_blur", {"kernel_size": [2, 2]}),
        ("gaussian_blur", {"kernel_size": [3, 3], "sigma": [0.0]}),
        ("adjust_brightness", {"brightness_factor": -1}),
        ("adjust_hue", {"hue_factor": 0.6}),
        ("posterize", {"bits": 9}),
        ("solarize", {"threshold": 256}),
        ("normalize", {"mean": [0.0], "std": [1.0]}),
        ("permute_channels", {"permutation": [0, 1]}),
        ("five_crop", {"size": [100, 100]}),
    ],
)
def test_errors(name: str, arguments: dict[str, Any]) -> None:
    found, expected = _pair(name, arguments, images()["bytes"])
    assert isinstance(expected, Exception)
    assert_alike(found, expected)
