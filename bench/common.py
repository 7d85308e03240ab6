"""What the bench scripts share: building iosonde, running programs, ratios with intervals."""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Two-sided 97.5 % quantiles of Student's t for 1..30 degrees of freedom (any table).
T_975 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
         2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


# Sections of simulated devices whose parameters a bench draws.
MEDIA = {
    "queue": """[link]
bandwidth = "{rate}MB/s"
latency = "50us"
[queue]
servers = {servers}
service = {{ lognormal = {{ mean = "{service}us", cv = 0.5 }} }}
""",
    "flash": """[link]
bandwidth = "{rate}MB/s"
latency = "60us"
[flash]
units = {servers}
page = "16KiB"
mapping_unit = "64KiB"
read = "100us"
program = "1.5ms"
erase = "3ms"
pages_per_block = 64
""",
    "disk": """[link]
bandwidth = "600MB/s"
latency = "50us"
[disk]
rpm = 7200
seek = {{ track = "0.6ms", average = "8.5ms" }}
outer = "{rate}MB/s"
inner = "{inner}MB/s"
cache = "64MiB"
queue = {{ slots = 32, policy = "sptf" }}
""",
}


def build():
    """Builds iosonde in release mode and returns its path; IOSONDE names another binary to use instead."""
    if "IOSONDE" in os.environ:
        return os.environ["IOSONDE"]
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    return os.path.join(target, "release", "iosonde")


def scratch_folder(asked):
    """A folder of our own under `asked`, removed at exit."""
    return tempfile.TemporaryDirectory(prefix="iosonde-bench-", dir=asked)


def fill(path, size_bytes):
    """Writes incompressible data through to the device."""
    block = 1 << 20
    with open(path, "wb", buffering=0) as file:
        for _ in range(size_bytes // block):
            file.write(os.urandom(block))
        os.fsync(file.fileno())


def point(binary, target, *options, store, prefix=()):
    """One trial of `iosonde point` as its JSON document; a prefix such as `taskset` goes before the program."""
    command = [*prefix, binary, "point", target, *options, "--json", "--quiet", "--store", store]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def fio(path, *options, prefix=()):
    """The first job of one fio run as JSON."""
    command = [*prefix, "fio", "--name=x", f"--filename={path}", "--output-format=json", *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["jobs"][0]


def ratio(ratios):
    """Median, and the 95 % interval of the mean log ratio."""
    logs = [math.log(r) for r in ratios]
    mean = statistics.fmean(logs)
    half = 0.0
    if len(logs) > 1:
        half = T_975[min(len(logs) - 2, 29)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return statistics.median(ratios), math.exp(mean - half), math.exp(mean + half)


def bound(wrong, trials):
    """Upper 95 % bound of a share of which `wrong` of `trials` were seen (Clopper-Pearson, by halving)."""
    def at_most(share):
        return sum(math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(wrong + 1))

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(middle) > 0.05 else (low, middle)
    return high


def say(text):
    """Progress goes to stderr, so that stdout holds the table alone."""
    print(text, file=sys.stderr, flush=True)
