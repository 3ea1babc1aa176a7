"""Methods of checking a claim, one a module, and the order in which they run."""
