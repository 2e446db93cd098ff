"""Stands in for a Ray: the module that drivers import, the head with its API for jobs, and the nodes. Jobs and actors are processes of this machine; what
is said of nodes and jobs is what a real Ray said (tests/records/engines/ray.json, which lies beside this file as answers.json).

python3 ray.py head
python3 ray.py node ADDRESS

A state changes when a driver asks for it, when a process ends, or when a node goes; never by time: `make_late` is what the passing of
RAY_JOB_START_TIMEOUT_SECONDS is to a real one.
"""

import concurrent.futures
import http.server
import json
import marshal
import multiprocessing.connection as connection
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import types
import urllib.error
import urllib.request

place = pathlib.Path(__file__).parent
HEAD = place / "head"
SUPERVISOR = "_ray_internal_job_actor_"


def answer(when):
    """The recorded answer."""
    for it in json.loads((place / "answers.json").read_text())["answers"]:
        if it["when"] == when:
            return it["answer"]
    raise LookupError(f"the stand-in has no record of: {when}")


# The head.


class Head:
    """Jobs are dictionaries: what is known of them is `case`, a case of the record."""

    def __init__(self):
        self.turn, self.jobs, self.nodes = threading.Condition(), {}, {}

    def listen(self):
        with connection.Listener(str(HEAD), "AF_UNIX") as listener:
            while True:
                threading.Thread(target=self.serve_node, args=(listener.accept(),), daemon=True).start()

    def serve_node(self, line):
        name = line.recv()
        with self.turn:
            self.nodes[name] = line
        (place / f"node.{name}").touch()
        try:
            while True:
                id, status = line.recv()
                with self.turn:
                    self.end(self.jobs[id], "a job ended well" if status == 0 else "a job failed")
        except (EOFError, OSError):
            with self.turn:
                self.nodes[name] = None
                for job in self.jobs.values():
                    if job["node"] == name:
                        self.end(job, "a job failed")

    def end(self, job, case):
        """Gives the node of a job that has ended to the job that waits for it."""
        if job["case"] in ("a job waits", "a job runs"):
            job["case"] = job.get("becomes", case)
        for it in self.jobs.values():
            busy = any(one["case"] == "a job runs" and one["node"] == it["node"] for one in self.jobs.values())
            if it["case"] == "a job waits" and not busy and self.nodes.get(it["node"]):
                it["case"] = "a job runs"
                self.nodes[it["node"]].send(("begin", it["id"], it["script"]))
        self.turn.notify_all()

    def told(self):
        """The nodes that have come, in the words of a real Ray."""
        told = []
        for case in ("the nodes live", "a node was stopped"):
            for it in answer(case):
                alive = self.nodes.get(it["NodeName"], 0) is not None
                if it["NodeName"] in self.nodes and it["Alive"] == alive and not any(one["NodeName"] == it["NodeName"] for one in told):
                    told.append(it | {"NodeID": it["NodeName"]})
        return told

    def call(self, method, path, body):
        match [method, *path.strip("/").split("/")]:
            case ["GET", "api", "jobs"]:
                return [self.info(job) for job in self.jobs.values()]
            case ["POST", "api", "jobs"]:
                id = body["submission_id"]
                if id in self.jobs:
                    return answer("a job has the name of another")
                assert body["entrypoint_num_cpus"] == 1, body
                node = next(iter(body["entrypoint_resources"])).removeprefix("node:")
                self.jobs[id] = {"id": id, "case": "a job waits", "node": node, "script": body["entrypoint"]}
                self.end(self.jobs[id], "a job waits")
                return json.loads(json.dumps(answer("a job is submitted")).replace('"one"', json.dumps(id)))
            case ["GET", "api", "jobs", id]:
                return self.info(self.jobs[id]) if id in self.jobs else answer("a job is asked for that is not there")
            case ["POST", "api", "jobs", id, "stop"]:
                job = self.jobs[id]
                if job["case"] == "a job runs":
                    job["becomes"] = "a job was stopped"
                    self.nodes[job["node"]].send(("stop", id, None))
                return answer("a job is stopped")
            # A driver asks a real Ray for this without HTTP.
            case ["GET", "nodes"]:
                return self.told()
            case ["GET", "supervisor", id]:
                return id in self.jobs and self.jobs[id]["case"] in ("a job waits", "a job runs")
            case ["GET", "ping", id]:
                job = self.jobs[id]
                self.turn.wait_for(lambda: job["case"] != "a job waits")
                return job["case"] == "a job runs"
            case ["POST", "kill", id]:
                if self.jobs[id]["case"] == "a job waits":
                    self.end(self.jobs[id], "the supervisor of a job that waits is killed")
                return {}
            case ["POST", "late"]:
                for job in self.jobs.values():
                    if job["case"] == "a job waits":
                        self.end(job, "a job waited for too long")
                return {}

    def info(self, job):
        return answer(job["case"]) | {"submission_id": job["id"]}


