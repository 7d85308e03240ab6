"""The report's charts, drawn with matplotlib. Each is one entry of CHARTS, under its name in the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable

from ._table import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._run import Run


@dataclass(frozen=True)
class Dot:
    """A figure at a place, with its intervals where it has them."""

    x: float
    y: float
    x_low: float | None = None
    x_high: float | None = None
    y_low: float | None = None
    y_high: float | None = None


@dataclass(frozen=True)
class Series:
    """Dots under one name."""

    name: str
    dots: list[Dot]
    joined: bool = True


@dataclass(frozen=True)
class Chart:
    """A chart: its name, its axes with units, and what it draws of a run; nothing where the run does not answer."""

    name: str
    x: str
    y: str
    series: Callable[[Run], list[Series]]
    log_x: bool = True
    log_y: bool = False


def draw(run: Run, name: str | None, ax: Axes | None) -> Axes:
    """Draws one chart into the axes, or into a figure of its own."""
    known = [chart.name for chart in CHARTS]
    if name is not None and name not in known:
        raise KeyError(f"there is no chart {name!r}; there are {', '.join(known)}")
    drawable = ((chart, chart.series(run)) for chart in CHARTS if name in (None, chart.name))
    found = next(((chart, series) for chart, series in drawable if series), None)
    if found is None:
        raise ValueError(f"run {run.id} ({run.study}) measured nothing that {name or 'a chart'} could show")
    chart, all_series = found
    if ax is None:
        import matplotlib.pyplot

        ax = matplotlib.pyplot.subplots(layout="constrained")[1]
    for series in all_series:
        _series(ax, series)
    ax.set(xlabel=chart.x, ylabel=chart.y, title=f"{run.study} on {run.target}")
    ax.set_xscale("log" if chart.log_x else "linear")
    ax.set_yscale("log" if chart.log_y else "linear")
    if not chart.log_y:
        ax.set_ylim(bottom=0)
    ax.grid(alpha=0.3)
    ax.legend()
    return ax


def _series(ax: Axes, series: Series) -> None:
    ax.errorbar(
        [dot.x for dot in series.dots],
        [dot.y for dot in series.dots],
        xerr=_bars([(dot.x, dot.x_low, dot.x_high) for dot in series.dots]),
        yerr=_bars([(dot.y, dot.y_low, dot.y_high) for dot in series.dots]),
        fmt="o-" if series.joined else "o",
        markersize=4,
        capsize=2,
        label=series.name,
    )


def _bars(figures: list[tuple[float, float | None, float | None]]) -> list[list[float]]:
    """Lengths below and above; 0 where there is no interval."""
    below = [max(0.0, value - low) if low is not None else 0.0 for value, low, _ in figures]
    above = [max(0.0, high - value) if high is not None else 0.0 for value, _, high in figures]
    return [below, above]


def _varying(run: Run, by: str, least: int, dot: Callable[[Row], Dot | None]) -> list[Series]:
    """Series of points that differ in one column only, at least so many, with the most first."""
    results = ("iops", "bytes_per_s", "latency_ns", "point", "experiment", "planned", "trials", "invalid", "closed", by)
    families: dict[tuple[object, ...], list[Row]] = {}
    for row in run.points:
        key = tuple(value for name, value in row.items() if not name.startswith(results))
        if row["op"] in ("read", "write") and row["read_percent"] is None and row[by] is not None:
            families.setdefault(key, []).append(row)
    found = []
    for rows in families.values():
        rows.sort(key=lambda row: _number(row[by]))
        dots = [made for made in map(dot, rows) if made is not None]
        if len(dots) >= least:
            found.append((len(dots), Series(_name(rows[0], by), dots)))
    return [series for _, series in sorted(found, key=lambda pair: -pair[0])]


def _name(row: Row, by: str) -> str:
    order = "random" if str(row["rw"]).startswith("rand") else "sequential"
    words = [order, f"{row['op']}s"]
    if by != "block_size_bytes":
        words.insert(0, size(int(_number(row["block_size_bytes"]))))
    if by != "queue_depth":
        words.append(f"at QD {row['queue_depth']}")
    return " ".join(words)


def size(size_bytes: int) -> str:
    """4096 as 4 KiB."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:g} {unit}"
    return f"{size_bytes} B"


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")


