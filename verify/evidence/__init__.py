"""Evidence about claims as data, in Python and in files."""
