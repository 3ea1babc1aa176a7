"""The kinds of statement that a claim can make, one file each."""
