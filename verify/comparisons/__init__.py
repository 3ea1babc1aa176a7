"""Both sides of what a claim says, at one instance: all that a counterexample can name. Nothing is looked for here."""
