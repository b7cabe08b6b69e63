"""A first notebook: one pipeline after another under one name, timed by a function that takes pipelines."""

import os
from timeit import default_timer as timer

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import pipeline_def

image_dir = os.environ["DATA"] + "/images"
max_batch_size = 4
results = []


@pipeline_def
def simple_pipeline():
    jpegs, labels = fn.readers.file(file_root=image_dir)
    images = fn.decoders.image(jpegs, device="cpu")

    return images, labels


pipe = simple_pipeline(batch_size=max_batch_size, num_threads=1, device_id=None)
pipe.build()
pipe_out = pipe.run()
print(pipe_out)
images, labels = pipe_out
print("Images is_dense_tensor: " + str(images.is_dense_tensor()))
print("Labels is_dense_tensor: " + str(labels.is_dense_tensor()))
results += [images.is_dense_tensor(), labels.is_dense_tensor()]
labels_tensor = labels.as_tensor()
print(labels_tensor.shape())
results += [labels_tensor.shape(), np.array(labels_tensor)]


def show_images(image_batch):
    columns = 2
    rows = (max_batch_size + 1) // columns
    for j in range(rows * columns):
        results.append(image_batch.at(j))


show_images(images)


@pipeline_def
def simple_pipeline():
    jpegs, labels = fn.readers.file(file_root=image_dir, random_shuffle=False)
    images = fn.decoders.image(jpegs, device="cpu", output_type=types.GRAY)
    rotated = fn.rotate(images, angle=10.0, fill_value=0)
    return rotated, labels


pipe = simple_pipeline(batch_size=max_batch_size, num_threads=1, device_id=None, seed=1234)
pipe_out = pipe.run()
images, labels = pipe_out
show_images(images)


def speedtest(pipeline, batch, n_threads):
    pipe = pipeline(batch_size=batch, num_threads=n_threads, device_id=None)
    pipe.build()
    # warmup
    for i in range(2):
        pipe.run()
    # test
    n_test = 3
    t_start = timer()
    for i in range(n_test):
        out = pipe.run()
    t = timer() - t_start
    print(f"Speed: {(n_test * batch) / t} imgs/s")
    results.append(out[1].as_array())


speedtest(simple_pipeline, 3, 2)
