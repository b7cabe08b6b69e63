"""Loops that prepare their next items ahead: no bit of the results depends on it."""
