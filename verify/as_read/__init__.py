"""Claims whose sides are one expression as their code is read; what read code requires of the hypotheses."""
