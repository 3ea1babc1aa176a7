"""What is found about claims, as data: in Python, and in the files in which it is kept."""
