"""Tensors and Batches: what they are made of, from and into."""
