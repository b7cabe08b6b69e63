"""Readers of tables: Parquet files, and data sets of Hugging Face."""
