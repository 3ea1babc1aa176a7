"""What all rooms of the evidence stand on: verdicts, sides of statements, defects, files, limits, jobs."""
