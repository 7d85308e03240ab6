"""A run: its document as tables and objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Iterator, Literal, Mapping, Sequence

from ._table import Row, Table, Value, estimates, flat

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OPERATIONS = ("read", "write", "trim", "flush")
_WORST = ("pass", "unchecked", "warning", "invalid")


@dataclass(frozen=True)
class Finding:
    """A conclusion about the storage: a value with its interval, in the unit beside it, or why there is none."""

    name: str
    experiment: str
    conditions: Mapping[str, Value]
    status: Literal["found", "absent", "inconclusive"]
    value: float | None
    unit: str
    low: float | None
    high: float | None
    confidence: float
    sentence: str
    why: str | None
    trials: Sequence[int]


@dataclass(frozen=True)
class Advice:
    """A recommendation, and the names of the findings that it follows from."""

    sentence: str
    why: str | None
    findings: Sequence[str]


class Run:
    """A finished or interrupted run. `document` is all of it, as docs/json.md describes."""

    def __init__(self, document: Mapping[str, Any], exit_code: int = 0) -> None:
        self.document = document
        #: 0, or 3 where `strict` found a warning or an invalid verdict.
        self.exit_code = exit_code
        own = document["run"]
        self.id: str = own["id"]
        self.label: str | None = own.get("label")
        self.study: str = own["study"]
        self.target: str = own["target"]
        self.state: str = own["state"]
        self.seed: int = own["seed"]

    def __repr__(self) -> str:
        return f"<iosonde.Run {self.id}: {self.study} on {self.target}, {self.state}, {len(self.points)} rows of points>"

    @cached_property
    def points(self) -> Table:
        """Estimates of each workload and operation, with their intervals."""
        return Table(self._points())

    @cached_property
    def trials(self) -> Table:
        """Each trial and operation: counts, rates, latencies. `verdict` is the worst that any check said of it."""
        return Table(self._directions(lambda trial, op: _result(trial[op])))

    @cached_property
    def windows(self) -> Table:
        """Slices of 100 ms of each trial and operation."""
        return Table(self._windows())

    @cached_property
    def histograms(self) -> Table:
        """Latencies of each trial and operation: `requests` took at most `upper_ns`, and more than the row before."""
        return Table(self._histograms())

    @cached_property
    def verdicts(self) -> Table:
        """What the checks said of trials, points and the run."""
        return Table(flat(verdict) for verdict in self.document["verdicts"])

    @cached_property
    def findings(self) -> list[Finding]:
        """Every conclusion, inconclusive ones too."""
        names = Finding.__dataclass_fields__
        return [Finding(**{name: found.get(name) for name in names}) for found in self.document["findings"]]

    @cached_property
    def advice(self) -> list[Advice]:
        """Recommendations."""
        return [Advice(a["sentence"], a.get("why"), a.get("findings", [])) for a in self.document["advice"]]

    def finding(self, name: str, **conditions: Value) -> Finding:
        """The one finding of this name and these conditions: `run.finding("max_iops", op="read")`."""
        found = [f for f in self.findings if f.name == name]
        if not found:
            known = sorted({f.name for f in self.findings})
            raise KeyError(f"this run has no finding {name!r}; it has {', '.join(known)}")
        kept = [f for f in found if all(f.conditions.get(key) == value for key, value in conditions.items())]
        if len(kept) != 1:
            choice = "; ".join(str(dict(f.conditions)) for f in found)
            raise KeyError(f"{len(kept)} findings {name!r} have the conditions {conditions}; there are {choice}")
        return kept[0]

    @property
    def charts(self) -> list[str]:
        """Names of the charts that this run can draw."""
        from ._charts import CHARTS

        return [chart.name for chart in CHARTS if chart.series(self)]

    def plot(self, chart: str | None = None, ax: Axes | None = None) -> Axes:
        """Draws a chart of the report with matplotlib; without a name, the first of `charts`."""
        from ._charts import draw

        return draw(self, chart, ax)

    def _points(self) -> Iterator[Row]:
        about = ("id", "experiment", "planned", "trials", "invalid", "closed")
        for point in self.document["points"]:
            head = {"point" if name == "id" else name: point.get(name) for name in about}
            for op in (*OPERATIONS, "commit"):
                if point.get(op):
                    yield {**head, **flat(point["spec"]), "op": op, **estimates(point[op])}

    def _directions(self, cells: Any) -> Iterator[Row]:
        verdicts = self._worst()
        about = ("id", "experiment", "point", "round", "phase", "started_at", "started_s", "elapsed_s", "measured_s")
        for trial in self.document["trials"]:
            head = {"trial" if name == "id" else name: trial.get(name) for name in about}
            for op in OPERATIONS:
                if trial.get(op):
                    whole = {"in_flight_mean": trial.get("in_flight_mean"), "verdict": verdicts.get(trial["id"], "pass")}
                    yield {**head, **flat(trial["spec"]), "op": op, **cells(trial, op), **whole}

    def _worst(self) -> dict[int, str]:
        worst: dict[int, str] = {}
        for verdict in self.document["verdicts"]:
            trial = verdict.get("trial")
            if verdict["scope"] == "trial" and trial is not None:
                worst[trial] = max(worst.get(trial, "pass"), verdict["verdict"], key=_WORST.index)
        return worst

    def _windows(self) -> Iterator[Row]:
        for trial in self.document["trials"]:
            for window in trial.get("windows") or []:
                for op in OPERATIONS:
                    if window.get(op):
                        length_s = window["length_s"]
                        head = {"trial": trial["id"], "start_s": window["start_s"], "length_s": length_s, "op": op}
                        rates = {"iops": window[op]["ios"] / length_s, "bytes_per_s": window[op]["bytes"] / length_s}
                        yield {**head, **flat(window[op]), **(rates if length_s else {})}

    def _histograms(self) -> Iterator[Row]:
        for trial in self.document["trials"]:
            for op in OPERATIONS:
                for upper_ns, requests in (trial.get(op) or {}).get("histogram") or []:
                    yield {"trial": trial["id"], "op": op, "upper_ns": upper_ns, "requests": requests}


class Comparison:
    """Several runs, workload by workload."""

    def __init__(self, document: Mapping[str, Any], exit_code: int = 0) -> None:
        self.document = document
        self.exit_code = exit_code

    @cached_property
    def comparisons(self) -> Table:
        """Each workload and figure: both sides, their ratio with its interval, and the verdict."""
        return Table(flat(line) for line in self.document["comparisons"])


def _result(result: Mapping[str, Any]) -> dict[str, Value]:
    return flat({name: value for name, value in result.items() if name not in ("histogram", "commit")})
