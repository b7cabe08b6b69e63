"""Transforms of `avida.torchvision.transforms.v2` beside torchvision's, with the same random numbers."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest
import torch
from PIL import Image

from avida.torchvision import tv_tensors
from avida.torchvision.transforms import v2 as ours
from tests.torchvision.compare import assert_alike, outcome
from tests.torchvision.oracle import torchvision
from tests.torchvision.samples import images, pil, sample, smooth, whole

theirs: Any = torchvision.transforms.v2
POLICY: Any = theirs.AutoAugmentPolicy
SEEDS = 2

EXACT: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Resize", (24,), {}),
    ("Resize", ([24, 30],), {}),
    ("CenterCrop", (24,), {}),
    ("RandomCrop", (24,), {}),
    ("RandomCrop", (60,), {"pad_if_needed": True, "padding": 2, "fill": 3}),
    ("RandomResizedCrop", (32,), {}),
    ("RandomHorizontalFlip", (1.0,), {}),
    ("RandomHorizontalFlip", (), {}),
    ("RandomVerticalFlip", (1.0,), {}),
    ("Normalize", ([0.5] * 3, [0.2] * 3), {}),
    ("ToImage", (), {}),
    ("ToDtype", (torch.float32,), {"scale": True}),
    ("ToDtype", ({tv_tensors.Image: torch.float32, tv_tensors.Mask: torch.int32, "others": None},), {}),
    ("ToTensor", (), {}),
    ("PILToTensor", (), {}),
    ("ToPILImage", (), {}),
    ("ToPureTensor", (), {}),
    ("ConvertImageDtype", (), {}),
    ("Pad", (3,), {}),
    ("Pad", ([1, 2, 3, 4],), {"padding_mode": "reflect"}),
    ("GaussianBlur", (5,), {}),
    ("GaussianBlur", ((3, 5), (1.0, 2.0)), {}),
    ("RandomErasing", (1.0,), {}),
    ("RandomErasing", (1.0,), {"value": "random"}),
    ("RandomIoUCrop", (), {}),
    ("RandomZoomOut", (), {"p": 1.0}),
    ("ScaleJitter", ((40, 50),), {}),
    ("RandomShortestSize", ([20, 30],), {"max_size": 50}),
    ("RandomResize", (20, 40), {}),
    ("ElasticTransform", (), {}),
    ("SanitizeBoundingBoxes", (), {}),
    ("SanitizeBoundingBoxes", (), {"min_size": 3, "labels_getter": None}),
    ("SanitizeKeyPoints", (), {}),
    ("ClampBoundingBoxes", (), {}),
    ("ClampKeyPoints", (), {}),
    ("SetClampingMode", (None,), {}),
    ("ConvertBoundingBoxFormat", ("CXCYWH",), {}),
    ("MixUp", (), {"num_classes": 5}),
    ("CutMix", (), {"num_classes": 5}),
    ("FiveCrop", (20,), {}),
    ("TenCrop", (20,), {}),
    ("UniformTemporalSubsample", (2,), {}),
    ("GaussianNoise", (), {}),
    ("Grayscale", (), {}),
    ("RandomGrayscale", (1.0,), {}),
    ("RGB", (), {}),
    ("RandomEqualize", (1.0,), {}),
    ("RandomInvert", (1.0,), {}),
    ("RandomPosterize", (3, 1.0), {}),
    ("RandomSolarize", (0.5, 1.0), {}),
    ("RandomAutocontrast", (1.0,), {}),
    ("RandomAdjustSharpness", (2.0, 1.0), {}),
    ("RandomChannelPermutation", (), {}),
    ("Identity", (), {}),
    ("Lambda", (abs, torch.Tensor), {}),
]
NEARLY: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("ColorJitter", (0.4, 0.4, 0.4, 0.1), {}),
    ("ColorJitter", (), {"hue": 0.3}),
    ("RandomPhotometricDistort", (), {}),
    ("RandomRotation", (30,), {}),
    ("RandomAffine", (30,), {"translate": (0.1, 0.2), "scale": (0.8, 1.2), "shear": 10, "interpolation": "bilinear"}),
    ("RandomAffine", (30,), {"shear": (1, 2, 3, 4), "fill": {tv_tensors.Image: 3, "others": 0}}),
    ("RandomPerspective", (), {"p": 1.0}),
    ("RandAugment", (), {}),
    ("TrivialAugmentWide", (), {}),
    ("AutoAugment", (), {}),
    ("AutoAugment", (POLICY.CIFAR10,), {}),
    ("AutoAugment", (POLICY.SVHN,), {}),
    ("AugMix", (), {}),
]


def _ids(rows: list[tuple[str, tuple[Any, ...], dict[str, Any]]]) -> list[str]:
    return [name for name, *_ in rows]


@pytest.fixture(autouse=True)
def _no_warnings() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def samples() -> dict[str, tuple[Any, ...]]:
    """What transforms are called with."""
    batch = torch.rand(4, 3, 20, 24, generator=torch.Generator().manual_seed(0))
    return {
        "bytes": (whole(),),
        "floats": (smooth(),),
        "PIL": (pil(),),
        "detection": (sample(tv_tensors.Image(whole())),),
        "detection, PIL": (sample(pil()),),
        "several": (whole(), torch.rand(3, generator=torch.Generator().manual_seed(1)), "text"),
        "video": (tv_tensors.Video(torch.stack([whole()] * 3)),),
        "batch": (batch, torch.tensor([0, 1, 2, 3])),
    }


def _made(library: Any, name: str, args: Any, kwargs: Any, inputs: tuple[Any, ...], seed: int) -> Any:
    """The name, the result, and the number that the generator gives afterwards."""
    torch.manual_seed(seed)
    transform = getattr(library, name)(*args, **kwargs)
    made = outcome(transform, *copy.deepcopy(inputs))
    return made if isinstance(made, Exception) else [repr(transform), made, torch.rand(1).item()]


@pytest.mark.parametrize(("name", "args", "kwargs"), EXACT, ids=_ids(EXACT))
def test_same(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for inputs in samples().values():
        for seed in range(SEEDS if name.startswith("Random") else 1):
            found, expected = (_made(each, name, args, kwargs, inputs, seed) for each in (ours, theirs))
            assert_alike(found, expected)


@pytest.mark.parametrize(("name", "args", "kwargs"), NEARLY, ids=_ids(NEARLY))
def test_nearly_the_same(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for inputs in samples().values():
        for seed in range(SEEDS):
            found, expected = (_made(each, name, args, kwargs, inputs, seed) for each in (ours, theirs))
            assert_alike(found, expected, mean=3, most=255)


def test_names() -> None:
    assert [name for name in dir(theirs) if name[0] != "_" and not hasattr(ours, name)] == []
    with pytest.raises(AttributeError, match="NoSuchTransform"):
        _ = ours.NoSuchTransform


def test_policies_are_those_of_the_paper() -> None:
    for policy in POLICY:
        assert ours.AutoAugment(policy)._policies == theirs.AutoAugment(policy)._policies


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("image", ["PIL", "Image"])
def test_containers(seed: int, image: str) -> None:
    def stack(v2: Any) -> Any:
        flips = [v2.RandomHorizontalFlip(0.5), v2.RandomVerticalFlip(0.5)]
        return v2.Compose(
            [
                v2.RandomApply([v2.RandomCrop(40), v2.Pad(2)], p=0.5),
                v2.RandomChoice([v2.Resize(30), v2.RandomResizedCrop(30)], p=[1, 2]),
                v2.RandomOrder([*flips, v2.RandomResizedCrop(28)]),
                v2.SanitizeBoundingBoxes(),
            ]
        )

    inputs = (sample(images()[image]),)
    made = []
    for library in (ours, theirs):
        torch.manual_seed(seed)
        transform = stack(library)
        made.append([repr(transform), transform(*inputs), torch.rand(1).item()])
    assert_alike(*made, mean=1, most=4)


def _raises(library: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> type[Exception]:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        getattr(library, name)(*args, **kwargs)
    return caught.type


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("Compose", (3,), {}),
        ("Compose", ([],), {}),
        ("RandomChoice", ([abs],), {"p": [1, 2]}),
        ("RandomApply", ([abs],), {"p": 2}),
        ("RandomHorizontalFlip", (2,), {}),
        ("Resize", ([1, 2, 3],), {}),
        ("Resize", (None,), {}),
        ("CenterCrop", ([1, 2, 3],), {}),
        ("RandomResizedCrop", (3,), {"scale": 3}),
        ("RandomCrop", (3,), {"padding": [1, 2, 3]}),
        ("Pad", ("no",), {}),
        ("Pad", (3,), {"fill": "no"}),
        ("Pad", (3,), {"padding_mode": "no"}),
        ("RandomZoomOut", (), {"side_range": (2, 1)}),
        ("RandomRotation", (-3,), {}),
        ("RandomRotation", ([1, 2, 3],), {}),
        ("RandomAffine", (3,), {"translate": (2, 0)}),
        ("RandomAffine", (3,), {"scale": (0, 1)}),
        ("RandomAffine", (3,), {"shear": -1}),
        ("RandomPerspective", (2,), {}),
        ("ElasticTransform", ("no",), {}),
        ("GaussianBlur", (2,), {}),
        ("GaussianBlur", (3, (2, 1)), {}),
        ("ColorJitter", (-1,), {}),
        ("ColorJitter", ("no",), {}),
        ("ColorJitter", (), {"hue": 0.6}),
        ("RandomErasing", (), {"value": {}}),
        ("RandomErasing", (), {"value": "no"}),
        ("RandomErasing", (), {"scale": (0, 2)}),
        ("JPEG", (0,), {}),
        ("JPEG", (True,), {}),
        ("RandAugment", (-1,), {}),
        ("AutoAugment", ("no",), {}),
        ("AugMix", (11,), {}),
        ("ToDtype", ("no",), {}),
        ("SanitizeBoundingBoxes", (0,), {}),
        ("SanitizeBoundingBoxes", (), {"labels_getter": 3}),
        ("SetClampingMode", ("no",), {}),
        ("LinearTransformation", (torch.rand(2, 3), torch.rand(2)), {}),
    ],
)
def test_errors_of_arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    assert _raises(ours, name, args, kwargs) is _raises(theirs, name, args, kwargs)


def test_linear_transformation() -> None:
    image = torch.rand(2, 3, 4, 5)
    matrix, mean = torch.rand(60, 60), torch.rand(60)
    made = (v2.LinearTransformation(matrix, mean)(tv_tensors.Image(image)) for v2 in (ours, theirs))
    torch.testing.assert_close(*made)


def test_transforms_of_users() -> None:
    class Stretch(ours.Transform):
        def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
            assert [type(each) for each in flat_inputs] == [tv_tensors.Image, tv_tensors.Mask]
            return {"factor": int(torch.randint(2, 3, ()))}

        def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
            height, width = ours.functional.get_size(inpt)
            return self._call_kernel(ours.functional.resize, inpt, [height, width * params["factor"]])

    image, mask, other = Stretch()(
        tv_tensors.Image(torch.rand(3, 4, 5)), tv_tensors.Mask(torch.zeros(4, 5)), torch.ones(2)
    )
    assert (image.shape, mask.shape, other.shape) == ((3, 4, 10), (4, 10), (2,))
    assert (type(image), type(mask)) == (tv_tensors.Image, tv_tensors.Mask)


def test_parameters_of_the_first_set() -> None:
    torch.manual_seed(0)
    crop: Any = ours.RandomCrop
    found = crop.get_params(whole(), (10, 12))
    torch.manual_seed(0)
    assert found == theirs.RandomCrop.get_params(whole(), (10, 12))


def test_scripting_is_torchvisions() -> None:
    scripted = torch.jit.script(ours.Resize([10, 12]))
    assert scripted(whole()).shape == (3, 10, 12)
    assert torch.jit.script(ours.functional.horizontal_flip)(whole()).equal(whole().flip(-1))


class _Data(torch.utils.data.Dataset):
    def __init__(self) -> None:
        steps = [ours.RandomResizedCrop(16), ours.ColorJitter(0.4, 0.4, 0.4, 0.1), ours.ToImage()]
        self.transform = ours.Compose([*steps, ours.ToDtype(torch.float32, scale=True)])

    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> Any:
        return self.transform(Image.fromarray(whole().permute(1, 2, 0).numpy()))


def test_in_workers() -> None:
    made = []
    for _ in range(2):
        torch.manual_seed(3)
        loader = torch.utils.data.DataLoader(_Data(), batch_size=4, num_workers=2)
        made.append(torch.cat(list(loader)))
    assert made[0].shape == (8, 3, 16, 16)
    assert made[0].equal(made[1])
    assert len({each.sum().item() for each in made[0]}) == 8


def test_pickled() -> None:
    transform = pickle.loads(pickle.dumps(_Data().transform))
    assert repr(transform) == repr(_Data().transform)
    assert transform(pil()).shape == (3, 16, 16)


def test_compiled_with_breaks() -> None:
    resize = ours.Resize([10, 12])
    compiled = torch.compile(lambda x: resize(x) + 1, backend="eager")
    torch.testing.assert_close(compiled(smooth()), resize(smooth()) + 1)


def test_gradients_pass() -> None:
    image = smooth().requires_grad_()
    torch.manual_seed(0)
    ours.Compose([ours.RandomResizedCrop(16), ours.RandomRotation(20), ours.Normalize([0.5] * 3, [0.5] * 3)])(
        image
    ).sum().backward()
    assert image.grad is not None
    assert image.grad.abs().sum() > 0
