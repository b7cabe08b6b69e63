"""Names of files in the arguments of readers."""
