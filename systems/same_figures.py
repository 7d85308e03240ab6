"""Compares two runs of one simulated device from one seed: all figures are the same, but for the machine's own section,
dates, the command, and the last digits of what the mathematical functions of two C libraries gave (1 in 10^9)."""

import json
import sys

OWN = {"host", "command", "id", "started_at", "iosonde"}


def differences(one, other, path):
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(set(one) | set(other)):
            if key not in OWN:
                yield from differences(one.get(key), other.get(key), f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other)):
            yield from differences(left, right, f"{path}[{at}]")
    elif isinstance(one, float) and isinstance(other, float):
        if abs(one - other) > 1e-9 * max(abs(one), abs(other)):
            yield f"{path}: {one} and {other}"
    elif one != other:
        yield f"{path}: {one} and {other}"


found = list(differences(*(json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3]), "run"))
print("\n".join(found[:20]))
sys.exit(bool(found))
