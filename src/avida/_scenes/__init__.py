"""Scenes: images with masks, boxes and points that every function moves together."""
