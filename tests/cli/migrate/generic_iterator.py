"""PyTorch: an iterator with named outputs over a class around a pipeline, with a ragged last batch."""

import torch
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.pytorch import DALIGenericIterator


class DataLoader:
    def __init__(self, folder, batch_size):
        @pipeline_def(batch_size=batch_size, num_threads=2, device_id=None)
        def pipeline():
            encoded, labels = fn.readers.file(file_root=folder, pad_last_batch=True, name="files")
            images = fn.decoders.image(encoded)
            return fn.crop_mirror_normalize(images, crop=(16, 16), dtype=types.FLOAT), labels

        self.names = ["images", "labels"]
        self.loader = DALIGenericIterator(
            [pipeline()], ["images", "labels"], reader_name="files", last_batch_policy=LastBatchPolicy.PARTIAL
        )

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        for row in self.loader:
            yield row[0]["images"], row[0]["labels"].flatten()
        self.loader.reset()


def main(folder):
    loader = DataLoader(folder + "/images", 3)
    seen = [torch.tensor(len(loader))]
    for _ in range(2):
        for images, labels in loader:
            seen += [images, labels]
    return seen
