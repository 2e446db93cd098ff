"""Sends tasks through Celery. Results are not kept, so the end of the tasks is seen by what they write."""

import time

import ladder
from celery_tasks import task


def burst(tasks, nanoseconds):
    for _ in range(tasks):
        task.delay(nanoseconds)
    while not ladder.done(tasks):
        time.sleep(0.001)


ladder.serve(burst)
