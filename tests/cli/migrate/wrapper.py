"""A class around an iterator, as for a trainer that expects images and labels."""

import nvidia.dali.types as types
from nvidia.dali import fn
from nvidia.dali.pipeline import pipeline_def
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy


class LoaderWrapper:
    @staticmethod
    def batches(loader, scale):
        for data in loader:
            yield data[0]["data"] * scale
            yield data[0]["label"].reshape(-1)
        loader.reset()

    def __init__(self, loader, scale):
        self.loader = loader
        self.scale = scale

    def __iter__(self):
        return LoaderWrapper.batches(self.loader, self.scale)


class Data:
    def __init__(self, folder):
        self.folder = folder

    @pipeline_def
    def pipeline(self, crop):
        # two kinds of images, one reader for each
        if crop > 10:
            jpegs, labels = fn.readers.file(file_root=self.folder + "/images", name="Reader")
        else:
            jpegs, labels = fn.readers.file(file_root=self.folder + "/coco", name="Reader")
        images = fn.decoders.image_crop(jpegs, crop=[crop, crop], crop_pos_x=0.25, crop_pos_y=0.75)
        parts = []
        for channel in range(3):
            parts.append(images[:, :, channel : channel + 1])
        images = fn.cat(*parts[::-1], axis=2)
        return fn.cast(images, dtype=types.INT16), labels

    def loader(self, crop, drop_last):
        policy = LastBatchPolicy.DROP if drop_last else LastBatchPolicy.PARTIAL
        pipe = self.pipeline(crop, batch_size=3, num_threads=1, device_id=None)
        pipe.build()
        loader = DALIClassificationIterator(pipe, reader_name="Reader", last_batch_policy=policy)
        return LoaderWrapper(loader, 2)


def main(folder):
    results = []
    for crop in (16, 8):
        loader = Data(folder).loader(crop, drop_last=crop == 8)
        results += list(loader)
    return results
