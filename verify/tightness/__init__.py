"""The tightness of a claim: the printed bound against the exact worst case."""
