"""Samples of a batch in one another: MixUp, CutMix, mosaic, copy-paste."""
