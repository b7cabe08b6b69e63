"""From sound to features: spectrogram, mel filters, decibels, MFCC, normalized."""

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def


def display_spectrogram(spec, title):
    print(title, spec.shape)
    shown.append(spec)


shown = []
n_fft = 128
hop = 32


@pipeline_def
def spectrogram_pipe(files, nfft, window_length, window_step, device="cpu"):
    encoded, label = fn.readers.file(files=files)
    audio, sr = fn.decoders.audio(encoded, dtype=types.FLOAT, downmix=True)
    audio = fn.preemphasis_filter(audio, preemph_coeff=0.9)
    spec = fn.spectrogram(
        audio,
        device=device,
        nfft=nfft,
        window_length=window_length,
        window_step=window_step,
    )
    mel = fn.mel_filter_bank(spec, sample_rate=16000.0, nfilter=20, freq_high=8000.0)
    mel_db = fn.to_decibels(mel, multiplier=10.0, cutoff_db=-80)
    mfcc = fn.mfcc(mel_db, axis=0, dct_type=2, n_mfcc=12)
    mfcc = fn.normalize(mfcc, axes=[1])
    return audio, spec, mel_db, mfcc, sr


def main(folder):
    names = [f"{folder}/sounds/{i}.wav" for i in range(2)]
    pipe = spectrogram_pipe(
        names,
        device_id=None,
        batch_size=2,
        num_threads=3,
        nfft=n_fft,
        window_length=n_fft,
        window_step=hop,
        device="cpu",
    )
    pipe.build()
    outputs = pipe.run()
    display_spectrogram(np.array(outputs[1][0]), "STFT")
    mel = outputs[2][0].as_cpu() if hasattr(outputs[2][0], "as_cpu") else outputs[2][0]
    display_spectrogram(np.array(mel), "Mel")
    return [*shown, outputs[0].at(1), outputs[3].at(1), outputs[4].as_array(), outputs[0][0].shape()]
