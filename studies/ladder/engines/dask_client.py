"""Submits tasks to Dask and gathers their results."""

import os

import ladder
from dask.distributed import Client

client = Client("tcp://127.0.0.1:" + os.environ["LADDER_PORT"])


def burst(tasks, nanoseconds):
    client.gather([client.submit(ladder.task, nanoseconds, pure=False) for _ in range(tasks)])


ladder.serve(burst)
