"""Data in: arrays, sparse matrices, data frames, tables in files, labels. What is given becomes float32 numbers."""
