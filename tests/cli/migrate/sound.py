"""Sound files: decoding, mixing to one channel, another sample rate."""

from nvidia.dali import fn, pipeline_def, types


@pipeline_def
def sound_pipeline(files):
    encoded, numbers = fn.readers.file(files=files, labels=list(range(len(files))))
    sound, rate = fn.decoders.audio(encoded, dtype=types.FLOAT, downmix=True)
    slow = fn.decoders.audio(encoded, dtype=types.FLOAT, downmix=True, sample_rate=8000.0)
    return sound, rate, slow[0], numbers


def main(folder):
    files = [f"{folder}/sounds/{i}.wav" for i in range(3)]
    pipe = sound_pipeline(files, batch_size=2, num_threads=1, device_id=None)
    pipe.build()
    results = []
    for _ in range(3):  # the second batch wraps around
        out = pipe.run()
        for i in range(len(out[0])):
            results += [out[0].at(i), out[2].at(i)]
        results += [out[1].as_array(), out[3].as_array()]
    return results
