"""Tables: rows as dictionaries, with conversions to frames."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence, Union, overload

if TYPE_CHECKING:
    import pandas
    import polars

Value = Union[str, int, float, bool, None]
"""One cell. What was not measured is None, never 0."""
Row = Mapping[str, Value]
"""One row: values by column."""


class Table(Sequence[Row]):
    """Rows with the same columns. Column names carry their units."""

    def __init__(self, rows: Iterable[Row]) -> None:
        kept = list(rows)
        # Keys may be added to the document: columns are those of all rows, in the order of appearance.
        self.columns: list[str] = list(dict.fromkeys(name for row in kept for name in row))
        self._rows: list[Row] = [{name: row.get(name) for name in self.columns} for row in kept]

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Table: ...
    def __getitem__(self, place: int | slice) -> Row | Table:
        return Table(self._rows[place]) if isinstance(place, slice) else self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return f"<iosonde.Table: {len(self)} rows, {len(self.columns)} columns: {', '.join(self.columns)}>"

    def where(self, **values: Value) -> Table:
        """The rows with these values: `points.where(op="read", queue_depth=1)`."""
        unknown = [name for name in values if name not in self.columns]
        if unknown:
            raise KeyError(f"no column {unknown[0]!r}; there are {', '.join(self.columns)}")
        return Table(row for row in self._rows if all(row[name] == value for name, value in values.items()))

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas frame; needs pandas."""
        import pandas

        return pandas.DataFrame(self._rows, columns=self.columns)

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars frame; needs polars."""
        import polars

        # A column may be None in its first hundred rows.
        return polars.DataFrame(self._rows, schema=self.columns, infer_schema_length=None)


def flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Value]:
    """An object of the document as cells: `latency_ns.p99` becomes `latency_ns_p99`, a list its JSON."""
    cells: dict[str, Value] = {}
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            cells.update(flat(inner, f"{prefix}{name}_"))
        else:
            cells[prefix + name] = json.dumps(inner) if isinstance(inner, list) else inner
    return cells


def estimates(direction: Mapping[str, Any]) -> dict[str, Value]:
    """Figures of a point: the value under its own name, with `_low` and `_high` for its interval."""
    cells: dict[str, Value] = {}
    for name, figure in direction.items():
        if isinstance(figure, Mapping) and "value" in figure:
            cells[name] = figure["value"]
            cells[f"{name}_low"] = figure.get("low")
            cells[f"{name}_high"] = figure.get("high")
    return cells
