"""avida.torchvision where torchvision is not installed: in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap

BEFORE = """
import sys
sys.modules["torchvision"] = None  # as if it were not installed
import copy, pickle, warnings
import PIL.Image, torch
from avida.torchvision import tv_tensors
from avida.torchvision import transforms as T
from avida.torchvision.transforms import InterpolationMode, v2
from avida.torchvision.transforms.v2 import functional as F
warnings.simplefilter("error", UserWarning)

image = tv_tensors.Image(torch.randint(0, 256, (3, 40, 50), dtype=torch.uint8))
boxes = tv_tensors.BoundingBoxes([[1.0, 2, 30, 31]], format="XYXY", canvas_size=(40, 50))
turned = tv_tensors.BoundingBoxes([[1.0, 2, 30, 31, 10]], format="XYWHR", canvas_size=(40, 50))
points = tv_tensors.KeyPoints([[[1.0, 2], [3, 4]]], canvas_size=(40, 50))
mask = tv_tensors.Mask(torch.zeros(1, 40, 50, dtype=torch.uint8))


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
        return
    raise AssertionError(f"no {kind}")

"""
PROGRAMS = {
    "stack": """
    first = [v2.RandomResizedCrop(32), v2.RandomHorizontalFlip(1.0), v2.ColorJitter(.4, .4, .4, .1)]
    last = [v2.SanitizeBoundingBoxes(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([.5] * 3, [.5] * 3)]
    torch.manual_seed(0)
    stack = pickle.loads(pickle.dumps(v2.Compose([*first, v2.RandomAffine(10), *last])))
    made = stack({"image": image, "boxes": boxes, "masks": mask, "points": points, "labels": torch.tensor([1])})
    assert (type(made["image"]), made["image"].dtype) == (tv_tensors.Image, torch.float32)
    assert made["boxes"].canvas_size == (32, 32) and made["masks"].shape[1:] == (32, 32)
    assert T.Compose([T.Resize(8, InterpolationMode.BICUBIC)])(PIL.Image.new("RGB", (9, 20))).size == (8, 17)
    assert v2.RandAugment()(image).shape == image.shape
    """,
    "tensors": """
    assert type(boxes.clone()) is tv_tensors.BoundingBoxes and type(boxes + 1) is torch.Tensor
    assert type(boxes.to(torch.float64)) is tv_tensors.BoundingBoxes and boxes.shape == (1, 4)
    for same in (copy.deepcopy(boxes), pickle.loads(pickle.dumps(boxes)), boxes.detach()):
        assert same.format is boxes.format and same.canvas_size == (40, 50) and same.equal(boxes)
    with tv_tensors.set_return_type("TVTensor"):
        assert type(image + 1) is tv_tensors.Image and (boxes * 2).canvas_size == (40, 50)
        assert type(boxes.unbind()[0]) is tv_tensors.BoundingBoxes
    plain = torch.rand(3, 4, 5, dtype=torch.float64)
    assert type(plain.to(image)) is torch.Tensor and type(image.to(plain)) is tv_tensors.Image
    other = boxes.clone()
    other[0] = 0
    assert type(other.add_(0)) is torch.Tensor
    assert type(other) is tv_tensors.BoundingBoxes and not other.any()
    assert "format=" in repr(boxes) and tv_tensors.Image(torch.zeros(2, 3)).shape == (1, 2, 3)
    assert tv_tensors.wrap(torch.ones(1, 4), like=boxes, canvas_size=(3, 4)).canvas_size == (3, 4)
    known = {"format": "XYXY", "canvas_size": (1, 1)}
    raises(ValueError, "clamping_mode", lambda: tv_tensors.BoundingBoxes([1.0] * 4, clamping_mode="no", **known))
    """,
    "what is missing": """
    raises(NotImplementedError, "avida has no boxes that are turned", lambda: F.resize(turned, [10]))
    raises(NotImplementedError, "cannot be scripted", lambda: torch.jit.script(v2.Resize(3)))
    raises(AttributeError, "cannot be imported", lambda: v2.NoSuch)
    raises(AttributeError, "cannot be imported", lambda: T.NoSuch)
    raises(AttributeError, "wrap_dataset", lambda: tv_tensors.wrap_dataset_for_transforms_v2)
    raises(NotImplementedError, "RandomCrop", lambda: v2.RandomCrop.get_params(image, (3, 3)))
    """,
}


def test_without_torchvision() -> None:
    program = BEFORE + "".join(f"# {name}\n{textwrap.dedent(text)}" for name, text in PROGRAMS.items())
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
