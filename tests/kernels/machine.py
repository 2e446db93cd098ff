"""A boot: QEMU without KVM, one kernel, one initrd; the guest's lines as they come, its console in a file."""

import json
import selectors
import subprocess
import threading
import time

# Nothing from a guest for this long, and it hangs. A check has limits of its own, which are shorter.
SILENCE_S = 600


class Machine:
    """What QEMU is told."""

    def __init__(self, arch, cpu, memory_mib, smp):
        self.arch, self.cpu, self.memory_mib, self.smp = arch, cpu, memory_mib, smp

    @property
    def program(self):
        """QEMU's program for this architecture."""
        return {"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64"}[self.arch]

    def command(self, kernel, initrd, arguments, console):
        """The command line. The console goes to a file, the guest's lines to standard output."""
        ports = ["-chardev", f"file,id=console,path={console}", "-chardev", "stdio,id=lines,signal=off"]
        if self.arch == "amd64":
            board, tty = ["-M", "q35,pit=off"], "ttyS0"
            # The emulator's time stamp counter is the host's, and reading its HPET costs thousands of times as much. On a busy host
            # the PIT, which old kernels ask for the counter's pace, is late by a factor: without it they ask the HPET.
            arguments = f"tsc=reliable {arguments}"
            ports += ["-serial", "chardev:console", "-serial", "chardev:lines"]
        else:
            board, tty = ["-M", "virt"], "ttyAMA0"
            ports += ["-serial", "chardev:console", "-device", "pci-serial,chardev=lines"]
        # One thread for all CPUs of the guest. With several, QEMU 7.2 lost interrupts between CPUs while the kernel patched its
        # code, and so hung or killed kernels from 6.1 on.
        return [
            self.program, *board, "-accel", "tcg,thread=single", "-cpu", self.cpu, "-smp", self.smp, "-m", str(self.memory_mib),
            "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none", "-no-reboot", *ports,
            "-kernel", str(kernel), "-initrd", str(initrd), "-append", f"console={tty} panic=-1 {arguments}".strip(),
        ]  # fmt: skip

    @property
    def port(self):
        """The device in the guest that its lines go to."""
        return {"amd64": "/dev/ttyS1", "arm64": "/dev/ttyS0"}[self.arch]


class Running:
    """The guests that run, for whoever ends them all."""

    def __init__(self):
        self.lock, self.processes, self.ended = threading.Lock(), set(), False

    def start(self, command):
        """Starts one; none any more once all have been ended."""
        with self.lock:
            if self.ended:
                raise InterruptedError
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.processes.add(process)
            return process

    def over(self, process):
        """It is not to be killed any more."""
        with self.lock:
            self.processes.discard(process)

    def end(self):
        """Kills them."""
        with self.lock:
            self.ended = True
            for process in self.processes:
                process.kill()


RUNNING = Running()


def boot(command, limit_s, log, on_line):
    """Boots, gives every line that is JSON to `on_line`, all to `log`, and returns how it ended: None for well, else a sentence."""
    began = last = time.monotonic()
    whole, rest = False, b""
    with RUNNING.start(command) as process:
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                while True:
                    left = min(limit_s - (time.monotonic() - began), SILENCE_S - (time.monotonic() - last))
                    if left <= 0:
                        return "the guest ended its checks and does not power off" if whole else "the guest hangs"
                    if not selector.select(left):
                        continue
                    chunk = process.stdout.read1(65536)
                    if not chunk:
                        break
                    last = time.monotonic()
                    log.write(chunk)
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        found = parsed(line)
                        whole = whole or bool(found and found.get("end"))
                        if found:
                            on_line(found)
            status = process.wait()
            if RUNNING.ended:
                raise InterruptedError
            if status != 0:
                said = process.stderr.read().decode(errors="replace").strip().splitlines()
                return f"QEMU ended with status {status}: {'; '.join(said[-2:])}"
            return None if whole else "the guest ended before its checks were done"
        finally:
            if process.poll() is None:
                process.kill()
            RUNNING.over(process)


def parsed(line):
    """A line of the guest; None for what is none (firmware and noise)."""
    try:
        found = json.loads(line.decode(errors="replace"))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def last_lines(console, count=12):
    """The end of what the kernel printed, with a panic in it if there was one."""
    try:
        lines = console.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    lines = [line.strip() for line in lines if line.strip()]
    panic = next((i for i, line in enumerate(lines) if "Kernel panic" in line), None)
    return lines[-count:] if panic is None else lines[max(0, panic - 3) : panic + count]
