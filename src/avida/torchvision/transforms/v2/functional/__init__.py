"""Functions on images, videos, masks, boxes and points: those of `torchvision.transforms.v2.functional`."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from avida.torchvision import _theirs
from avida.torchvision.transforms._interpolation import InterpolationMode as InterpolationMode
from avida.torchvision.transforms.v2.functional import _utils as _utils
from avida.torchvision.transforms.v2.functional._boxes import clamp_bounding_boxes as clamp_bounding_boxes
from avida.torchvision.transforms.v2.functional._boxes import clamp_keypoints as clamp_keypoints
from avida.torchvision.transforms.v2.functional._boxes import convert_bounding_box_format as convert_bounding_box_format
from avida.torchvision.transforms.v2.functional._boxes import sanitize_bounding_boxes as sanitize_bounding_boxes
from avida.torchvision.transforms.v2.functional._boxes import sanitize_keypoints as sanitize_keypoints
from avida.torchvision.transforms.v2.functional._colors import adjust_brightness as adjust_brightness
from avida.torchvision.transforms.v2.functional._colors import adjust_brightness_image as adjust_brightness_image
from avida.torchvision.transforms.v2.functional._colors import adjust_brightness_video as adjust_brightness_video
from avida.torchvision.transforms.v2.functional._colors import adjust_contrast as adjust_contrast
from avida.torchvision.transforms.v2.functional._colors import adjust_contrast_image as adjust_contrast_image
from avida.torchvision.transforms.v2.functional._colors import adjust_contrast_video as adjust_contrast_video
from avida.torchvision.transforms.v2.functional._colors import adjust_gamma as adjust_gamma
from avida.torchvision.transforms.v2.functional._colors import adjust_gamma_image as adjust_gamma_image
from avida.torchvision.transforms.v2.functional._colors import adjust_gamma_video as adjust_gamma_video
from avida.torchvision.transforms.v2.functional._colors import adjust_hue as adjust_hue
from avida.torchvision.transforms.v2.functional._colors import adjust_hue_image as adjust_hue_image
from avida.torchvision.transforms.v2.functional._colors import adjust_hue_video as adjust_hue_video
from avida.torchvision.transforms.v2.functional._colors import adjust_saturation as adjust_saturation
from avida.torchvision.transforms.v2.functional._colors import adjust_saturation_image as adjust_saturation_image
from avida.torchvision.transforms.v2.functional._colors import adjust_saturation_video as adjust_saturation_video
from avida.torchvision.transforms.v2.functional._colors import adjust_sharpness as adjust_sharpness
from avida.torchvision.transforms.v2.functional._colors import adjust_sharpness_image as adjust_sharpness_image
from avida.torchvision.transforms.v2.functional._colors import adjust_sharpness_video as adjust_sharpness_video
from avida.torchvision.transforms.v2.functional._colors import autocontrast as autocontrast
from avida.torchvision.transforms.v2.functional._colors import autocontrast_image as autocontrast_image
from avida.torchvision.transforms.v2.functional._colors import autocontrast_video as autocontrast_video
from avida.torchvision.transforms.v2.functional._colors import equalize as equalize
from avida.torchvision.transforms.v2.functional._colors import equalize_image as equalize_image
from avida.torchvision.transforms.v2.functional._colors import equalize_video as equalize_video
from avida.torchvision.transforms.v2.functional._colors import grayscale_to_rgb as grayscale_to_rgb
from avida.torchvision.transforms.v2.functional._colors import grayscale_to_rgb_image as grayscale_to_rgb_image
from avida.torchvision.transforms.v2.functional._colors import invert as invert
from avida.torchvision.transforms.v2.functional._colors import invert_image as invert_image
from avida.torchvision.transforms.v2.functional._colors import invert_video as invert_video
from avida.torchvision.transforms.v2.functional._colors import permute_channels as permute_channels
from avida.torchvision.transforms.v2.functional._colors import permute_channels_image as permute_channels_image
from avida.torchvision.transforms.v2.functional._colors import permute_channels_video as permute_channels_video
from avida.torchvision.transforms.v2.functional._colors import posterize as posterize
from avida.torchvision.transforms.v2.functional._colors import posterize_image as posterize_image
from avida.torchvision.transforms.v2.functional._colors import posterize_video as posterize_video
from avida.torchvision.transforms.v2.functional._colors import rgb_to_grayscale as rgb_to_grayscale
from avida.torchvision.transforms.v2.functional._colors import rgb_to_grayscale_image as rgb_to_grayscale_image
from avida.torchvision.transforms.v2.functional._colors import solarize as solarize
from avida.torchvision.transforms.v2.functional._colors import solarize_image as solarize_image
from avida.torchvision.transforms.v2.functional._colors import solarize_video as solarize_video
from avida.torchvision.transforms.v2.functional._colors import to_grayscale as to_grayscale
from avida.torchvision.transforms.v2.functional._conversions import convert_image_dtype as convert_image_dtype
from avida.torchvision.transforms.v2.functional._conversions import gaussian_blur as gaussian_blur
from avida.torchvision.transforms.v2.functional._conversions import gaussian_blur_image as gaussian_blur_image
from avida.torchvision.transforms.v2.functional._conversions import gaussian_blur_video as gaussian_blur_video
from avida.torchvision.transforms.v2.functional._conversions import gaussian_noise as gaussian_noise
from avida.torchvision.transforms.v2.functional._conversions import gaussian_noise_image as gaussian_noise_image
from avida.torchvision.transforms.v2.functional._conversions import gaussian_noise_video as gaussian_noise_video
from avida.torchvision.transforms.v2.functional._conversions import jpeg as jpeg
from avida.torchvision.transforms.v2.functional._conversions import jpeg_image as jpeg_image
from avida.torchvision.transforms.v2.functional._conversions import jpeg_video as jpeg_video
from avida.torchvision.transforms.v2.functional._conversions import normalize as normalize
from avida.torchvision.transforms.v2.functional._conversions import normalize_image as normalize_image
from avida.torchvision.transforms.v2.functional._conversions import normalize_video as normalize_video
from avida.torchvision.transforms.v2.functional._conversions import pil_to_tensor as pil_to_tensor
from avida.torchvision.transforms.v2.functional._conversions import to_dtype as to_dtype
from avida.torchvision.transforms.v2.functional._conversions import to_dtype_image as to_dtype_image
from avida.torchvision.transforms.v2.functional._conversions import to_dtype_video as to_dtype_video
from avida.torchvision.transforms.v2.functional._conversions import to_image as to_image
from avida.torchvision.transforms.v2.functional._conversions import to_pil_image as to_pil_image
from avida.torchvision.transforms.v2.functional._conversions import to_tensor as to_tensor
from avida.torchvision.transforms.v2.functional._conversions import (
    uniform_temporal_subsample as uniform_temporal_subsample,
)
from avida.torchvision.transforms.v2.functional._conversions import (
    uniform_temporal_subsample_video as uniform_temporal_subsample_video,
)
from avida.torchvision.transforms.v2.functional._crops import center_crop as center_crop
from avida.torchvision.transforms.v2.functional._crops import center_crop_bounding_boxes as center_crop_bounding_boxes
from avida.torchvision.transforms.v2.functional._crops import center_crop_image as center_crop_image
from avida.torchvision.transforms.v2.functional._crops import center_crop_keypoints as center_crop_keypoints
from avida.torchvision.transforms.v2.functional._crops import center_crop_mask as center_crop_mask
from avida.torchvision.transforms.v2.functional._crops import center_crop_video as center_crop_video
from avida.torchvision.transforms.v2.functional._crops import crop as crop
from avida.torchvision.transforms.v2.functional._crops import crop_bounding_boxes as crop_bounding_boxes
from avida.torchvision.transforms.v2.functional._crops import crop_image as crop_image
from avida.torchvision.transforms.v2.functional._crops import crop_keypoints as crop_keypoints
from avida.torchvision.transforms.v2.functional._crops import crop_mask as crop_mask
from avida.torchvision.transforms.v2.functional._crops import crop_video as crop_video
from avida.torchvision.transforms.v2.functional._crops import erase as erase
from avida.torchvision.transforms.v2.functional._crops import erase_image as erase_image
from avida.torchvision.transforms.v2.functional._crops import erase_video as erase_video
from avida.torchvision.transforms.v2.functional._crops import five_crop as five_crop
from avida.torchvision.transforms.v2.functional._crops import five_crop_image as five_crop_image
from avida.torchvision.transforms.v2.functional._crops import five_crop_video as five_crop_video
from avida.torchvision.transforms.v2.functional._crops import hflip as hflip
from avida.torchvision.transforms.v2.functional._crops import horizontal_flip as horizontal_flip
from avida.torchvision.transforms.v2.functional._crops import (
    horizontal_flip_bounding_boxes as horizontal_flip_bounding_boxes,
)
from avida.torchvision.transforms.v2.functional._crops import horizontal_flip_image as horizontal_flip_image
from avida.torchvision.transforms.v2.functional._crops import horizontal_flip_keypoints as horizontal_flip_keypoints
from avida.torchvision.transforms.v2.functional._crops import horizontal_flip_mask as horizontal_flip_mask
from avida.torchvision.transforms.v2.functional._crops import horizontal_flip_video as horizontal_flip_video
from avida.torchvision.transforms.v2.functional._crops import pad as pad
from avida.torchvision.transforms.v2.functional._crops import pad_bounding_boxes as pad_bounding_boxes
from avida.torchvision.transforms.v2.functional._crops import pad_image as pad_image
from avida.torchvision.transforms.v2.functional._crops import pad_keypoints as pad_keypoints
from avida.torchvision.transforms.v2.functional._crops import pad_mask as pad_mask
from avida.torchvision.transforms.v2.functional._crops import pad_video as pad_video
from avida.torchvision.transforms.v2.functional._crops import ten_crop as ten_crop
from avida.torchvision.transforms.v2.functional._crops import ten_crop_image as ten_crop_image
from avida.torchvision.transforms.v2.functional._crops import ten_crop_video as ten_crop_video
from avida.torchvision.transforms.v2.functional._crops import vertical_flip as vertical_flip
from avida.torchvision.transforms.v2.functional._crops import (
    vertical_flip_bounding_boxes as vertical_flip_bounding_boxes,
)
from avida.torchvision.transforms.v2.functional._crops import vertical_flip_image as vertical_flip_image
from avida.torchvision.transforms.v2.functional._crops import vertical_flip_keypoints as vertical_flip_keypoints
from avida.torchvision.transforms.v2.functional._crops import vertical_flip_mask as vertical_flip_mask
from avida.torchvision.transforms.v2.functional._crops import vertical_flip_video as vertical_flip_video
from avida.torchvision.transforms.v2.functional._crops import vflip as vflip
from avida.torchvision.transforms.v2.functional._dispatch import is_pure_tensor as is_pure_tensor
from avida.torchvision.transforms.v2.functional._dispatch import register_kernel as register_kernel
from avida.torchvision.transforms.v2.functional._dispatch import their_functional
from avida.torchvision.transforms.v2.functional._elastic import elastic as elastic
from avida.torchvision.transforms.v2.functional._elastic import elastic_bounding_boxes as elastic_bounding_boxes
from avida.torchvision.transforms.v2.functional._elastic import elastic_image as elastic_image
from avida.torchvision.transforms.v2.functional._elastic import elastic_keypoints as elastic_keypoints
from avida.torchvision.transforms.v2.functional._elastic import elastic_mask as elastic_mask
from avida.torchvision.transforms.v2.functional._elastic import elastic_transform as elastic_transform
from avida.torchvision.transforms.v2.functional._elastic import elastic_video as elastic_video
from avida.torchvision.transforms.v2.functional._resize import resize as resize
from avida.torchvision.transforms.v2.functional._resize import resize_bounding_boxes as resize_bounding_boxes
from avida.torchvision.transforms.v2.functional._resize import resize_image as resize_image
from avida.torchvision.transforms.v2.functional._resize import resize_keypoints as resize_keypoints
from avida.torchvision.transforms.v2.functional._resize import resize_mask as resize_mask
from avida.torchvision.transforms.v2.functional._resize import resize_video as resize_video
from avida.torchvision.transforms.v2.functional._resize import resized_crop as resized_crop
from avida.torchvision.transforms.v2.functional._resize import (
    resized_crop_bounding_boxes as resized_crop_bounding_boxes,
)
from avida.torchvision.transforms.v2.functional._resize import resized_crop_image as resized_crop_image
from avida.torchvision.transforms.v2.functional._resize import resized_crop_keypoints as resized_crop_keypoints
from avida.torchvision.transforms.v2.functional._resize import resized_crop_mask as resized_crop_mask
from avida.torchvision.transforms.v2.functional._resize import resized_crop_video as resized_crop_video
from avida.torchvision.transforms.v2.functional._sizes import get_dimensions as get_dimensions
from avida.torchvision.transforms.v2.functional._sizes import get_dimensions_image as get_dimensions_image
from avida.torchvision.transforms.v2.functional._sizes import get_dimensions_video as get_dimensions_video
from avida.torchvision.transforms.v2.functional._sizes import get_image_num_channels as get_image_num_channels
from avida.torchvision.transforms.v2.functional._sizes import get_image_size as get_image_size
from avida.torchvision.transforms.v2.functional._sizes import get_num_channels as get_num_channels
from avida.torchvision.transforms.v2.functional._sizes import get_num_channels_image as get_num_channels_image
from avida.torchvision.transforms.v2.functional._sizes import get_num_channels_video as get_num_channels_video
from avida.torchvision.transforms.v2.functional._sizes import get_num_frames as get_num_frames
from avida.torchvision.transforms.v2.functional._sizes import get_num_frames_video as get_num_frames_video
from avida.torchvision.transforms.v2.functional._sizes import get_size as get_size
from avida.torchvision.transforms.v2.functional._sizes import get_size_bounding_boxes as get_size_bounding_boxes
from avida.torchvision.transforms.v2.functional._sizes import get_size_image as get_size_image
from avida.torchvision.transforms.v2.functional._sizes import get_size_keypoints as get_size_keypoints
from avida.torchvision.transforms.v2.functional._sizes import get_size_mask as get_size_mask
from avida.torchvision.transforms.v2.functional._sizes import get_size_video as get_size_video
from avida.torchvision.transforms.v2.functional._warps import affine as affine
from avida.torchvision.transforms.v2.functional._warps import affine_bounding_boxes as affine_bounding_boxes
from avida.torchvision.transforms.v2.functional._warps import affine_image as affine_image
from avida.torchvision.transforms.v2.functional._warps import affine_keypoints as affine_keypoints
from avida.torchvision.transforms.v2.functional._warps import affine_mask as affine_mask
from avida.torchvision.transforms.v2.functional._warps import affine_video as affine_video
from avida.torchvision.transforms.v2.functional._warps import perspective as perspective
from avida.torchvision.transforms.v2.functional._warps import perspective_bounding_boxes as perspective_bounding_boxes
from avida.torchvision.transforms.v2.functional._warps import perspective_image as perspective_image
from avida.torchvision.transforms.v2.functional._warps import perspective_keypoints as perspective_keypoints
from avida.torchvision.transforms.v2.functional._warps import perspective_mask as perspective_mask
from avida.torchvision.transforms.v2.functional._warps import perspective_video as perspective_video
from avida.torchvision.transforms.v2.functional._warps import rotate as rotate
from avida.torchvision.transforms.v2.functional._warps import rotate_bounding_boxes as rotate_bounding_boxes
from avida.torchvision.transforms.v2.functional._warps import rotate_image as rotate_image
from avida.torchvision.transforms.v2.functional._warps import rotate_keypoints as rotate_keypoints
from avida.torchvision.transforms.v2.functional._warps import rotate_mask as rotate_mask
from avida.torchvision.transforms.v2.functional._warps import rotate_video as rotate_video

for _name, _function in list(globals().items()):  # what torch.jit.script makes of functions and kernels
    if inspect.isfunction(_function) and _function.__name__ == _name:
        setattr(_function, "__prepare_scriptable__", functools.partial(their_functional, _name))  # noqa: B010


def __getattr__(name: str) -> Any:
    return _theirs.attribute_of("transforms.v2.functional", name)
