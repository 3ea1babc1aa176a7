"""The paper's table of complexities."""

from fedtheory.numbers.symbols import kappa
from fedtheory.tables import Column, Entry, Row, Table


def build(name):
    """The table of this name: there is one."""
    row = Row("descent", "descent", (Entry("descent"), Entry(kappa)), (kappa,))
    return Table(name, (Column("method", "method"), Column("steps", "steps")), (row,), "As in the paper.")
