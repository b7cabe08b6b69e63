"""Automatic augmentation: random in what it does, so that shapes and types are compared."""

from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.auto_aug import auto_augment, rand_augment, trivial_augment


@pipeline_def(enable_conditionals=True, num_threads=2, device_id=None)
def training_pipe(data_dir, automatic_augmentation="rand"):
    jpegs, labels = fn.readers.file(file_root=data_dir, random_shuffle=True, name="Reader")
    shapes = fn.peek_image_shape(jpegs)
    images = fn.decoders.image(jpegs, output_type=types.RGB)
    images = fn.random_resized_crop(images, size=[16, 16], antialias=False)
    if automatic_augmentation == "auto":
        output = auto_augment.auto_augment(images, shape=[16, 16])
    elif automatic_augmentation == "auto_image_net":
        output = auto_augment.auto_augment_image_net(images, shape=shapes, fill_value=0)
    elif automatic_augmentation == "rand":
        output = rand_augment.rand_augment(images, n=2, m=9, fill_value=128)
    elif automatic_augmentation == "trivial":
        output = trivial_augment.trivial_augment_wide(images, shape=[16, 16])
    else:
        output = images
    output = fn.crop_mirror_normalize(output, dtype=types.FLOAT, output_layout="CHW")
    return output, labels


def main(folder):
    results = []
    for kind in ("rand", "none"):
        pipe = training_pipe(folder + "/images", kind, batch_size=4)
        pipe.build()
        images, labels = pipe.run()
        results += [images.as_array() * 0, images.shape(), labels.as_array() * 0]
    return results
