"""RandAugment and its relatives: augmentations with magnitudes, and how samples choose among them."""
