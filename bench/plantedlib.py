"""The set-up of bench/causes: builds the programs of planted/, makes the files, starts what is to disturb, puts commands together.

Everything is gone when the `with` ends: processes, cgroups, files.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent / "planted"
PAIRS = HERE / "pairs.json"
DATA_BYTES = 48 << 20
# How many times as large the file `large` is.
LARGE = 4
LIBRARIES = 60
FUNCTIONS = 150
CGROUP_V1 = Path("/sys/fs/cgroup/cpu")
CGROUP_V2 = Path("/sys/fs/cgroup")
PERIOD_US = 20_000


def pairs():
    """All pairs, as the table says."""
    return json.loads(PAIRS.read_text(encoding="utf-8"))


def compile_c(directory, name, text, *options):
    """Compiles this text into the directory."""
    source = directory / f"{name}.c"
    source.write_text(text, encoding="utf-8")
    words = ["gcc", "-O1", "-o", str(directory / name), str(source), *options]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} failed\n{done.stderr.strip()}")


def heavy_program(directory):
    """`heavy`, which the dynamic loader has much to do with: many libraries, each with a table of functions to relocate.

    `light` is the same program without them.
    """
    main = "int main(void) { return 0; }\n"
    compile_c(directory, "light", main)
    names = []
    for i in range(LIBRARIES):
        functions = "".join(f"int f{i}_{j}(void) {{ return {j}; }}\n" for j in range(FUNCTIONS))
        table = ", ".join(f"f{i}_{j}" for j in range(FUNCTIONS))
        compile_c(directory, f"libheavy{i}.so", f"{functions}int (*table{i}[])(void) = {{{table}}};\n", "-shared", "-fPIC")
        names.append(f"-lheavy{i}")
    compile_c(directory, "heavy", main, f"-L{directory}", f"-Wl,-rpath,{directory}", "-Wl,--no-as-needed", "-Wl,-z,now", *names)


class Planted:
    """The planted causes, ready to run. A context manager."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="whyfaster-causes-"))
        self.directory.chmod(0o755)
        self.bin = self.directory / "bin"
        self.bin.mkdir()
        self.cpus = sorted(os.sched_getaffinity(0))
        self.beside = []
        self.cgroups = []
        self.port = None
        self.missing = {}

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def build(self):
        """Programs, files, cgroups."""
        for source in sorted(HERE.glob("*.c")):
            compile_c(self.bin, source.stem, source.read_text(encoding="utf-8"), f"-I{HERE}", "-lpthread")
        heavy_program(self.bin)
        block = bytes(range(256)) * 4096
        for name, size in (("data", DATA_BYTES), ("large", LARGE * DATA_BYTES)):
            with (self.directory / name).open("wb") as file:
                for _ in range(size // len(block)):
                    file.write(block)
                file.flush()
                os.fsync(file.fileno())
        # Whoever the commands run as writes here.
        self.directory.chmod(0o1777)
        self.turns_per_ms = self.calibrate()
        if on_memory(self.directory):
            self.missing["disk"] = f"{self.directory} is not on a disk; set TMPDIR to a directory that is"
        try:
            self.make_cgroups()
        except OSError as error:
            self.missing["cgroup"] = f"no cgroup with a quota can be made: {error}"
        if len(self.cpus) < 2:
            self.missing["two CPUs"] = "only one CPU is allowed"

    def calibrate(self):
        """Turns of the loop of `spin` in a millisecond: the best of some tries."""
        turns = 20_000_000
        best = min(timed([self.bin / "spin", str(turns)]) for _ in range(7))
        return turns / (best * 1000)

    def make_cgroups(self):
        """One cgroup with half a CPU, one without a limit; a command joins one by writing to {dir}/cgroup.NAME."""
        old = (CGROUP_V1 / "cpu.cfs_quota_us").exists()
        base = (CGROUP_V1 if old else CGROUP_V2) / f"whyfaster-causes-{os.getpid()}"
        if not old and "cpu" not in (CGROUP_V2 / "cgroup.subtree_control").read_text(encoding="ascii").split():
            raise OSError("the controller cpu is not handed down at the root of the cgroups")
        for name, quota in (("whole", -1), ("half", PERIOD_US // 2)):
            group = base.with_name(f"{base.name}-{name}")
            group.mkdir()
            self.cgroups.append(group)
            if old:
                (group / "cpu.cfs_period_us").write_text(str(PERIOD_US), encoding="ascii")
                (group / "cpu.cfs_quota_us").write_text(str(quota), encoding="ascii")
            else:
                (group / "cpu.max").write_text(f"{'max' if quota < 0 else quota} {PERIOD_US}", encoding="ascii")
            (self.directory / f"cgroup.{name}").symlink_to(group / "cgroup.procs")

    def why_not(self, pair):
        """Why a pair cannot run here; None if it can."""
        if pair.get("cause") in ("misplacement", "overlap", "lock") and "two CPUs" in self.missing:
            return self.missing["two CPUs"]
        return self.missing.get(pair.get("needs"))

    def command(self, text):
        """A command of the table with this machine's numbers in it."""
        def value(match):
            word, _, of = match.group(1).partition(":")
            if word == "spin":
                return str(max(1, round(float(of) * self.turns_per_ms)))
            if word == "dead":
                return ":".join(f"/no/such/directory/{i}" for i in range(int(of)))
            if word == "cpu":
                return str(self.cpus[int(of)])
            # The interpreter itself: `python3` on PATH may be a script that looks for one.
            plain = {"bin": self.bin, "dir": self.directory, "python": os.path.realpath(sys.executable), "port": self.port, "cpus": " ".join(map(str, self.cpus))}
            return str(plain[word])

        return re.sub(r"\{(bin|dir|python|port|cpus|spin:[\d.]+|dead:\d+|cpu:\d+)\}", value, text)

    def start(self, what):
        """Starts what the pair needs beside it, from sessions of their own."""
        if what == "hogs":
            for cpu in self.cpus:
                fifo = self.directory / f"hog.{cpu}"
                os.mkfifo(fifo)
                fifo.chmod(0o666)
                self.spawn("hog", str(cpu), str(fifo))
        elif what == "steady hog":
            self.spawn("hog", str(self.cpus[0]))
        elif what == "server":
            file = self.directory / "port"
            self.spawn("net", "serve", str(file))
            self.port = int(wait_for(file))

    def spawn(self, program, *words):
        self.beside.append(subprocess.Popen([self.bin / program, *words], stdin=subprocess.DEVNULL, start_new_session=True))

    def stop(self):
        """Ends what `start` started."""
        for process in self.beside:
            process.kill()
            process.wait()
        self.beside.clear()
        for left in [*self.directory.glob("hog.*"), self.directory / "port"]:
            left.unlink(missing_ok=True)

    def remove(self):
        """Leaves nothing behind."""
        self.stop()
        for group in self.cgroups:
            for _ in range(50):
                try:
                    group.rmdir()
                    break
                except OSError:
                    time.sleep(0.02)
        shutil.rmtree(self.directory, ignore_errors=True)


def wait_for(file):
    """What is in the file, once there is something."""
    for _ in range(500):
        if file.exists() and (text := file.read_text(encoding="ascii")).endswith("\n"):
            return text
        time.sleep(0.01)
    sys.exit(f"nothing was written to {file}")


def timed(words):
    """Seconds that a command takes."""
    began = time.monotonic()
    subprocess.run(words, check=True)
    return time.monotonic() - began


def on_memory(directory):
    """Whether the file system of a directory has no disk below it."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    below = [m for m in mounts if Path(m[1]) == directory or Path(m[1]) in directory.parents]
    return max(below, key=lambda m: len(m[1]), default=["", "", ""])[2] in ("tmpfs", "ramfs")
