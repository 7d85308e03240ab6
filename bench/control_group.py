"""A control group of our own that limits one disk: version 1 (`blkio.throttle`) or version 2 (`io.max`)."""

import os
import signal
import sys

ROOT = "/sys/fs/cgroup"
# Names of version 2 by those of version 1.
KEYS = {"read_iops": ("riops", "read_iops_device"), "write_iops": ("wiops", "write_iops_device"),
        "read_bytes": ("rbps", "read_bps_device"), "write_bytes": ("wbps", "write_bps_device")}


def disk(folder):
    """MAJOR:MINOR of the whole disk below a folder."""
    number = os.stat(folder).st_dev
    own = os.path.realpath(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not os.path.exists(own):
        sys.exit(f"{folder} is not on a block device")
    # Limits hold for whole disks, not for partitions.
    whole = os.path.dirname(own) if os.path.exists(os.path.join(own, "partition")) else own
    with open(os.path.join(whole, "dev"), encoding="ascii") as file:
        return file.read().strip()


class ControlGroup:
    """Made on entry, empty and removed on exit."""

    def __init__(self, folder):
        self.disk = disk(folder)
        self.is_first = os.path.isdir(f"{ROOT}/blkio")
        parent = f"{ROOT}/blkio" if self.is_first else ROOT
        self.path = f"{parent}/iosonde-bench-{os.getpid()}"

    def __enter__(self):
        # Ended early, it goes through __exit__ as well.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
        try:
            os.mkdir(self.path)
        except OSError as error:
            sys.exit(f"no control group can be made here: {error}")
        if not self.is_first and not os.path.exists(f"{self.path}/io.max"):
            os.rmdir(self.path)
            sys.exit(f"the io controller is not enabled: echo +io > {ROOT}/cgroup.subtree_control")
        return self

    def __exit__(self, *_):
        os.rmdir(self.path)

    def enter(self):
        """Moves the calling process into the group."""
        with open(f"{self.path}/cgroup.procs", "w", encoding="ascii") as file:
            file.write("0")

    def limit(self, **limits):
        """Sets these limits (`read_iops`, `write_bytes`, ..) and lifts all others."""
        for name, (second, first) in KEYS.items():
            value = limits.get(name)
            if self.is_first:
                self._write(f"blkio.throttle.{first}", f"{self.disk} {value or 0}")
            else:
                self._write("io.max", f"{self.disk} {second}={value or 'max'}")

    def _write(self, name, text):
        with open(os.path.join(self.path, name), "w", encoding="ascii") as file:
            file.write(text)
