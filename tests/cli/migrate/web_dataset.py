"""A tar archive with images and classes; the last batch is left out."""

from nvidia.dali import fn, pipeline_def
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.pytorch import DALIGenericIterator as Loader


@pipeline_def()
def archive(paths, index_paths):
    images, classes = fn.readers.webdataset(
        paths=paths, index_paths=index_paths, ext=["png", "cls"], missing_component_behavior="error", name="Tar"
    )
    images = fn.decoders.image(images)
    return fn.crop(images, crop=[20, 20], crop_pos_x=0.0, crop_pos_y=1.0), classes


class Data:
    def __init__(self, folder):
        self.pipe = archive(
            [folder + "/archive.tar"], [folder + "/archive.idx"], batch_size=2, num_threads=1, device_id=None
        )
        self.loader = Loader(self.pipe, ["images", "classes"], -1, "Tar", last_batch_policy=LastBatchPolicy.DROP)

    def batches(self):
        for data in self.loader:
            yield data[0]["images"]
            yield data[0]["classes"]


def main(folder):
    return list(Data(folder).batches())
