"""iosonde from Python: run studies, open kept runs, and get their figures as tables.

    import iosonde

    run = iosonde.run("quick", "./")        # or iosonde.open("last")
    run.points.to_pandas()                  # every workload with its intervals; units in the column names
    run.findings                            # what iosonde concluded, as objects
    run.plot()                              # throughput against latency, with matplotlib

The package starts the program `iosonde` that is installed with it and reads its JSON document. pandas, polars and
matplotlib are needed only by the methods that say so.
"""

from ._calls import compare, open, point, program, run, version
from ._program import IosondeError
from ._run import Advice, Comparison, Finding, Run
from ._table import Row, Table, Value

__all__ = [
    "Advice",
    "Comparison",
    "Finding",
    "IosondeError",
    "Row",
    "Run",
    "Table",
    "Value",
    "compare",
    "open",
    "point",
    "program",
    "run",
    "version",
]
