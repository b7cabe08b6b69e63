"""The first call of an operator takes no lock that a fork could leave locked in the child."""

import os
import shutil
import subprocess

import pytest

from tests.runtime.test_process import run

# Stands before the C++ library's function, which takes the lock of a static variable of a function.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { made = 1, begun = 256 };

int __cxa_guard_acquire(int* guard) {
  Dl_info caller, variable;
  if (getpid() != syscall(SYS_gettid) && dladdr(__builtin_return_address(0), &caller) &&
      strstr(caller.dli_fname, "/_core.")) {
    const char* name = dladdr(guard, &variable) && variable.dli_sname ? variable.dli_sname : "a static variable";
    if (write(2, name, strlen(name)) < 0 || write(2, "\n", 1) < 0) return 0;
  }
  for (int found = 0; !__atomic_compare_exchange_n(guard, &found, begun, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);) {
    if (found == made) return 0;
    found = 0;
    sched_yield();
  }
  return 1;
}
"""

CALLS = """
    import io, time, wave, numpy as np, avida as ndd
    from PIL import Image

    def first_calls():
        image = ndd.tensor(np.arange(60 * 80 * 3, dtype=np.uint8).reshape(60, 80, 3), layout="HWC")
        sound = ndd.tensor(np.sin(np.arange(4000) * 0.01).astype(np.float32))
        made = [ndd.resize(image, size=[30, 40], interp_type=kind) for kind in range(6)]
        made += [ndd.clahe(image, clip_limit=2.0, tiles_x=4, tiles_y=4)]
        made += [ndd.jpeg_compression_distortion(image, quality=30)]
        made += [ndd.hsv(image, hue=20.0), ndd.gaussian_blur(image, sigma=2.0), ndd.rotate(image, angle=30.0)]
        made += [ndd.crop(image, crop=[100, 100], out_of_bounds_policy="pad")]
        made += [ndd.experimental.median_blur(image, window_size=5), ndd.experimental.remap(image, *maps())]
        made += [ndd.warp_affine(image, matrix=[[1.0, 0.5, 0.0], [0.0, 1.0, 3.0]])]
        spectrum = ndd.spectrogram(sound, nfft=256, window_length=256)
        mel = ndd.mel_filter_bank(spectrum, nfilter=20)
        made += [mel, ndd.mfcc(ndd.to_decibels(mel)), ndd.audio_resample(sound, in_rate=16000.0, out_rate=22050.0)]
        made += [ndd.normalize(ndd.cast(image, dtype=ndd.float32)), ndd.random.uniform(range=[0.0, 1.0], shape=[5])]
        for name in ("JPEG", "PNG", "WEBP", "TIFF", "BMP", "PPM"):
            file = io.BytesIO()
            Image.fromarray(np.asarray(image)).save(file, name)
            made.append(ndd.decoders.image(file.getvalue()))
        file = io.BytesIO()
        with wave.open(file, "wb") as writer:
            writer.setparams((1, 2, 8000, 0, "NONE", ""))
            writer.writeframes(np.arange(1000, dtype=np.int16).tobytes())
        made += ndd.decoders.audio(file.getvalue(), sample_rate=4000.0)
        while any(value._pending() for value in made):  # a thread that waits would compute them itself
            time.sleep(0.01)
        for value in made:
            value.evaluate()

    def maps():
        rows, columns = np.mgrid[0:60, 0:80].astype(np.float32)
        return ndd.tensor(columns), ndd.tensor(rows)

    with ndd.EvalContext(num_threads=2):
        first_calls()
    print("done")
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="sanitizers must be loaded first")
def test_no_thread_takes_the_lock_of_a_static_variable(tmp_path):
    (tmp_path / "shim.c").write_text(SHIM)
    library = tmp_path / "shim.so"
    compiled = subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-o", library, tmp_path / "shim.c", "-ldl"], capture_output=True, text=True
    )
    assert compiled.returncode == 0, compiled.stderr
    done = run(CALLS, env={**os.environ, "LD_PRELOAD": str(library)})
    assert done.stdout == "done\n", done.stderr
    assert done.stderr == ""
