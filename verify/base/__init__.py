"""The basis of all evidence: verdicts, sides of statements, defects, files, limits, jobs."""