def head():
    here = Head()

    class Calls(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do(self):
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size) or "null")
            said, code = None, 401
            if self.headers.get("Authorization") == f"Bearer {os.environ['RAY_AUTH_TOKEN']}":
                with here.turn:
                    said = here.call(self.command, self.path, body)
                code = said["code"] if isinstance(said, dict) and "code" in said else 200
            self.send_response(code)
            self.end_headers()
            self.wfile.write(said["error"].encode() if code not in (200, 401) else json.dumps(said).encode())

        do_GET = do_POST = do

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            """A caller may have been killed."""

    server = Server(("127.0.0.1", 0), Calls)
    threading.Thread(target=here.listen, daemon=True).start()
    (place / "port.new").write_text(str(server.server_port))
    (place / "port.new").rename(place / "port")
    server.serve_forever()


# A node.


class Node:
    """One thread: it forks for an actor."""

    def __init__(self, name):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(place / f"actors.{name}"))
        self.listener.listen(100)
        self.head = connection.Client(str(HEAD), "AF_UNIX")
        self.head.send(name)
        # Those of jobs have a number.
        self.jobs, self.actors = {}, {}
        signal.signal(signal.SIGTERM, self.stop)

    def stop(self, *_):
        """With a node goes what it has begun, as far as that did not leave its process group."""
        for job in self.jobs.values():
            os.killpg(job[1].pid, signal.SIGKILL)
        for actor in self.actors.values():
            os.kill(actor, signal.SIGKILL)
        os._exit(0)

    def run(self):
        while True:
            for ready in connection.wait([self.head, self.listener, *self.jobs, *self.actors]):
                if ready is self.head:
                    self.told(*self.head.recv())
                elif ready is self.listener:
                    self.begin_actor(self.listener.accept()[0])
                elif ready in self.jobs:
                    id, job = self.jobs.pop(ready)
                    self.head.send((id, job.wait()))
                    os.close(ready)
                else:
                    os.waitpid(self.actors.pop(ready), 0)
                    os.close(ready)

    def told(self, what, id, script):
        if what == "begin":
            null = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            job = subprocess.Popen(["/bin/sh", "-c", script], start_new_session=True, **null)
            self.jobs[os.pidfd_open(job.pid)] = id, job
        for job in self.jobs.values():
            if what == "stop" and job[0] == id:
                os.killpg(job[1].pid, signal.SIGTERM)

    def begin_actor(self, line):
        pid = os.fork()
        if pid:
            line.close()
            self.actors[os.pidfd_open(pid)] = pid
            return
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.listener.close()
        self.head.close()
        try:
            act(connection.Connection(line.detach()))
        finally:
            os._exit(0)


def act(line):
    """An actor, until its driver has gone: the methods of a class come with the modules and the numbers that they name."""
    methods, named = line.recv()
    names = {name: __import__(value) if kind == "module" else value for name, (kind, value) in named.items()}
    names["__builtins__"] = __builtins__
    actor = types.SimpleNamespace()
    turn = threading.Lock()

    def call(number, name, words):
        try:
            told = number, True, types.FunctionType(marshal.loads(methods[name]), names)(actor, *words)
        except Exception as error:
            told = number, False, error
        with turn:
            line.send(told)

    while True:
        threading.Thread(target=call, args=line.recv(), daemon=True).start()


# The modules that a driver imports.


class RayTaskError(Exception):
    def __init__(self, cause):
        super().__init__(str(cause))
        self.cause = cause


class RayActorError(Exception):
    pass


class JobSubmissionClient:
    def __init__(self, _):
        pass

    def submit_job(self, **words):
        return ask("POST", "/api/jobs/", words)["submission_id"]

    def get_job_info(self, id):
        return types.SimpleNamespace(**ask("GET", f"/api/jobs/{id}"))


def ask(method, path, body=None):
    headers = {"Authorization": f"Bearer {os.environ.get('RAY_AUTH_TOKEN')}"}
    request = urllib.request.Request(f"http://127.0.0.1:{(place / 'port').read_text()}{path}", json.dumps(body).encode() if body else None, headers, method=method)
    try:
        with urllib.request.urlopen(request) as said:
            return json.load(said)
    except urllib.error.HTTPError as error:
        raise RuntimeError(error.read().decode()) from None


