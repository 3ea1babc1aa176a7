"""The paper's table of complexities."""

from fedtheory.numbers.symbols import kappa
from fedtheory.tables import Column, Entry, Row, Table


def build(name):
    """The table of this name: there is one."""
    row = Row("descent", "descent", (Entry(kappa),), (kappa,))
    steps = (Column("steps", "steps"),)
    return Table(name, steps, (row,), "As in the paper.", measures=steps)
