"""What `avida convert`, `avida process` and `avida info URL` share: data sets that are found, and written again."""
