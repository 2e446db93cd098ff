"""Workers that take tasks from a table with SKIP LOCKED. Whoever finds none sleeps until the next notification."""

import os
import select
import time

import ladder
import psycopg2

TAKE = """DELETE FROM queue WHERE id = (SELECT id FROM queue ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1)
          RETURNING nanoseconds"""


def connect():
    for _ in range(400):
        try:
            connection = psycopg2.connect(host=ladder.DIR, user="ladder", dbname="postgres")
            connection.autocommit = True
            return connection
        except psycopg2.OperationalError as error:
            refused = error
            time.sleep(0.05)
    raise refused


def work():
    connection = connect()
    cursor = connection.cursor()
    cursor.execute("LISTEN queue")
    while True:
        cursor.execute(TAKE)
        row = cursor.fetchone()
        if row:
            ladder.task(row[0])
            continue
        # One may have come with the answer: then nothing more comes to wait for.
        if not connection.notifies:
            select.select([connection], [], [], 1)
            connection.poll()
        connection.notifies.clear()


if __name__ == "__main__":
    with connect() as first:
        first.cursor().execute("CREATE TABLE queue (id bigserial PRIMARY KEY, nanoseconds bigint)")
    for _ in range(ladder.WORKERS):
        if os.fork() == 0:
            work()
    print("ready", flush=True)
    os.wait()
