"""What papers state of experiments: runs that can be resumed, decisions over seeds, what is carried."""
