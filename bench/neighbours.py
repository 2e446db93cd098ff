"""A noisy neighbour on every CPU: it computes and sleeps in bursts of random length."""

import os
import random
import subprocess
import sys
import time

LONGEST_BURST_S = 0.5


class Neighbours:
    """One noisy neighbour a CPU, or on the first `cpus` of them, as long as the `with` block lasts."""

    def __init__(self, seed, cpus=None):
        self.seed = seed
        self.cpus = cpus
        self.processes = []

    def __enter__(self):
        for cpu in sorted(os.sched_getaffinity(0))[: self.cpus]:
            words = [sys.executable, __file__, str(cpu), str(self.seed + cpu), str(os.getpid())]
            # In a session of its own, as another user's work is: the scheduler shares the CPUs out by session.
            self.processes.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True))
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()

    def all_run(self):
        """Whether none has ended: a trial beside a dead neighbour is a trial of something else."""
        return all(process.poll() is None for process in self.processes)


def burn(cpu, seed, parent):
    """A neighbour. It ends with its parent, whatever ended that: nobody is left to end it then."""
    os.sched_setaffinity(0, {cpu})
    bursts = random.Random(seed)
    while os.getppid() == parent:
        until = time.monotonic() + bursts.uniform(0.01, LONGEST_BURST_S)
        while time.monotonic() < until:
            pass
        time.sleep(bursts.uniform(0.01, LONGEST_BURST_S))


if __name__ == "__main__":
    burn(*map(int, sys.argv[1:]))
