"""Data in: arrays, sparse matrices, data frames, tables in files and labels become float32 numbers."""
