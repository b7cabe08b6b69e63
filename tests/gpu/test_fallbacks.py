"""Which operators a GPU does not run itself: their calls copy to the CPU and back."""

from tests.op_case import OPS

# Shapes or arguments of what comes next follow from the numbers that these read or draw: the CPU needs them.
ON_THE_CPU = {"bbox_rotate", "random_bbox_crop", "roi_random_crop", "random_crop_generator", "random.choice"}
ON_THE_CPU |= {"segmentation.random_mask_pixel", "segmentation.random_object_bbox", "segmentation.select_masks"}
# A few numbers for each sample.
ON_THE_CPU |= {"batch_permutation", "get_property"}
ON_THE_CPU |= {f"transforms.{name}" for name in ("translation", "scale", "rotation", "shear", "crop", "combine")}
# Every element follows from those before it, or from spectra that become signals and images again.
ON_THE_CPU |= {f"augment.{name}" for name in ("biquad", "fda", "impulse_response", "pitch_shift", "time_stretch")}
# Counts the values of two images.
ON_THE_CPU |= {"augment.histogram_matching"}
# Encoded data.
ON_THE_CPU |= {"io.file.read", "peek_image_shape"}
ON_THE_CPU |= {f"decoders.{kind}" for kind in ("audio", "inflate", "media", "numpy", "video")}
ON_THE_CPU |= {f"decoders.image{part}" for part in ("", "_crop", "_random_crop", "_slice")}


def test_the_rest_runs_on_the_gpu():
    assert not {name for name, op in OPS.items() if not op["on_gpu"]} - ON_THE_CPU
