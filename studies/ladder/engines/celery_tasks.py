"""The tasks of the Celery application, and its workers' word that they are ready."""

import os

import celery
from celery.signals import worker_ready

import ladder

app = celery.Celery("celery_tasks", broker="redis+socket://" + ladder.DIR + "/redis.sock")
app.conf.update(
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    broker_connection_retry_on_startup=True,
)


@app.task
def task(nanoseconds):
    ladder.task(nanoseconds)


@worker_ready.connect
def ready(**_):
    os.write(1, b"ready\n")
