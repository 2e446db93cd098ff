"""Stands in for a Kubernetes where none is at hand: an API server that gives the answers which a real one gave, and a shell that runs here.

python3 apiserver.py CLUSTER: a directory with nodes.json, what becomes of a pod on a node (pod.NODE, the status as JSON), a file a job, the events of
all of them (events), nopods where no pod comes of a job, token, which everybody has to bring, forgets where a list cannot be gone on with, and
server.crt and server.key, its certificate and key. A pod on NODE may run no programs while there is a file noexec.NODE, and its connection breaks
when there is cut.NODE. The port is written to `port`.
"""

import base64
import hashlib
import http.server
import json
import os
import pathlib
import ssl
import struct
import subprocess
import sys
import threading
import urllib.parse

cluster = pathlib.Path(sys.argv[1])
secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
secure.load_cert_chain(cluster / "server.crt", cluster / "server.key")
# What the magic is: RFC 6455, section 1.3.
MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
STDIN, STDOUT, STDERR, STATUS, CLOSE = 0, 1, 2, 3, 255


def status(code, reason, message, **more):
    """As it is said of a call that failed."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": reason, "code": code} | more


def pod(file):
    job = json.loads(file.read_text())
    spec = job["spec"]["template"]["spec"]
    node = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]
    node = node["matchFields"][0]["values"][0]
    own = cluster / f"pod.{node}"
    running = {"phase": "Running", "containerStatuses": [{"state": {"running": {"startedAt": "2026-11-24T00:00:00Z"}}}]}
    stands = json.loads(own.read_text()) if own.exists() else running
    return node, {"metadata": {"name": job["metadata"]["name"] + "-pod"}, "spec": spec | {"nodeName": node}, "status": stands}


def job_of(pod):
    return cluster / f"job.{pod.removesuffix('-pod')}"


def nodes():
    return json.loads((cluster / "nodes.json").read_text())["items"]


class WebSocket:
    """The server's end, as far as it is needed: RFC 6455, section 5.2."""

    def __init__(self, connection, reader, writer):
        self.connection, self.reader, self.writer, self.turn = connection, reader, writer, threading.Lock()

    def exactly(self, size):
        data = self.reader.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def receive(self):
        """One message; none once the other end has gone."""
        try:
            while True:
                kind, size = self.exactly(2)
                kind, size = kind & 15, size & 127
                if size > 125:
                    size = struct.unpack(*((">H", self.exactly(2)) if size == 126 else (">Q", self.exactly(8))))[0]
                mask = self.exactly(4) * (size // 4 + 1)
                data = self.exactly(size)
                data = (int.from_bytes(data, "big") ^ int.from_bytes(mask[:size], "big")).to_bytes(size, "big")
                if kind == 8:
                    return None
                if kind == 2:
                    return data
        except (EOFError, OSError):
            return None

    def cut(self):
        """Without a word, as when what stands between is restarted."""
        self.connection.shutdown(2)

    def send(self, channel, data, kind=2):
        data = bytes([channel]) + data
        size = bytes([len(data)]) if len(data) < 126 else struct.pack(">BH", 126, len(data))
        try:
            with self.turn:
                self.writer.write(bytes([128 | kind]) + size + data)
                self.writer.flush()
        except OSError:
            pass


def execute(socket, node, found, words):
    """A shell whose streams are the socket's channels: staging/src/k8s.io/apimachinery/pkg/util/remotecommand/constants.go"""
    host, boot, box = found["spec"]["hostname"], cluster / f"boot.{node}", cluster / f"tmp.{node}"
    box.mkdir(exist_ok=True)
    mount = f"hostname {host} && mount --bind {boot} /proc/sys/kernel/random/boot_id && {{ sh -c \"$0\" >&2 & }} && exec \"$@\""
    if (cluster / f"noexec.{node}").exists():
        mount = f"mount -t tmpfs -o noexec none {box} && {mount}"
    words = ["unshare", "-m", "-u", "--propagation", "private", "sh", "-c", mount, found["spec"]["containers"][0]["command"][2], *words]
    pipe = subprocess.PIPE
    shell = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=os.environ | {"TMPDIR": str(box)})

    def pass_on(channel, stream):
        while data := stream.read(1 << 15):
            socket.send(channel, data)

    readers = [threading.Thread(target=pass_on, args=it) for it in ((STDOUT, shell.stdout), (STDERR, shell.stderr))]

    def pass_in():
        """Whatever closes the line, over there it is closed."""
        while (data := socket.receive()) is not None and data != bytes([CLOSE, STDIN]):
            try:
                left = memoryview(data)[1:]
                while left:
                    left = left[shell.stdin.write(left) :]
            except OSError:
                break
        shell.stdin.close()

    threading.Thread(target=pass_in, daemon=True).start()
    for reader in readers:
        reader.start()
    cut = cluster / f"cut.{node}"
    while any(reader.is_alive() for reader in readers):
        for reader in readers:
            reader.join(0.05)
        if cut.exists():
            cut.unlink()
            return socket.cut()
    ended = shell.wait()
    causes = {"causes": [{"reason": "ExitCode", "message": str(ended)}]}
    message = f"command terminated with non-zero exit code: exit status {ended}"
    said = status(0, "NonZeroExitCode", message, details=causes) if ended else {"metadata": {}, "status": "Success"}
    socket.send(STATUS, json.dumps(said).encode())


