"""How results are shown: tables and text on a terminal, statements in words and in LaTeX, figures."""
