"""Compares two runs of one simulated device from one seed: what was measured (the trials) is the same to the last bit, but
for dates. What was computed of it may differ in the last digits, which two C libraries' mathematical functions give
(1 in 10^9); the machine's own section and the command are its own."""

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
        allowed = 0 if path.startswith("run.trials") else 1e-9
        if abs(one - other) > allowed * max(abs(one), abs(other)):
            yield f"{path}: {one} and {other}"
    elif one != other:
        yield f"{path}: {one} and {other}"


found = list(differences(*(json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3]), "run"))
print("\n".join(found[:20]))
sys.exit(bool(found))