def _figure(row: Row, name: str, scale: float) -> tuple[float, float | None, float | None] | None:
    value, low, high = row.get(name), row.get(f"{name}_low"), row.get(f"{name}_high")
    if value is None:
        return None
    return (
        _number(value) * scale,
        None if low is None else _number(low) * scale,
        None if high is None else _number(high) * scale,
    )


def _against(by: str, figure: str, scale: float) -> Callable[[Run], list[Series]]:
    def dot(row: Row) -> Dot | None:
        y = _figure(row, figure, scale)
        return y and Dot(_number(row[by]), y[0], y_low=y[1], y_high=y[2])

    return lambda run: _varying(run, by, 3, dot)


def _throughput_latency(run: Run) -> list[Series]:
    def dot(row: Row) -> Dot | None:
        x, y = _figure(row, "iops", 1e-3), _figure(row, "latency_ns_mean", 1e-3)
        return x and y and Dot(x[0], y[0], x[1], x[2], y[1], y[2])

    return _varying(run, "queue_depth", 3, dot)


def _percentiles(run: Run) -> list[Series]:
    """Cumulative latency of each direction at its least and greatest queue depth, trials that are invalid left out."""
    invalid = {row["trial"] for row in run.trials if row["verdict"] == "invalid"}
    points: dict[object, list[Row]] = {}
    for family in ("read", "write"):
        rows = [row for row in run.points if row["op"] == family and row["read_percent"] is None]
        rows.sort(key=lambda row: _number(row["queue_depth"]))
        for row in (*rows[:1], *rows[1:][-1:]):
            points.setdefault(row["point"], []).append(row)
    trials = {row["trial"]: row["point"] for row in run.trials if row["phase"] == "measure"}
    counts: dict[tuple[object, object], dict[float, float]] = {}
    for bucket in run.histograms:
        of = trials.get(bucket["trial"])
        if of in points and bucket["trial"] not in invalid:
            own = counts.setdefault((of, bucket["op"]), {})
            upper = _number(bucket["upper_ns"])
            own[upper] = own.get(upper, 0.0) + _number(bucket["requests"])
    found = []
    for point, rows in points.items():
        for row in rows:
            own = counts.get((point, row["op"]), {})
            total, seen, dots = sum(own.values()), 0.0, []
            for upper in sorted(own):
                seen += own[upper]
                # Ten slower ones: fewer do not determine a percentile.
                if total - seen >= 10:
                    dots.append(Dot(1.0 / (1.0 - seen / total), upper / 1e3))
            if dots:
                found.append(Series(f"{_name(row, '')}", dots))
    return found


def _course(figure: str, scale: float) -> Callable[[Run], list[Series]]:
    """The canary over the run: one workload that every round measures."""

    def series(run: Run) -> list[Series]:
        rows = [row for row in run.trials if row["phase"] == "canary" and row.get(figure) is not None]
        dots = [Dot(_number(row["started_s"]), _number(row[figure]) * scale) for row in rows]
        return [Series(f"canary: {_name(rows[0], '')}", dots, joined=False)] if len(dots) > 2 else []

    return series


DEPTH, SIZE = "queue depth", "block size, bytes"
CHARTS = [
    Chart("throughput-latency", "IOPS, thousands", "mean latency, µs", _throughput_latency, log_x=False),
    Chart("rate-vs-depth", DEPTH, "IOPS, thousands", _against("queue_depth", "iops", 1e-3)),
    Chart("latency-vs-depth", DEPTH, "mean latency, µs", _against("queue_depth", "latency_ns_mean", 1e-3), log_y=True),
    Chart("throughput-vs-block-size", SIZE, "throughput, MB/s", _against("block_size_bytes", "bytes_per_s", 1e-6)),
    Chart("iops-vs-block-size", SIZE, "IOPS, thousands", _against("block_size_bytes", "iops", 1e-3)),
    Chart("latency-vs-block-size", SIZE, "mean latency, µs", _against("block_size_bytes", "latency_ns_mean", 1e-3)),
    Chart("latency-percentiles", "one request in .. is slower", "latency, µs", _percentiles, log_y=True),
    Chart("rate-over-time", "time since the run began, s", "IOPS, thousands", _course("iops", 1e-3), log_x=False),
    Chart("latency-over-time", "time since the run began, s", "mean latency, µs", _course("latency_ns_mean", 1e-3),
          log_x=False),
]
"""Every chart, those first that the report shows first."""
