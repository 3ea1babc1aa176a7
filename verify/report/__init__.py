"""The display of results: tables and text on a terminal, statements in words and in LaTeX, figures."""
