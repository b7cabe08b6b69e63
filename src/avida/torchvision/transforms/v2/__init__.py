"""torchvision's second set of transforms, by the same names: `torchvision.transforms.v2`.

Example:
    >>> import torch
    >>> from avida.torchvision.transforms import v2
    >>> transform = v2.Compose([v2.RandomResizedCrop(32), v2.ToDtype(torch.float32, scale=True)])
    >>> transform(torch.zeros(3, 48, 64, dtype=torch.uint8)).shape
    torch.Size([3, 32, 32])
"""

from __future__ import annotations

from typing import Any

from avida.torchvision import _theirs
from avida.torchvision.transforms._interpolation import InterpolationMode as InterpolationMode
from avida.torchvision.transforms.v2 import functional as functional
from avida.torchvision.transforms.v2._annotations import ClampBoundingBoxes as ClampBoundingBoxes
from avida.torchvision.transforms.v2._annotations import ClampKeyPoints as ClampKeyPoints
from avida.torchvision.transforms.v2._annotations import ConvertBoundingBoxFormat as ConvertBoundingBoxFormat
from avida.torchvision.transforms.v2._annotations import SanitizeBoundingBoxes as SanitizeBoundingBoxes
from avida.torchvision.transforms.v2._annotations import SanitizeKeyPoints as SanitizeKeyPoints
from avida.torchvision.transforms.v2._annotations import SetClampingMode as SetClampingMode
from avida.torchvision.transforms.v2._automatic import AugMix as AugMix
from avida.torchvision.transforms.v2._automatic import AutoAugment as AutoAugment
from avida.torchvision.transforms.v2._automatic import AutoAugmentPolicy as AutoAugmentPolicy
from avida.torchvision.transforms.v2._automatic import RandAugment as RandAugment
from avida.torchvision.transforms.v2._automatic import TrivialAugmentWide as TrivialAugmentWide
from avida.torchvision.transforms.v2._colors import RGB as RGB
from avida.torchvision.transforms.v2._colors import ColorJitter as ColorJitter
from avida.torchvision.transforms.v2._colors import GaussianNoise as GaussianNoise
from avida.torchvision.transforms.v2._colors import Grayscale as Grayscale
from avida.torchvision.transforms.v2._colors import RandomAdjustSharpness as RandomAdjustSharpness
from avida.torchvision.transforms.v2._colors import RandomAutocontrast as RandomAutocontrast
from avida.torchvision.transforms.v2._colors import RandomChannelPermutation as RandomChannelPermutation
from avida.torchvision.transforms.v2._colors import RandomEqualize as RandomEqualize
from avida.torchvision.transforms.v2._colors import RandomGrayscale as RandomGrayscale
from avida.torchvision.transforms.v2._colors import RandomInvert as RandomInvert
from avida.torchvision.transforms.v2._colors import RandomPhotometricDistort as RandomPhotometricDistort
from avida.torchvision.transforms.v2._colors import RandomPosterize as RandomPosterize
from avida.torchvision.transforms.v2._colors import RandomSolarize as RandomSolarize
from avida.torchvision.transforms.v2._containers import Compose as Compose
from avida.torchvision.transforms.v2._containers import RandomApply as RandomApply
from avida.torchvision.transforms.v2._containers import RandomChoice as RandomChoice
from avida.torchvision.transforms.v2._containers import RandomOrder as RandomOrder
from avida.torchvision.transforms.v2._geometry import CenterCrop as CenterCrop
from avida.torchvision.transforms.v2._geometry import FiveCrop as FiveCrop
from avida.torchvision.transforms.v2._geometry import Pad as Pad
from avida.torchvision.transforms.v2._geometry import RandomCrop as RandomCrop
from avida.torchvision.transforms.v2._geometry import RandomHorizontalFlip as RandomHorizontalFlip
from avida.torchvision.transforms.v2._geometry import RandomIoUCrop as RandomIoUCrop
from avida.torchvision.transforms.v2._geometry import RandomResize as RandomResize
from avida.torchvision.transforms.v2._geometry import RandomResizedCrop as RandomResizedCrop
from avida.torchvision.transforms.v2._geometry import RandomShortestSize as RandomShortestSize
from avida.torchvision.transforms.v2._geometry import RandomVerticalFlip as RandomVerticalFlip
from avida.torchvision.transforms.v2._geometry import RandomZoomOut as RandomZoomOut
from avida.torchvision.transforms.v2._geometry import Resize as Resize
from avida.torchvision.transforms.v2._geometry import ScaleJitter as ScaleJitter
from avida.torchvision.transforms.v2._geometry import TenCrop as TenCrop
from avida.torchvision.transforms.v2._mixing import JPEG as JPEG
from avida.torchvision.transforms.v2._mixing import CutMix as CutMix
from avida.torchvision.transforms.v2._mixing import MixUp as MixUp
from avida.torchvision.transforms.v2._mixing import RandomErasing as RandomErasing
from avida.torchvision.transforms.v2._transform import Identity as Identity
from avida.torchvision.transforms.v2._transform import Lambda as Lambda
from avida.torchvision.transforms.v2._transform import Transform as Transform
from avida.torchvision.transforms.v2._transform import check_type as check_type
from avida.torchvision.transforms.v2._transform import get_bounding_boxes as get_bounding_boxes
from avida.torchvision.transforms.v2._transform import get_keypoints as get_keypoints
from avida.torchvision.transforms.v2._transform import has_all as has_all
from avida.torchvision.transforms.v2._transform import has_any as has_any
from avida.torchvision.transforms.v2._transform import query_chw as query_chw
from avida.torchvision.transforms.v2._transform import query_size as query_size
from avida.torchvision.transforms.v2._types import ConvertImageDtype as ConvertImageDtype
from avida.torchvision.transforms.v2._types import LinearTransformation as LinearTransformation
from avida.torchvision.transforms.v2._types import Normalize as Normalize
from avida.torchvision.transforms.v2._types import PILToTensor as PILToTensor
from avida.torchvision.transforms.v2._types import ToDtype as ToDtype
from avida.torchvision.transforms.v2._types import ToImage as ToImage
from avida.torchvision.transforms.v2._types import ToPILImage as ToPILImage
from avida.torchvision.transforms.v2._types import ToPureTensor as ToPureTensor
from avida.torchvision.transforms.v2._types import ToTensor as ToTensor
from avida.torchvision.transforms.v2._types import UniformTemporalSubsample as UniformTemporalSubsample
from avida.torchvision.transforms.v2._warps import ElasticTransform as ElasticTransform
from avida.torchvision.transforms.v2._warps import GaussianBlur as GaussianBlur
from avida.torchvision.transforms.v2._warps import RandomAffine as RandomAffine
from avida.torchvision.transforms.v2._warps import RandomPerspective as RandomPerspective
from avida.torchvision.transforms.v2._warps import RandomRotation as RandomRotation

_HAVE_GET_PARAMS = (
    "AutoAugment",
    "ColorJitter",
    "ElasticTransform",
    "GaussianBlur",
    "RandomAffine",
    "RandomCrop",
    "RandomErasing",
    "RandomPerspective",
    "RandomResizedCrop",
    "RandomRotation",
)


def _draws_as_theirs(name: str) -> staticmethod[..., Any]:
    """`get_params` of the first set of transforms."""

    def get_params(*args: Any, **kwargs: Any) -> Any:
        return _theirs.from_torchvision(f"transforms.{name}").get_params(*args, **kwargs)

    return staticmethod(get_params)


for _name in _HAVE_GET_PARAMS:
    setattr(globals()[_name], "get_params", _draws_as_theirs(_name))  # noqa: B010


def __getattr__(name: str) -> Any:
    return _theirs.attribute_of("transforms.v2", name)
