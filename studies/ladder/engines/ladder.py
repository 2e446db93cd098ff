"""What the clients and workers in Python share: a task, and the client's side of the protocol (README.md of the study)."""

import os
import resource
import struct
import sys
import time

STAMPS = os.environ["LADDER_STAMPS"]
DIR = os.environ["LADDER_DIR"]
WORKERS = int(os.environ["LADDER_WORKERS"])
SIZE = 24


def task(nanoseconds):
    """Computes for so long, then appends when it began and ended, and its CPU time."""
    start = time.monotonic_ns()
    began = time.thread_time_ns()
    while time.thread_time_ns() - began < nanoseconds:
        pass
    stamp = struct.pack("=QQQ", start, time.monotonic_ns(), time.thread_time_ns() - began)
    file = os.open(STAMPS, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, stamp)
    finally:
        os.close(file)


def spent():
    """CPU nanoseconds of this process and of its dead children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return int(sum(one.ru_utime + one.ru_stime for one in used) * 1e9)


def done(tasks):
    """Whether so many tasks have written their stamps."""
    return os.stat(STAMPS).st_size >= tasks * SIZE


def serve(burst):
    """Hands out every burst that is asked for: burst(tasks, nanoseconds) returns when all are done."""
    print("ready", flush=True)
    for line in sys.stdin:
        tasks, nanoseconds = map(int, line.split())
        before, began = spent(), time.monotonic_ns()
        burst(tasks, nanoseconds)
        print("done", began, spent() - before, flush=True)
