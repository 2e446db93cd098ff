"""Puts tasks into the table, a transaction each, and tells the workers."""

import time

import ladder
from postgres_workers import connect

connection = connect()
cursor = connection.cursor()


def burst(tasks, nanoseconds):
    for _ in range(tasks):
        cursor.execute("INSERT INTO queue (nanoseconds) VALUES (%s); NOTIFY queue", (nanoseconds,))
    while not ladder.done(tasks):
        time.sleep(0.001)


ladder.serve(burst)
