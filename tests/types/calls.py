"""Right and wrong calls, for type checkers only: `make check` runs pyright and mypy over this file.

A wrong line ends in `type: ignore`. Both checkers report a comment that ignores nothing, so a wrong call that is
no longer an error fails the check.
"""

import array
import pathlib
from typing import assert_type

import numpy as np
import torch
from PIL import Image

import avida
from avida import Batch, Device, Tensor, types
from avida.readers import File


def kinds_of_results(tensor: Tensor, batch: Batch, generator: avida.random.RNG) -> None:
    assert_type(avida.flip(batch, horizontal=0), Batch)
    assert_type(avida.flip(tensor, vertical=1), Tensor)
    assert_type(avida.rotate(batch, angle=avida.random.uniform(like=batch)), Batch)
    assert_type(avida.resize(batch, size=[224, 224], interp_type="cubic"), Batch)
    assert_type(avida.resize(batch, resize_shorter=224, interp_type="bilinear", size_rounding="detr"), Batch)
    assert_type(avida.letterbox(batch, size=[640, 640]), Batch)
    assert_type(avida.crop_mirror_normalize(batch, device="gpu", mean=[0.5], std=[0.25]), Batch)
    assert_type(avida.decoders.image(batch, device="gpu", output_type=types.RGB), Batch)
    assert_type(avida.decoders.image(b"bytes of a file"), Tensor)
    assert_type(avida.decoders.audio(batch), tuple[Batch, Batch])
    assert_type(avida.cat(batch, batch, axis=0), Batch)
    assert_type(avida.stack(tensor, tensor), Tensor)
    assert_type(avida.reductions.mean(batch, axes=[0, 1]), Batch)
    assert_type(avida.random.uniform(batch_size=8), Batch)
    assert_type(avida.random.uniform(range=[0, 1], rng=generator), Tensor)
    assert_type(avida.random.coin_flip(like=batch, probability=0.3), Batch)
    assert_type(avida.transforms.rotation(angle=30.0), Tensor)
    assert_type(avida.zeros(shape=[2, 3], dtype=avida.uint8), Tensor)
    assert_type(avida.zeros(shape=[2, 3], batch_size=4), Batch)
    assert_type(avida.io.file.read("image.jpg"), Tensor)
    assert_type(avida.imread("image.jpg", device="gpu"), Tensor)
    assert_type(avida.imread(["one.jpg", "other.jpg"], output_type=types.GRAY), Batch)
    assert_type(avida.random_bbox_crop(batch, scaling=[0.5, 1.0]), tuple[Batch, ...])
    assert_type(avida.random_bbox_crop(tensor, output_bbox_indices=True), tuple[Tensor, ...])


def scenes(scene: avida.Scene, batch: Batch, tensor: Tensor) -> None:
    assert_type(
        avida.Scene(batch, boxes=batch, labels=[[1], [2]], format="cxcywh", ids=[[0], [1]], names={3: "cat"}),
        avida.Scene,
    )
    assert_type(avida.flip(scene, horizontal=avida.augment.chance(0.5), swap=[[0, 1]]), avida.Scene)
    assert_type(avida.flip(batch, horizontal=avida.augment.chance(0.5)), Batch)
    assert_type(avida.rotate(scene, angle=avida.augment.between(-10, 10)), avida.Scene)
    assert_type(avida.brightness(scene, brightness=batch), avida.Scene)
    assert_type(scene.clean(min_visible=0.1), avida.Scene)
    assert_type(avida.augment.maybe(scene, avida.flip, p=0.5), avida.Scene)
    assert_type(avida.augment.one_of(batch, [avida.flip, avida.equalize]), Batch)
    assert_type(avida.augment.shuffled(tensor, [avida.flip]), Tensor)
    assert_type(avida.augment.grayscale(scene, avida.augment.chance(0.2)), avida.Scene)
    assert_type(scene.select(0), avida.Scene)
    avida.Scene(batch, format="ltrb")  # type: ignore


def values(tensor: Tensor, batch: Batch) -> None:
    assert_type(tensor + 1, Tensor)
    assert_type(batch * tensor, Batch)
    assert_type(-batch, Batch)
    assert_type(tensor + batch, Batch)
    assert_type(tensor[1:, ..., 0], Tensor)
    assert_type(batch.slice[10:20], Batch)
    assert_type(batch.tensors[0], Tensor)
    selected: Batch = batch.tensors[[0, 2]]
    assert_type(avida.flip(selected), Batch)
    assert_type(avida.flip(batch.tensors[1:]), Batch)
    assert_type(batch.tensors[[True, False]][0], Tensor)
    assert_type(batch.select([0, 1]), Batch)
    assert_type(batch.cpu(), Batch)
    assert_type(tensor.to_device("gpu:1"), Tensor)
    assert_type(tensor.torch(), torch.Tensor)
    assert_type(batch.torch(pad=True), torch.Tensor)
    assert_type(batch.torch(pad=True, mask=True), tuple[torch.Tensor, torch.Tensor])
    assert_type(batch.slice[batch > 3, :2], Batch)
    assert_type(batch.slice[np.array([True, False])], Batch)
    assert_type(batch.device, Device)
    assert_type(avida.float32([1, 2]), Tensor)
    assert_type(avida.as_batch(batch, dtype="f16"), Batch)
    for sample in batch:
        assert_type(sample, Tensor)


