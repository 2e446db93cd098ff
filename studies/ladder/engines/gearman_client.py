"""Submits jobs to a gearmand and waits for them: two kinds of packets of its protocol (gearman.org/protocol) are enough."""

import os
import socket
import struct

import ladder

SUBMIT_JOB, WORK_COMPLETE, WORK_FAIL = 7, 13, 14
server = socket.create_connection(("127.0.0.1", int(os.environ["LADDER_PORT"])))
server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
answers = server.makefile("rb")


def burst(tasks, nanoseconds):
    for item in range(tasks):
        data = b"task\0%d\0%d\n" % (item, nanoseconds)
        server.sendall(b"\0REQ" + struct.pack(">II", SUBMIT_JOB, len(data)) + data)
    while tasks:
        _, kind, size = struct.unpack(">4sII", answers.read(12))
        answers.read(size)
        if kind == WORK_FAIL:
            raise SystemExit("a job failed")
        tasks -= kind == WORK_COMPLETE


ladder.serve(burst)
