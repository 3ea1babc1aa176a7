"""Numbers, exact and enclosed, the letters of the papers, and what is checked of what a user gives."""
