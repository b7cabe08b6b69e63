"""Scripts of users of the real library print the same by `python script.py` and by `avida run script.py`."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from PIL import Image

SCRIPTS = {
    "classification": """
        import nvidia.dali.experimental.dynamic as ndd
        from nvidia.dali import types

        reader = ndd.readers.File(file_root="images", pad_last_batch=True)
        for epoch in range(2):
            for jpegs, labels in reader.next_epoch(batch_size=3):
                images = ndd.decoders.image(jpegs, output_type=types.RGB)
                images = ndd.resize(images, resize_shorter=20, interp_type=types.INTERP_LINEAR)
                images = ndd.crop_mirror_normalize(
                    images, crop=[16, 16], mean=[128.0] * 3, std=[60.0] * 3, dtype=types.FLOAT, output_layout="CHW"
                )
                tensor = images.torch()
                print(epoch, tensor.shape, tensor.dtype, labels.torch().flatten().tolist(), images.layout)
                print(round(float(tensor.mean()), 1))
        print(dict(reader.get_metadata(batch_size=3)), types.FLOAT, f"{types.RGB}")
        """,
    "checkpoint": """
        import json
        import nvidia.dali.experimental.dynamic as ndd

        def make(seed):
            shuffled = ndd.readers.File(file_root="images", random_shuffle=True, enable_checkpointing=True, seed=seed)
            checkpoint, rng = ndd.checkpoint.Checkpoint(), ndd.random.RNG(seed=3)
            return checkpoint, shuffled, rng

        checkpoint, reader, rng = make(7)
        print(checkpoint.register(reader, "reader"), checkpoint.register(rng, "rng"), checkpoint.names)
        seen = []
        for step, (_, labels) in enumerate(reader.next_epoch(batch_size=2)):
            seen.append(labels.torch().flatten().tolist())
            rng()
            if step == 1:
                checkpoint.collect()
                path = checkpoint.save("step_{seq:03d}.json")
        print(path, checkpoint.is_complete, sorted(json.load(open(path))["states"]))
        resumed, again, rng = make(None)
        print(resumed.load("step_{seq:03d}.json"))
        resumed.register(again, "reader"), resumed.register(rng, "rng")
        rest = [labels.torch().flatten().tolist() for _, labels in again.next_epoch(batch_size=2)]
        print(rest[: len(seen) - 2] == seen[2:], str(rng.get_state()))
        """,
    "values": """
        import numpy as np
        import nvidia.dali.experimental.dynamic as ndd

        tensor = ndd.tensor([[1, 2, 3], [4, 5, 6]], dtype=ndd.float32)
        batch = ndd.batch([np.ones((2, 3), np.uint8), np.zeros((4, 3), np.uint8)], layout="HW")
        print(tensor.shape, tensor.dtype, tensor.nbytes, tensor.device, batch.shape, batch.batch_size, batch.layout)
        print(np.array(tensor[0, 1:]), tensor[1, 2].item(), batch.slice[:, 1:].shape, batch.tensors[1].shape)
        for result in (batch + 1, batch * 2.5, batch / 2, batch > 0, tensor**2, -tensor, 1 - tensor):
            print(result.dtype, result.shape)
        print(ndd.math.sqrt(tensor), ndd.reductions.mean(tensor, axes=[0]))
        print([np.asarray(sample).sum() for sample in batch], ndd.Batch.broadcast(np.arange(3), 2).shape)
        """,
    "modes": """
        import threading
        import numpy as np
        import nvidia.dali.experimental.dynamic as ndd

        image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
        for mode in (ndd.EvalMode.deferred, ndd.EvalMode.eager, ndd.EvalMode.sync_cpu, ndd.EvalMode.sync_full):
            with mode:
                print(mode, ndd.EvalMode.current() == mode, np.asarray(ndd.flip(image))[0, 0])
        with ndd.EvalContext(num_threads=2) as context:
            resized = ndd.resize(ndd.as_tensor(image, layout="HWC"), size=[4, 4])
            print(context.num_threads, ndd.EvalContext.current() is context, ndd.Device.current())
            context.evaluate_all()
        print(resized.shape, ndd.EvalContext.current() is ndd.EvalContext.default())
        with ndd.EvalMode.deferred:
            thread = threading.Thread(target=lambda: print(ndd.EvalMode.current()))
            thread.start()
            thread.join()
        """,
    "calls": """
        import numpy as np
        import nvidia.dali.experimental.dynamic as ndd

        reader = ndd.readers.File(file_root="images", max_batch_size=4)
        print([reader(batch_size=4)[1].torch().flatten().tolist() for _ in range(6)])
        source = ndd.ExternalSource([np.arange(3), np.arange(4)], cycle="quiet", dtype=ndd.int64)
        print([np.asarray(source()).tolist() for _ in range(5)])
        rng = ndd.random.RNG(seed=42)
        print([rng() for _ in range(3)], rng.clone()() == rng(), rng.get_state())
        print(ndd.random.coin_flip(batch_size=8, rng=rng).dtype, ndd.random.normal(shape=[2, 3], rng=rng).shape)
        """,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """images/: seven photos of two classes."""
    made = tmp_path_factory.mktemp("scripts")
    for i in range(7):
        file = made / "images" / "ab"[i % 2] / f"{i}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        rows, columns = np.mgrid[: 40 + i, : 50 - i]
        Image.fromarray(np.stack([rows * 3, columns * 4, rows + columns], 2).astype(np.uint8)).save(file)
    return made


@pytest.mark.parametrize("name", SCRIPTS)
def test_same_output(folder, name):
    script = folder / f"{name}.py"
    script.write_text(textwrap.dedent(SCRIPTS[name]))

    def output(*command):
        for old in folder.glob("*.json"):
            old.unlink()
        done = subprocess.run(
            [sys.executable, *command, script], capture_output=True, text=True, cwd=folder, timeout=600
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert output("-m", "avida", "run") == output()
