"""Policies: augmentation as data, to JSON and back, and from what other libraries write."""
