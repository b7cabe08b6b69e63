"""Python objects as readers: ExternalSource."""