def anything_that_is_an_array(tensor: Tensor, image: Image.Image, path: pathlib.Path) -> None:
    avida.tensor(3)
    avida.tensor([[1, 2], [3, 4]])
    avida.tensor([np.zeros(3), tensor])
    avida.tensor(torch.zeros(3), dtype=torch.float16, device=torch.device("cpu"))
    avida.tensor(image)
    avida.tensor(array.array("f", [1, 2]), dtype=np.float32)
    avida.tensor(memoryview(b"abc"), dtype=np.dtype("uint8"))
    avida.batch([np.zeros((2, 3)), torch.ones(2, 2)], layout="HW")
    avida.batch(sample for sample in (tensor, tensor))
    avida.flip([[[1, 2, 3]]])
    avida.crop(tensor, crop=(np.int64(4), 4), crop_pos_x=np.float32(0.5))
    avida.io.file.read(["one.jpg", "other.jpg"])
    avida.io.file.read([path, path])
    avida.cast(tensor, dtype=types.FLOAT)
    avida.flip(tensor, device=Device("gpu", 3))
    avida.device(f"gpu:{len(tensor)}")


def epochs(reader: File) -> None:
    for jpegs, labels in reader.next_epoch(batch_size=32):
        assert_type(jpegs, Batch)
        assert_type(labels, Batch)
    for item in avida.ahead(reader.next_epoch(batch_size=32), depth=1):
        assert_type(item, tuple[Batch, ...])
    for sample in reader.next_epoch():
        assert_type(sample, tuple[Tensor, ...])
    assert_type(reader[3], tuple[Tensor, ...])
    assert_type(reader[[5, 1]], tuple[Batch, ...])


def wrong_keywords(tensor: Tensor, batch: Batch, reader: File) -> None:
    avida.flip(batch, horizontl=1)  # type: ignore[call-overload]
    avida.flip(input=batch)  # type: ignore[call-overload]
    avida.flip()  # type: ignore[call-overload]
    avida.cast(batch)  # type: ignore[call-overload]
    avida.resize(batch, [224, 224])  # type: ignore[call-overload]
    avida.flip(batch, rng=None)  # type: ignore[call-overload]
    avida.random.uniform(batchsize=3)  # type: ignore[call-overload]
    avida.tensor([1], typ=avida.uint8)  # type: ignore[call-arg]
    tensor.torch(pad=True)  # type: ignore[call-arg]
    batch.numpy(padding=True)  # type: ignore[call-arg]
    File(file_rot="train")  # type: ignore[call-arg]
    reader.next_epoch(batchsize=3)  # type: ignore[call-overload]


def wrong_types(tensor: Tensor, batch: Batch, reader: File) -> None:
    avida.flip("image.jpg")  # type: ignore[call-overload]
    avida.imread(3)  # type: ignore[call-overload]
    avida.imread("image.jpg", devic="gpu")  # type: ignore[call-overload]
    avida.flip(None)  # type: ignore[call-overload]
    avida.flip({"image": 1})  # type: ignore[call-overload]
    avida.flip(batch, horizontal="yes")  # type: ignore[call-overload]
    avida.crop(batch, crop="224")  # type: ignore[call-overload]
    avida.crop(batch, fill_values=1j)  # type: ignore[call-overload]
    avida.reductions.mean(batch, axes=0.5)  # type: ignore[call-overload]
    avida.cast(batch, dtype="float33")  # type: ignore[call-overload]
    avida.cast(batch, dtype=3.0)  # type: ignore[call-overload]
    avida.resize(batch, size=[2, 2], interp_type="bilinearly")  # type: ignore[call-overload]
    avida.resize(batch, size=[2, 2], interp_type=types.RGB)  # type: ignore[call-overload]
    avida.decoders.image(batch, output_type="rgba")  # type: ignore[call-overload]
    avida.decoders.image(batch, output_type=types.INTERP_LINEAR)  # type: ignore[call-overload]
    avida.random.uniform(like=tensor)  # type: ignore[call-overload]
    avida.random.uniform(batch_size="8")  # type: ignore[call-overload]
    avida.tensor("text")  # type: ignore[arg-type]
    avida.tensor(object())  # type: ignore[arg-type]
    avida.batch(3)  # type: ignore[arg-type]
    avida.batch(["text"])  # type: ignore[list-item]
    avida.tensor([1], dtype="int33")  # type: ignore[arg-type]
    tensor + "text"  # type: ignore[call-overload]
    tensor["text"]  # type: ignore[index]
    batch.tensors["text"]  # type: ignore[index]
    File(file_root="train", last_batch="half")  # type: ignore[arg-type]
    reader.next_epoch(batch_size="32")  # type: ignore[call-overload]
    _: Tensor = avida.flip(batch)  # type: ignore[assignment]


def wrong_subscripts(batch: Batch) -> None:
    # Pyright says: "Literal[0]" is not assignable to "UseBatchTensorsOrBatchSlice"
    # Mypy says: Invalid index type "int" for "Batch"; expected type "UseBatchTensorsOrBatchSlice"
    batch[0]  # type: ignore[index]
    batch[1:]  # type: ignore[index]
    batch[[0, 2]]  # type: ignore[index]
    batch[..., 0]  # type: ignore[index]


def wrong_devices(tensor: Tensor, batch: Batch) -> None:
    avida.flip(batch, device="tpu")  # type: ignore[call-overload]
    avida.flip(batch, device="mixed")  # type: ignore[call-overload]
    avida.flip(batch, device=0)  # type: ignore[call-overload]
    avida.decoders.image(batch, device="mixed")  # type: ignore[call-overload]
    avida.random.uniform(device="cpu:0")  # type: ignore[call-overload]
    avida.tensor([1], device="tpu")  # type: ignore[arg-type]
    avida.as_batch([1], device=1)  # type: ignore[arg-type]
    batch.to_device("tpu")  # type: ignore[arg-type]
    tensor.gpu("1")  # type: ignore[arg-type]
    avida.memory_use("tpu")  # type: ignore[arg-type]
    File(file_root="train", device="mixed")  # type: ignore[arg-type]
    avida.device(3)  # type: ignore[call-overload]