def init(address, log_to_driver, logging_level):
    if os.environ.get("RAY_AUTH_MODE") == "token":
        return ask("GET", "/nodes")
    error = None
    for kind, text in reversed(answer("who has no token")):
        below, error = error, type(kind, (Exception,), {})(text)
        error.__cause__ = below
    raise error


def nodes():
    return ask("GET", "/nodes")


def later(work):
    """The answer to it, which comes later."""
    answer = concurrent.futures.Future()

    def run():
        try:
            answer.set_result(work())
        except Exception as error:
            answer.set_exception(error if isinstance(error, RayActorError) else RayTaskError(error))

    threading.Thread(target=run, daemon=True).start()
    return answer


def get(answer):
    return answer.result()


def wait(answers, timeout):
    done, others = concurrent.futures.wait(answers, timeout)
    return list(done), list(others)


def remote(**_):
    return Remote


class Remote:
    """A function, which runs where the driver does, or a class, of which an actor is made on a node."""

    def __init__(self, what, strategy=None):
        self.what, self.strategy = what, strategy

    def options(self, scheduling_strategy=None, resources=None):
        return Remote(self.what, scheduling_strategy)

    def remote(self, *words):
        if isinstance(self.what, type):
            return Actor(self.what, self.strategy.node_id)
        return later(lambda: self.what(*words))


class Actor:
    def __init__(self, what, node):
        self.line, self.turn, self.asked = connection.Client(str(place / f"actors.{node}"), "AF_UNIX"), threading.Lock(), {}
        methods = {name: it for name, it in vars(what).items() if isinstance(it, types.FunctionType)}
        named = {}
        for name, value in next(iter(methods.values())).__globals__.items():
            if isinstance(value, types.ModuleType) and value is not sys.modules["ray"]:
                named[name] = "module", value.__name__
            elif isinstance(value, (int, str)):
                named[name] = "value", value
        self.line.send(({name: marshal.dumps(it.__code__) for name, it in methods.items()}, named))
        threading.Thread(target=self.hear, daemon=True).start()

    def __getattr__(self, name):
        return types.SimpleNamespace(remote=lambda *words: self.call(name, words))

    def call(self, name, words):
        answer = concurrent.futures.Future()
        with self.turn:
            number = len(self.asked)
            self.asked[number] = answer
            try:
                self.line.send((number, name, words))
            except OSError:
                answer.set_exception(RayActorError())
        return answer

    def hear(self):
        try:
            while True:
                number, good, told = self.line.recv()
                answer = self.asked[number]
                answer.set_result(told) if good else answer.set_exception(RayTaskError(told))
        except (EOFError, OSError):
            with self.turn:
                for answer in self.asked.values():
                    if not answer.done():
                        answer.set_exception(RayActorError("The actor died unexpectedly before finishing this task."))


class Supervisor:
    """The actor as which Ray runs a job."""

    def __init__(self, job):
        self.job = job
        self.ping = types.SimpleNamespace(remote=lambda: later(self.begun))
        self.stop = types.SimpleNamespace(remote=lambda: later(lambda: ask("POST", f"/api/jobs/{job}/stop")))

    def begun(self):
        if not ask("GET", f"/ping/{self.job}"):
            raise RayActorError(self.job)


def get_actor(name, namespace):
    job = name.removeprefix(SUPERVISOR)
    if namespace != "SUPERVISOR_ACTOR_RAY_NAMESPACE" or not ask("GET", f"/supervisor/{job}"):
        raise ValueError(name)
    return Supervisor(job)


def kill(supervisor):
    ask("POST", f"/kill/{supervisor.job}")


def make_late():
    ask("POST", "/late")


def shutdown():
    """An actor gives back its CPUs when its driver ends."""


def get_runtime_context():
    return types.SimpleNamespace(gcs_address=None)


def module(name, **what):
    sys.modules[f"ray.{name}"] = found = types.ModuleType(f"ray.{name}")
    vars(found).update(what)
    return found


exceptions = module("exceptions", RayTaskError=RayTaskError, RayActorError=RayActorError)
module("util.scheduling_strategies", NodeAffinitySchedulingStrategy=lambda node_id, soft: types.SimpleNamespace(node_id=node_id))
module("dashboard.utils", get_address_for_submission_client=lambda address: address)
module("job_submission", JobSubmissionClient=JobSubmissionClient)

if __name__ == "__main__":
    head() if sys.argv[1] == "head" else Node(sys.argv[2]).run()