class Calls(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, what):
        failed = what.get("kind") == "Status" and what["status"] == "Failure"
        body = json.dumps(what).encode()
        self.send_response(what["code"] if failed else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def call(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size) or "null")
        if self.headers.get("Authorization") != "Bearer " + (cluster / "token").read_text():
            return self.answer(status(401, "Unauthorized", "Unauthorized"))
        url = urllib.parse.urlsplit(self.path)
        words = url.path.strip("/").split("/")
        asked = urllib.parse.parse_qs(url.query)
        words = words[2:] if words[0] == "api" else words[3:]
        namespace = words[1] if words[0] == "namespaces" else None
        what = [self.command, *(words[2:] if namespace else words)]
        if what[-1] == "exec":
            return self.execute(what[2], asked)
        return self.answer(self.found(what, namespace, asked, body))

    do_GET = do_POST = do_DELETE = call

    def found(self, what, namespace, asked, body):
        selector = [asked.get(word, [""])[0].partition("=") for word in ("labelSelector", "fieldSelector")]
        (_, _, label), (field, _, _) = selector
        match what:
            case ["GET", "nodes"]:
                key = selector[0][0]
                return self.part([it for it in nodes() if not key or it["metadata"]["labels"].get(key) == label], asked)
            case ["GET", "nodes", name]:
                it = next((it for it in nodes() if it["metadata"]["name"] == name), None)
                return it or status(404, "NotFound", f'nodes "{name}" not found')
            case ["GET", "pods"] if field == "spec.nodeName":
                return self.part([], asked)
            case ["GET", "pods"]:
                file = cluster / f"job.{label}"
                return self.part([pod(file)[1]] if file.exists() and not (cluster / "nopods").exists() else [], asked)
            case ["GET", "pods", name]:
                return pod(job_of(name))[1] if job_of(name).exists() else status(404, "NotFound", f'pods "{name}" not found')
            case ["GET", "events"]:
                events = cluster / "events"
                return self.part(json.loads(events.read_text()) if events.exists() else [], asked)
            case ["POST", "jobs"] if namespace == "closed":
                message = 'jobs.batch is forbidden: User "me" cannot create resource "jobs" in API group "batch" in the namespace "closed"'
                return status(403, "Forbidden", message, details={"group": "batch", "kind": "jobs"})
            case ["POST", "jobs"]:
                (cluster / f"job.{body['metadata']['name']}").write_text(json.dumps(body))
                return body
            case ["DELETE", "jobs", name] if (cluster / f"job.{name}").exists():
                (cluster / f"job.{name}").unlink()
                return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": {"name": name, "group": "batch", "kind": "jobs"}}
        return status(404, "NotFound", f"the server could not find the requested resource: {what}")

    def part(self, items, asked):
        """Of a list, in parts of one each, so that who asks has to come again."""
        at = int(asked.get("continue", ["0"])[0])
        if at > 1 and (cluster / "forgets").exists():
            return status(410, "Expired", "The provided continue parameter is too old to display a consistent list result.")
        if "limit" not in asked:
            return {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}
        following = {"continue": str(at + 1)} if at + 1 < len(items) else {}
        return {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"} | following, "items": items[at : at + 1]}

    def execute(self, name, asked):
        if not job_of(name).exists():
            return self.answer(status(404, "NotFound", f'pods "{name}" not found'))
        key = self.headers["Sec-WebSocket-Key"] + MAGIC
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.send_header("Sec-WebSocket-Protocol", "v5.channel.k8s.io")
        self.end_headers()
        self.close_connection = True
        return execute(WebSocket(self.connection, self.rfile, self.wfile), *pod(job_of(name)), asked["command"])


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # A cluster's worth of clients comes at once.
    request_queue_size = 100

    def get_request(self):
        connection, address = super().get_request()
        # Hands are shaken by the thread that reads.
        return secure.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, *_):
        """A caller may have been killed."""


server = Server(("127.0.0.1", 0), Calls)
(cluster / "port.new").write_text(str(server.server_port))
(cluster / "port.new").rename(cluster / "port")
server.serve_forever()
