"""The package's functions: one for each command that gives a document."""

from __future__ import annotations

from typing import Sequence, Union

from ._program import call, document, find
from ._run import Comparison, Run

Option = Union[str, int, float, bool, None, Sequence[Union[str, int, float]]]
"""An option's value: True for one without a value, a list for one that may be repeated, None for left out."""


def run(study: str, target: str, **options: Option) -> Run:
    """Runs a study on a target, as `iosonde run STUDY TARGET` does, and returns its result.

    Options are those of the command, with `_` for `-`: `time="5m"`, `seed=1`, `read_only=True`, `set=["depth=1,4"]`.
    The program keeps the run in its notebook and writes its report, here or to `out`."""
    return Run(*document(["run", study, target, "--json", "--quiet", *_words(options)]))


def point(target: str, **options: Option) -> Run:
    """Runs one workload once, as `iosonde point TARGET` does: `point("./", rw="randread", bs="4k", depth=32)`."""
    return Run(*document(["point", target, "--json", "--quiet", *_words(options)]))


def open(run: str = "last", store: str | None = None) -> Run:  # noqa: A001: iosonde.open, as gzip.open
    """Opens a kept run: an id or its start, a label, `last`, `last~1`, or a file of `iosonde export`."""
    return Run(*document(["show", run, "--json", *_words({"store": store})]))


def compare(a: str, b: str, *more: str, **options: Option) -> Comparison:
    """Compares kept runs point by point, as `iosonde compare` does."""
    return Comparison(*document(["compare", a, b, *more, "--json", *_words(options)]))


def program() -> str:
    """Path of the program."""
    return find()


def version() -> str:
    """Version of the program."""
    return call(["--version"])[0].split()[-1]


def _words(options: dict[str, Option]) -> list[str]:
    """Options as the program takes them. With `=`: a value may begin with a dash."""
    words: list[str] = []
    for name, value in options.items():
        if name in ("json", "quiet"):
            raise TypeError(f"{name} is set by this package")
        flag = "--" + name.rstrip("_").replace("_", "-")
        values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        for one in values:
            if one is True:
                words.append(flag)
            elif one is not None and one is not False:
                words.append(f"{flag}={one}")
    return words
