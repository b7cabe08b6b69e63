"""Shards of data sets, written from encoded samples: WebDataset, MDS and Parquet."""
