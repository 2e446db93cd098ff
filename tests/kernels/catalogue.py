"""What is booted: kernels with all checks, and conditions on one kernel with the checks that they bear on."""

import dataclasses

from machine import Machine

# Every check of guest/checks, in its order, and what it reports on.
REPORTS = {
    "facts": ("facts",),
    "doctor": ("doctor",),
    "strace": ("strace",),
    "trace_auto": ("trace auto",),
    "trace_full": ("trace full",),
    "trace_ptrace": ("trace ptrace",),
    "trace_unprivileged": ("trace unprivileged",),
    "trace_rusage": ("trace rusage",),
    "compare_why": ("compare --why",),
    "compare_load": ("compare --load 4",),
    "prices": ("prices --quick",),
    "interrupt": ("Ctrl-C compare", "Ctrl-C trace", "Ctrl-C prices"),
    "user": ("user doctor", "user trace", "user compare"),
    "capable": ("capable trace", "capable follow"),
}
ALL = tuple(REPORTS)
# Under a condition. Where the full level is what trace has by itself, it is not asked for once more.
LEVELS = ("facts", "doctor", "strace", "trace_auto", "trace_ptrace", "trace_unprivileged", "trace_rusage")
BRIEF = (*LEVELS, "compare_why", "user")

# What `docker run` leaves to root of a container without --cap-add or --privileged:
# https://docs.docker.com/engine/containers/run/#runtime-privilege-and-linux-capabilities
DOCKER_CAPABILITIES = (
    "chown dac_override fsetid fowner mknod net_raw setgid setuid setfcap setpcap net_bind_service sys_chroot kill audit_write"
)


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel as `whyfaster prices --inside qemu:...` names it."""

    words: str
    full: bool = True  # whether the full level must be there
    arch: str = "amd64"

    @property
    def cpu(self):
        """What is emulated: all, but for cmpxchg16b. QEMU 7.2 now and then spoils the flags after it, a double fault in the kernel's
        allocator. From 6.18 on kernels have memory for BPF programs only with it (kmalloc_nolock)."""
        version = tuple(int(part) for part in self.words.rpartition(":")[2].split(".")[:2])
        return "max,-cx16" if self.arch == "amd64" and version < (6, 18) else "max"


@dataclasses.dataclass(frozen=True)
class Condition:
    """What is different from an ordinary boot."""

    name: str
    about: str
    full: bool = True  # whether root must have the full level
    checks: tuple = BRIEF
    arguments: str = ""  # of the kernel
    smp: str = "2"
    cpus: int = 2  # online in the end
    settings: tuple = ()  # what the guest sets up, over ORDINARY
    kernel: str = ""  # instead of the one that the conditions are tried on


ORDINARY = {"TRACEFS": "yes", "CGROUP": "v2", "BTF": "yes", "OFFLINE": "", "SYSCTL": "", "CONTAINER": "no", "CAPABILITIES": ""}

KERNELS = (
    Kernel("ubuntu:5.4", full=False),
    Kernel("ubuntu:5.15"),
    Kernel("debian:6.1"),
    Kernel("ubuntu:6.8"),
    Kernel("debian:6.12"),
    Kernel("debian:7.2"),
    Kernel("debian-arm64:6.1", arch="arm64"),
)
# Conditions are tried on this kernel.
USUAL = "debian:6.1"

CONDITIONS = (
    Condition("bpf-forbidden", "kernel.unprivileged_bpf_disabled=2", settings=(("SYSCTL", "kernel.unprivileged_bpf_disabled=2"),)),
    Condition("lockdown-integrity", "lockdown=integrity", arguments="lockdown=integrity"),
    Condition("lockdown-confidentiality", "lockdown=confidentiality", full=False, arguments="lockdown=confidentiality"),
    Condition("no-btf", "no /sys/kernel/btf", full=False, settings=(("BTF", "no"),)),
    Condition("no-tracefs", "tracefs not mounted", settings=(("TRACEFS", "no"),)),
    Condition("cgroup-v1", "control groups of version 1", checks=(*BRIEF, "compare_load"), settings=(("CGROUP", "v1"),)),
    Condition("cgroup-none", "no control groups mounted", checks=(*BRIEF, "compare_load"), settings=(("CGROUP", "none"),)),
    Condition(
        "docker",
        "Docker's default seccomp filter and capabilities",
        full=False,
        checks=(*LEVELS, "compare_why", "compare_load"),
        settings=(("CONTAINER", "yes"), ("CAPABILITIES", DOCKER_CAPABILITIES)),
    ),
    Condition(
        "docker-capable",
        "the same with --cap-add BPF --cap-add PERFMON",
        checks=(*LEVELS, "compare_why"),
        settings=(("CONTAINER", "yes"), ("CAPABILITIES", f"{DOCKER_CAPABILITIES} bpf perfmon")),
    ),
    Condition("one-cpu", "1 CPU", checks=(*BRIEF, "compare_load"), smp="1", cpus=1),
    Condition(
        "smt-offline",
        "8 CPUs, 2 a core, 2 of them offline",
        checks=(*BRIEF, "compare_load"),
        smp="8,sockets=1,cores=4,threads=2",
        cpus=6,
        settings=(("OFFLINE", "5 7"),),
    ),
    Condition("autogroup", "kernel.sched_autogroup_enabled=1", settings=(("SYSCTL", "kernel.sched_autogroup_enabled=1"),)),
    Condition("no-autogroup", "noautogroup", checks=(*BRIEF, "compare_load"), arguments="noautogroup"),
    Condition("preempt-rt", "PREEMPT_RT", checks=(*BRIEF, "compare_load", "interrupt"), kernel="debian-rt:6.1"),
)


@dataclasses.dataclass(frozen=True)
class Boot:
    """One start of QEMU."""

    kernel: Kernel
    condition: Condition
    only: tuple = ()  # of the condition's checks; empty: all

    @property
    def name(self):
        """Of its directory and row."""
        return self.kernel.words if not self.condition.name else f"{self.kernel.words}+{self.condition.name}"

    @property
    def full(self):
        """Whether root must have the full level here."""
        return self.kernel.full and self.condition.full

    def machine(self):
        """What QEMU is told."""
        memory = 2048 if "," in self.condition.smp else 1536
        return Machine(self.kernel.arch, self.kernel.cpu, memory, self.condition.smp)

    def settings(self):
        """What guest/init and guest/checks read."""
        values = dict(ORDINARY)
        values.update(self.condition.settings)
        return values | {"PORT": self.machine().port, "CHECKS": " ".join(self.checks)}

    @property
    def checks(self):
        """The checks of this boot, in their order."""
        made = {*self.condition.checks, *(() if self.full else ("trace_full",))}
        return [check for check in ALL if check in made and (not self.only or check in self.only)]


NOTHING = Condition("", "an ordinary boot", checks=ALL)


def boots(kernels, conditions, only=()):
    """The boots that were asked for, kernels first. A name that is unknown raises KeyError."""
    known = {kernel.words: kernel for kernel in KERNELS}
    named = {condition.name: condition for condition in CONDITIONS}
    found = [Boot(known.get(words) or other(words), NOTHING, tuple(only)) for words in kernels]
    for name in conditions:
        condition = named[name]
        found.append(Boot(other(condition.kernel or USUAL), condition, tuple(only)))
    return found


def other(words):
    """A kernel that is in no list, such as debian:6.16: the full level is expected of it."""
    name = words.partition(":")[0]
    return Kernel(words, arch="arm64" if name.endswith("-arm64") else "amd64")
