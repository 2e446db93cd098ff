"""The guest's file system: Debian packages, the scripts of guest/, and the program under test.

mmdebstrap resolves and unpacks the packages with an apt state of its own: nothing is installed here, and no file of this
machine goes into the guest. What it made is kept as an archive, by architecture and list of packages.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SUITE = "trixie"
MIRROR = "http://deb.debian.org/debian"
PACKAGES = ("base-files", "bash", "coreutils", "dash", "diffutils", "grep", "jq", "mawk", "mount", "procps", "sed", "strace", "util-linux")
# What no check reads. The kernel unpacks the archive into memory at every boot.
LEFT_OUT = ("./usr/share/*/*", "./usr/lib/*/perl*", "./usr/lib/*/gconv", "./usr/lib/locale", "./var/*")
HERE = Path(__file__).resolve().parent


class Missing(Exception):
    """Something that the harness needs is not on this machine."""


def cache():
    """Where things are kept from run to run."""
    base = os.environ.get("TOOLS") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "whyfaster" / "tools"
    return Path(base) / "kernel-guests"


def run(words, **options):
    """Runs a command quietly; what it said is the message of its failure."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, **options)
    except FileNotFoundError as error:
        raise Missing(f"{words[0]} is missing (scripts/setup.sh kernels installs it)") from error
    if done.returncode != 0:
        said = (done.stderr or b"").decode(errors="replace").strip().splitlines()
        raise Missing(f"{words[0]} failed: {'; '.join(said[-3:])}")


def base(arch):
    """The archive of the packages for an architecture, as Debian calls it; made on first use."""
    key = hashlib.sha256(repr((SUITE, PACKAGES, LEFT_OUT)).encode()).hexdigest()[:12]
    kept = cache() / f"{arch}-{key}.cpio"
    if kept.is_file():
        return kept
    print(f"kernels: unpacking {len(PACKAGES)} packages of Debian {SUITE} for {arch} (once)", flush=True)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="whyfaster-kernels-") as work:
        tar, cpio = Path(work) / "root.tar", Path(work) / "root.cpio"
        packages = ["--variant=extract", f"--architectures={arch}", f"--include={','.join(PACKAGES)}"]
        run(["mmdebstrap", "--quiet", *packages, SUITE, str(tar), MIRROR])
        left_out = [word for pattern in LEFT_OUT for word in ("--exclude", pattern)]
        with cpio.open("wb") as file:
            run(["bsdtar", "-c", "-f", "-", "--format=newc", *left_out, f"@{tar}"], stdout=file)
        # Two runs may make it at once: each moves a whole file into place.
        part = kept.with_name(f"{kept.name}.{os.getpid()}")
        shutil.copyfile(cpio, part)
        part.rename(kept)
    return kept


def settings(values):
    """A file of shell variables."""
    quoted = {name: "'" + value.replace("'", "'\\''") + "'" for name, value in values.items()}
    return "".join(f"{name}={value}\n" for name, value in quoted.items())


def initrd(arch, whyfaster, values, files, target):
    """Writes the archive that the kernel unpacks: the packages, then ours (Linux takes archives one after another)."""
    with tempfile.TemporaryDirectory(prefix="whyfaster-kernels-") as work:
        root = Path(work)
        for directory in ("matrix", "proc", "sys", "dev", "tmp", "root", "usr/bin"):
            (root / directory).mkdir(parents=True)
        # mkdtemp closes it to others, and the archive's "." is the guest's "/".
        root.chmod(0o755)
        for source, name in ((HERE / "guest" / "init", "init"), (HERE / "guest" / "checks", "matrix/checks")):
            shutil.copyfile(source, root / name)
            (root / name).chmod(0o755)
        shutil.copyfile(whyfaster, root / "usr/bin/whyfaster")
        (root / "usr/bin/whyfaster").chmod(0o755)
        (root / "matrix/boot").write_text(settings(values), encoding="utf-8")
        for name, content in files.items():
            (root / "matrix" / name).write_bytes(content)
        with target.open("wb") as file:
            with base(arch).open("rb") as packages:
                shutil.copyfileobj(packages, file)
            file.write(b"\0" * (-file.tell() % 512))
            file.flush()
            run(["bsdtar", "-c", "-f", "-", "--format=newc", "--uid", "0", "--gid", "0", "-C", str(root), "."], stdout=file)
