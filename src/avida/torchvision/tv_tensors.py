"""Tensors that know what they are: torchvision's own classes where it is installed, else the same made here.

They are torchvision's where they can be, so that data sets, models and transforms of both understand each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from avida.torchvision import _theirs

if TYPE_CHECKING or _theirs.torchvision() is None:
    from avida.torchvision._own_tensors import BoundingBoxes as BoundingBoxes
    from avida.torchvision._own_tensors import BoundingBoxFormat as BoundingBoxFormat
    from avida.torchvision._own_tensors import Image as Image
    from avida.torchvision._own_tensors import KeyPoints as KeyPoints
    from avida.torchvision._own_tensors import Mask as Mask
    from avida.torchvision._own_tensors import TVTensor as TVTensor
    from avida.torchvision._own_tensors import Video as Video
    from avida.torchvision._own_tensors import is_rotated_bounding_format as is_rotated_bounding_format
    from avida.torchvision._own_tensors import set_return_type as set_return_type
    from avida.torchvision._own_tensors import wrap as wrap
else:
    from torchvision.tv_tensors import BoundingBoxes as BoundingBoxes
    from torchvision.tv_tensors import BoundingBoxFormat as BoundingBoxFormat
    from torchvision.tv_tensors import Image as Image
    from torchvision.tv_tensors import KeyPoints as KeyPoints
    from torchvision.tv_tensors import Mask as Mask
    from torchvision.tv_tensors import TVTensor as TVTensor
    from torchvision.tv_tensors import Video as Video
    from torchvision.tv_tensors import is_rotated_bounding_format as is_rotated_bounding_format
    from torchvision.tv_tensors import set_return_type as set_return_type
    from torchvision.tv_tensors import wrap as wrap


def __getattr__(name: str) -> Any:  # wrap_dataset_for_transforms_v2, for one
    return _theirs.attribute_of("tv_tensors", name)
