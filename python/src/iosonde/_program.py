"""Starts the program, and turns its errors into exceptions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from typing import Any, Sequence

DONE_CODES = (0, 3, 4)
"""Exit codes with a result: done; done with a failed requirement or a warning under `strict`; inconclusive."""


class IosondeError(Exception):
    """The program ended without a result. The text is its own message; `exit_code` is its exit code (1: the run failed,
    2: bad usage, 130: interrupted and saved), or `None` where it did not start."""

    def __init__(self, message: str, exit_code: int | None, command: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.command = list(command)


def find() -> str:
    """Path of the program: the environment variable IOSONDE, this installation's scripts folder, or the PATH."""
    named = os.environ.get("IOSONDE")
    if named:
        return named
    schemes = [sysconfig.get_default_scheme()]
    # `pip install --user` has a folder of its own.
    schemes += [name for name in sysconfig.get_scheme_names() if name in ("posix_user", "osx_framework_user")]
    for scheme in schemes:
        path = os.path.join(sysconfig.get_path("scripts", scheme), "iosonde")
        if os.access(path, os.X_OK) and not _is_script(path):
            return path
    # `pip install --target FOLDER` puts it beside the package.
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "iosonde")
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("iosonde")
    if found is None:
        raise IosondeError(
            "the program `iosonde` is not installed: it is neither in this Python's scripts folder nor on the PATH; "
            "install it, or name it in the environment variable IOSONDE",
            None,
        )
    return found


def _is_script(path: str) -> bool:
    """True for a text with an interpreter, which would start Python again."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def call(arguments: Sequence[str]) -> tuple[str, int]:
    """Standard output and exit code of the program. Raises its own message where there is no result."""
    command = [find(), *arguments]
    try:
        started = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
        )
    except OSError as error:
        raise IosondeError(f"{command[0]} does not start: {error.strerror}", None, command) from error
    try:
        out, messages = started.communicate()
    except BaseException:
        _end(started)
        raise
    if started.returncode in DONE_CODES:
        if messages:
            print(messages, end="", file=sys.stderr)
        return out, started.returncode
    raise IosondeError(_without_name(messages, started.returncode), started.returncode, command)


def document(arguments: Sequence[str]) -> tuple[dict[str, Any], int]:
    """The JSON document that the program prints, and its exit code."""
    out, exit_code = call(arguments)
    try:
        read = json.loads(out)
    except ValueError as error:
        raise IosondeError(f"the program's JSON cannot be read: {error}", exit_code, arguments) from error
    if not isinstance(read, dict):
        raise IosondeError("the program's JSON is not a document", exit_code, arguments)
    return read, exit_code


def _end(started: subprocess.Popen[str]) -> None:
    """Lets an interrupted run save what it has. A terminal interrupts the program too, a notebook may not; a second
    Ctrl-C would end it at once, SIGTERM asks it once more to save."""
    try:
        started.communicate(timeout=1)
    except subprocess.TimeoutExpired:
        started.terminate()
        started.communicate()


def _without_name(messages: str, exit_code: int) -> str:
    text = messages.strip().removeprefix("iosonde: ")
    if text:
        return text
    if exit_code < 0:
        return f"the program was ended by signal {-exit_code}; what it measured is kept, and `iosonde resume` goes on"
    return f"the program ended with exit code {exit_code} and said nothing"
