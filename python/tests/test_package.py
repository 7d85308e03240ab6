"""The package against the program, on simulated devices. Needs the program (IOSONDE names it) and nothing else; tests of
frames and charts are skipped where pandas, polars or matplotlib is not installed."""

import contextlib
import importlib.util
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import iosonde

# 4 servers of 80 us: 4 / 80 us = 50,000 IOPS, 80 us at QD 1.
DEVICE = """
name = "four-servers"
summary = "four servers that take 80 us"
capacity = "1GiB"
[queue]
servers = 4
service = { fixed = "80us" }
"""


def needs(module):
    return unittest.skipUnless(importlib.util.find_spec(module), f"{module} is not installed")


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.folder = scratch.name
        cls.addClassCleanup(scratch.cleanup)
        here = os.getcwd()
        cls.addClassCleanup(os.chdir, here)
        os.chdir(cls.folder)
        cls.device = os.path.join(cls.folder, "device.toml")
        pathlib.Path(cls.device).write_text(DEVICE)
        os.environ["IOSONDE_STORE"] = os.path.join(cls.folder, "store.db")
        cls.run_ = iosonde.run("queue-depth", f"sim:{cls.device}", seed=7, time="20s", set=["rw=randread", "depth=1,4,16"])

    def test_points_carry_the_truth_with_units_in_their_names(self):
        [alone] = self.run_.points.where(op="read", queue_depth=1)
        self.assertAlmostEqual(alone["latency_ns_mean"], 80_000, delta=800)
        self.assertLessEqual(alone["latency_ns_mean_low"], alone["latency_ns_mean"])
        self.assertLessEqual(alone["latency_ns_mean"], alone["latency_ns_mean_high"])
        [busy] = self.run_.points.where(op="read", queue_depth=16)
        self.assertAlmostEqual(busy["iops"], 50_000, delta=500)
        self.assertEqual(busy["block_size_bytes"], 4096)

    def test_trials_windows_and_histograms_count_the_same_requests(self):
        trial = next(row for row in self.run_.trials if row["phase"] == "measure")
        histogram = self.run_.histograms.where(trial=trial["trial"], op="read")
        self.assertEqual(sum(row["requests"] for row in histogram), trial["ios"])
        windows = self.run_.windows.where(trial=trial["trial"], op="read")
        # The rest of the trial behind its last whole window has none.
        self.assertTrue(0 < sum(row["ios"] for row in windows) <= trial["ios"])
        self.assertEqual(trial["verdict"], "pass")

    def test_findings_are_objects_with_intervals(self):
        best = self.run_.finding("max_iops", op="read")
        self.assertEqual((best.status, best.unit), ("found", "IOPS"))
        self.assertLessEqual(best.low, best.high)
        self.assertAlmostEqual(best.value, 50_000, delta=500)
        with self.assertRaisesRegex(KeyError, "no finding 'fastest'.*max_iops"):
            self.run_.finding("fastest")

    def test_a_kept_run_is_the_same_run(self):
        again = iosonde.open(self.run_.id)
        self.assertEqual(list(again.points), list(self.run_.points))
        self.assertIn(iosonde.open().state, ("done", "interrupted"))

    def test_runs_compare(self):
        other = iosonde.run("queue-depth", f"sim:{self.device}", seed=8, time="20s", set=["rw=randread", "depth=1,4,16"])
        lines = iosonde.compare(self.run_.id, other.id).comparisons
        self.assertTrue(len(lines) > 0)
        self.assertEqual({row["verdict"] for row in lines} - {"same", "cannot tell", "not comparable"}, set())

    def test_one_workload(self):
        one = iosonde.point(f"sim:{self.device}", rw="randread", bs="4k", depth=4, time="2s")
        [row] = one.trials.where(phase="measure")
        self.assertAlmostEqual(row["iops"], 50_000, delta=500)

    def test_the_programs_own_message_is_in_the_exception(self):
        for call, code, words in [
            (lambda: iosonde.open("no-such-run"), 2, "holds no run `no-such-run`"),
            (lambda: iosonde.run("no-such-study", "sim:ideal"), 2, "no study or experiment named `no-such-study`"),
            (lambda: iosonde.run("quick", "/no/such/folder"), 2, "/no/such/folder does not exist"),
            (lambda: iosonde.run("quick", "sim:ideal", depht=4), 2, "--depht"),
        ]:
            with self.assertRaises(iosonde.IosondeError) as raised:
                call()
            self.assertEqual(raised.exception.exit_code, code)
            self.assertIn(words, str(raised.exception))
            self.assertFalse(str(raised.exception).startswith("iosonde:"))

    def test_strict_returns_the_run_with_its_exit_code(self):
        faulty = pathlib.Path(self.folder, "faulty.toml")
        # 1 of 500 requests fails: the check `errors` says so.
        faulty.write_text(DEVICE + '[faults]\neio = "2000 per million"\n')
        workload = {"rw": "randread", "depth": 4, "time": "2s", "seed": 1}
        told = iosonde.point(f"sim:{faulty}", strict=True, **workload)
        self.assertEqual(told.exit_code, 3)
        self.assertIn("errors", [row["check"] for row in told.verdicts if row["verdict"] in ("warning", "invalid")])
        self.assertEqual(iosonde.point(f"sim:{self.device}", strict=True, **workload).exit_code, 0)

    def test_no_file_of_a_user_is_replaced(self):
        mine = pathlib.Path(self.folder, "mine.html")
        mine.write_text("mine")
        with self.assertRaisesRegex(iosonde.IosondeError, "mine.html"):
            iosonde.run("quick", "sim:ideal", time="5s", out=str(mine))
        self.assertEqual(mine.read_text(), "mine")

    def test_options_of_the_package_are_not_the_users(self):
        with self.assertRaises(TypeError):
            iosonde.run("quick", "sim:ideal", json=True)

    def test_a_program_that_is_not_there(self):
        kept = os.environ.get("IOSONDE")
        os.environ["IOSONDE"] = "/no/such/iosonde"
        try:
            with self.assertRaises(iosonde.IosondeError) as raised:
                iosonde.version()
            self.assertIsNone(raised.exception.exit_code)
        finally:
            if kept is None:
                del os.environ["IOSONDE"]
            else:
                os.environ["IOSONDE"] = kept

    def test_python_dash_m_is_the_program(self):
        done = subprocess.run([sys.executable, "-m", "iosonde", "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), f"iosonde {iosonde.version()}")

    def test_an_interrupt_lets_the_program_keep_its_trials(self):
        folder = pathlib.Path(self.folder, "interrupted")
        folder.mkdir()
        code = f"import iosonde; iosonde.run('quick', {str(folder)!r}, size='16M', time='120s', store='cut.db')"
        # A group of its own, of which only Python gets the signal: a notebook's stop button.
        # A shell's background job has SIGINT ignored, and hands that on.
        python = subprocess.Popen(
            [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.addCleanup(python.kill)
        notebook = pathlib.Path("cut.db")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not kept_trials(notebook):
            time.sleep(0.2)
        python.send_signal(signal.SIGINT)
        self.assertIn("KeyboardInterrupt", python.communicate(timeout=60)[1])
        cut = iosonde.open(store="cut.db")
        self.assertEqual(cut.state, "interrupted")
        self.assertTrue(len(cut.trials) > 0)
        self.assertEqual(list(folder.iterdir()), [])

    def test_columns_of_all_rows_and_unknown_ones(self):
        table = iosonde.Table([{"a": 1}, {"b": None}])
        self.assertEqual(list(table), [{"a": 1, "b": None}, {"a": None, "b": None}])
        self.assertEqual(len(table[:1]), 1)
        with self.assertRaisesRegex(KeyError, "no column 'c'"):
            table.where(c=1)

    @needs("pandas")
    def test_pandas(self):
        frame = self.run_.points.to_pandas()
        self.assertEqual(list(frame.columns), self.run_.points.columns)
        self.assertAlmostEqual(frame.set_index("queue_depth").loc[16, "iops"], 50_000, delta=500)
        self.assertEqual(len(self.run_.trials.to_pandas()), len(self.run_.trials))

    @needs("polars")
    def test_polars(self):
        frame = self.run_.trials.to_polars()
        self.assertEqual((frame.height, frame.columns), (len(self.run_.trials), self.run_.trials.columns))

    @needs("matplotlib")
    def test_charts(self):
        import matplotlib

        matplotlib.use("Agg")
        self.assertIn("throughput-latency", self.run_.charts)
        for name in self.run_.charts:
            axes = self.run_.plot(name)
            self.assertTrue(axes.get_xlabel() and axes.get_ylabel())
            axes.figure.savefig(io.BytesIO())
        depth = self.run_.plot("rate-vs-depth").containers[0].lines[0]
        self.assertEqual(list(depth.get_xdata()), [1, 4, 16])
        with contextlib.suppress(KeyError):
            self.run_.plot("no-such-chart")
            self.fail("a chart that does not exist was drawn")


def kept_trials(notebook):
    """True once the notebook holds a trial."""
    if not notebook.exists():
        return False
    try:
        return len(iosonde.open(store=str(notebook)).trials) > 0
    except iosonde.IosondeError:
        return False


if __name__ == "__main__":
    unittest.main()
