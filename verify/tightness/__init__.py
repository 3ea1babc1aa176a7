"""How tight a claim is: what is printed against the exact worst case."""
