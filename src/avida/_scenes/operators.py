"""Which operators take Scenes: plain names, which `make generate` reads for the types of functions."""

CHANGES_PIXELS = (
    "augment.adjust_colors",
    "augment.autocontrast",
    "augment.box_blur",
    "augment.channel_dropout",
    "augment.channel_shuffle",
    "augment.coarse_dropout",
    "augment.color_jitter",
    "augment.defocus",
    "augment.gamma",
    "augment.grayscale",
    "augment.invert",
    "augment.motion_blur",
    "augment.posterize",
    "augment.rgb_shift",
    "augment.solarize",
    "augment.unsharp_mask",
    "brightness",
    "brightness_contrast",
    "cast",
    "cast_like",
    "clahe",
    "color_space_conversion",
    "color_twist",
    "contrast",
    "copy",
    "debayer",
    "equalize",
    "erase",
    "experimental.median_blur",
    "filter",
    "gaussian_blur",
    "grid_mask",
    "hsv",
    "hue",
    "jpeg_compression_distortion",
    "laplacian",
    "lookup_table",
    "noise.gaussian",
    "noise.salt_and_pepper",
    "noise.shot",
    "normalize",
    "saturation",
)
"""Operators that leave pixels where they are: of a Scene, they change the image."""
MOVES_PIXELS = (
    "augment.affine",
    "augment.elastic",
    "augment.grid_distortion",
    "augment.optical_distortion",
    "augment.perspective",
    "crop",
    "crop_mirror_normalize",
    "experimental.remap",
    "experimental.warp_perspective",
    "flip",
    "jitter",
    "letterbox",
    "pad",
    "paste",
    "random_bbox_crop",
    "random_resized_crop",
    "resize",
    "resize_crop_mirror",
    "rotate",
    "slice",
    "sphere",
    "warp_affine",
    "water",
)
"""Operators that move pixels, and know where."""
BENDS = (
    "augment.elastic",
    "augment.grid_distortion",
    "augment.optical_distortion",
    "experimental.remap",
    "sphere",
    "water",
)
"""Those among them without a matrix: they move boxes and points themselves."""
DRAWS = ("augment.elastic", "augment.grid_distortion", "augment.perspective", "jitter")
"""Those that draw numbers: for image and masks the same."""
SWAPS = ("flip",)
"""Those that take ``swap=``, and call ``avida._scenes.swap.swapping``."""
SWAP_TEXT = (
    "Of a Scene: pairs of keypoints that change places where the image is mirrored, such as left and right eyes: "
    "`[[1, 2], [3, 4]]`."
)
