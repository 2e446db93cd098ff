"""Stands in for a Slurm: a controller, the daemon of a node, and the clients. Jobs and steps are processes of this machine; what the clients print is what
a real Slurm printed (tests/records/engines/slurm.json). A client refuses words for which that file has no answer.

It is whichever of them it is called as: slurmctld, slurmd -D -N NODE, or a client. The directory above the one it is called in has slurm.conf and
answers.json. A state changes when a client asks for it, when a process ends, or when a daemon comes or goes; never by time.
"""

import array
import json
import os
import pathlib
import re
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time

called, words = pathlib.Path(sys.argv[0]), sys.argv[1:]
place = called.parent.parent
conf = dict(line.split("=", 1) for line in (place / "slurm.conf").read_text().splitlines())
nodes = re.findall(r"^NodeName=(\S+).* CPUs=(\d+)", (place / "slurm.conf").read_text(), re.M)
answers = json.loads((place / "answers.json").read_text())["answers"]
CONTROLLER = place / "controller.sock"
# A daemon that restarts is tried so often.
AGAIN_S = 0.02
# Between SIGTERM and SIGKILL.
KILL_WAIT_S = int(conf["KillWait"])


def form(words):
    """The request without the names of its job, its nodes and its script."""
    text = "\0".join(words)
    text = re.sub(r"\0--wrap\0.*|\0/bin/sh\0-c\0.*", "\0SCRIPT", text, flags=re.S)
    text = re.sub(r"whyfaster-[0-9a-f]{16}(,whyfaster-[0-9a-f]{16})*", "NAME", text)
    text = re.sub(r"\bn\d+(,n\d+)*", "NODES", text)
    return re.sub(r"\d+", "0", re.sub(r"\b\d+_\d+\b", "TASK", text))


def answer(when, **now):
    """The recorded output and status; `now` has the names of today."""
    for it in answers:
        if it["when"] == when:
            text = [it["out"], it["errors"]]
            for name, value in now.items():
                text = [re.sub(rf"\b{re.escape(it['names'][name])}\b", str(value), one) for one in text]
            return {"out": text[0], "errors": text[1], "status": it["status"]}
    return {"out": "", "errors": f"the stand-in has no record of: {when}\n", "status": 70}


def text(out):
    return {"out": out, "errors": "", "status": 0}


def lines(stream):
    for line in stream:
        yield json.loads(line)


def send(stream, message):
    """Returns True if it went."""
    try:
        stream.write(json.dumps(message).encode() + b"\n")
        stream.flush()
        return True
    except OSError:
        return False


def connect(path):
    """Connects to a daemon once it is there."""
    while True:
        line = socket.socket(socket.AF_UNIX)
        try:
            line.connect(str(path))
            return line
        except (FileNotFoundError, ConnectionRefusedError):
            line.close()
            time.sleep(AGAIN_S)


# The controller.


class Controller:
    """Its jobs are kept in a file, because a controller may crash."""

    def __init__(self):
        self.file, self.turn = place / "state" / "jobs", threading.Condition()
        self.jobs, self.next, self.drained, self.lost = [], 1, {}, []
        self.lines = {}
        if self.file.exists():
            self.jobs, self.next, self.drained, self.lost = json.loads(self.file.read_text())

    def changed(self):
        """Gives the free nodes to the jobs that wait for them."""
        for job in self.jobs:
            if job["state"] == "PENDING":
                self.schedule(job)
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps([self.jobs, self.next, self.drained, self.lost]))
        new.replace(self.file)
        self.turn.notify_all()

    def schedule(self, job):
        if job["held"]:
            job["reason"] = "JobHeldUser"
            return
        busy = {node for it in self.jobs if it["state"] in ("RUNNING", "COMPLETING") for node in it["nodes"]}
        usable = [node for node, _ in nodes if node in self.lines and node not in self.drained]
        wanted = job["wanted"] or [node for node in usable if node not in busy][:1]
        out = [node for node in wanted if node not in usable]
        job["reason"] = f"ReqNodeNotAvail, UnavailableNodes:{','.join(out)}" if out else "Resources"
        if wanted and not out and not busy & set(wanted):
            job |= {"state": "RUNNING", "reason": "None", "nodes": wanted}
            if job["script"] is not None:
                send(self.lines[wanted[0]], {"begin": job["id"], "script": job["script"]})

    def ended(self, job, state, reason="None"):
        if job["state"] in ("RUNNING", "COMPLETING"):
            job |= {"state": job["becomes"] or state, "reason": "None" if job["becomes"] else reason}

    def cancel(self, job):
        if job["state"] == "PENDING":
            job["state"] = "CANCELLED"
            # The array itself goes by its number then.
            if job["task"].startswith(f"{job['id']}_"):
                job["task"] = str(job["id"])
        elif job["state"] == "RUNNING":
            job |= {"state": "COMPLETING", "becomes": "CANCELLED"}
            for node in job["nodes"]:
                send(self.lines[node], {"end": job["id"]})

    def serve(self, stream, first):
        """A node, which stays, or a client, which has one answer."""
        if "node" in first:
            return self.serve_node(first["node"], first["jobs"], stream)
        with self.turn:
            said = getattr(self, first["client"])(first["words"], first)
        send(stream, said)

    def serve_node(self, name, running, stream):
        with self.turn:
            self.lines[name] = stream
            if name in self.lost:
                self.lost.remove(name)
            for job in self.jobs:
                # It ended while there was no controller.
                if job["nodes"][:1] == [name] and job["id"] not in running:
                    self.ended(job, "COMPLETED")
            self.changed()
        try:
            for told in lines(stream):
                with self.turn:
                    job = next(it for it in self.jobs if it["id"] == told["ended"])
                    good = told["status"] == 0
                    self.ended(job, *(("COMPLETED",) if good else ("FAILED", "NonZeroExitCode")))
                    self.changed()
        except OSError:
            pass
        with self.turn:
            del self.lines[name]
            self.lost.append(name)
            for job in self.jobs:
                if name in job["nodes"]:
                    self.ended(job, "NODE_FAIL", "NodeDown")
            self.changed()

    def found(self, id):
        """The jobs of that number, task or list of either."""
        return [it for it in self.jobs if id in (it["task"], str(it["id"]))]

    # The clients: what they ask for, and what else is known of who asks.

    def sinfo(self, words, _):
        shown = option(words, "-n")
        if option(words, "-p", "p") != "p":
            return answer("a partition is asked for that is not there")
        told = []
        for name, cpus in nodes:
            states = [it["state"] for it in self.jobs if name in it["nodes"]]
            busy = "RUNNING" in states or "COMPLETING" in states
            reason = self.drained.get(name, "none")
            if name not in self.lines:
                state, reason = ("down*", "Not responding") if name in self.lost else ("unknown", "none")
            elif name in self.drained:
                state = "draining" if busy else "drained"
            else:
                state = "allocated" if "RUNNING" in states else "completing" if busy else "idle"
            told.append({"%N": name, "%T": state, "%c": cpus, "%h": "NO", "%E": reason})
        told = [it for it in told if shown in (None, it["%N"])]
        return text(formatted(option(words, "-o"), told))

    def squeue(self, words, _):
        states, names = option(words, "-t"), option(words, "-n")
        shown = [it for it in self.jobs if states == "all" or it["state"] in ("PENDING", "RUNNING", "COMPLETING")]
        shown = [it for it in shown if names is None or it["name"] in names.split(",")]
        return text(formatted(option(words, "-o"), [{"%i": it["task"], "%A": it["id"], "%T": it["state"], "%r": it["reason"]} for it in shown]))

    def sbatch(self, words, _):
        last = int(option(words, next(it for it in words if it.startswith("--array="))).split("-")[1])
        if last >= int(conf["MaxArraySize"]):
            return answer("an array is too large")
        id, self.next = self.next, self.next + 1
        for at in range(last + 1):
            self.add(id, f"{id}_{at}", option(words, "--job-name"), option(words, "--wrap"), "--hold" in words, [])
        self.changed()
        return text(f"{id}\n")

    def add(self, id, task, name, script, held, wanted):
        job = {"id": id, "task": task, "name": name, "script": script, "held": held, "wanted": wanted}
        self.jobs.append(job | {"state": "PENDING", "reason": "None", "nodes": [], "becomes": None})
        return self.jobs[-1]

    def scontrol(self, words, _):
        match words:
            case ["update", job, wanted] if job.startswith("JobId="):
                return self.of_job("a task is pinned that has ended", job[6:], lambda it: self.pin(it, wanted.split("=")[1].split(",")))
            case ["release", job]:
                return self.of_job("a task is released that has ended", job, lambda it: it.update(held=False))
            case ["update", node, "state=resume"]:
                self.drained.pop(node.split("=")[1], None)
            case ["update", node, "state=drain", reason]:
                self.drained[node.split("=")[1]] = reason.split("=")[1]
        self.changed()
        return text("")

    def of_job(self, refused, id, change):
        found = [it for it in self.found(id) if it["state"] == "PENDING"]
        if not found:
            return answer(refused, task=id)
        change(found[0])
        self.changed()
        return text("")

    def pin(self, job, wanted):
        """A task that is changed becomes a job of its own; the last one has the array's number."""
        job["wanted"] = wanted
        if any(it["id"] == job["id"] and it is not job for it in self.jobs):
            job["id"], self.next = self.next, self.next + 1

    def scancel(self, words, _):
        jobs, name, on = self.jobs, option(words, "--name"), option(words, "-w")
        if name or on:
            on = set((on or "").split(","))
            jobs = [it for it in jobs if it["name"] == name or on & set(it["nodes"])]
        else:
            jobs = self.found(words[-1])
        for job in jobs:
            if job["state"] == "PENDING" or "--state=PENDING" not in words:
                self.cancel(job)
        self.changed()
        return text("")

    def srun(self, words, asks):
        """Which job it is and where it runs, once it does."""
        if "-w" in words:
            job, self.next = self.add(self.next, str(self.next), words[-2], None, False, option(words, "-w").split(",")), self.next + 1
            self.changed()
            self.turn.wait_for(lambda: job["state"] != "PENDING")
        else:
            job = next((it for it in self.jobs if str(it["id"]) == option(words, "--jobid")), None)
        if asks.get("waits"):
            self.turn.wait_for(lambda: job["state"] not in ("RUNNING", "COMPLETING"))
        elif not job or job["state"] != "RUNNING":
            return answer("a step is begun in a job that has ended", job=option(words, "--jobid"))
        return {"id": job["id"], "nodes": job["nodes"]}


def formatted(form, told):
    return "".join(re.sub("%.", lambda it: str(one[it[0]]), form) + "\n" for one in told)


def option(words, name, otherwise=None):
    """The value of an option: it follows `=`, or is the next word."""
    if "=" in name:
        return name.split("=", 1)[1]
    return words[words.index(name) + 1] if name in words else otherwise


def controller():
    here = Controller()

    class Calls(socketserver.StreamRequestHandler):
        def handle(self):
            for first in lines(self.rfile):
                return here.serve(self.wfile if "client" in first else self.request.makefile("rwb"), first)

    serve(CONTROLLER, Calls)


def serve(path, calls):
    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads, request_queue_size = True, 100

        def handle_error(self, *_):
            """A caller may have been killed."""

    path.unlink(missing_ok=True)
    Server(str(path), calls).serve_forever()


# A node.


class Node:
    def __init__(self, name):
        self.name, self.turn = name, threading.RLock()
        # The number of a job, and the processes that run for it: its script, then its steps.
        self.running = {}
        self.ends, self.cancelled = set(), set()
        # As the site has it (slurm.conf(5), TaskProlog).
        prolog = subprocess.run([conf["TaskProlog"]], capture_output=True, text=True, check=True).stdout
        self.environ = dict(re.findall(r"^export (\w+)=(.*)$", prolog, re.M))

    def begin(self, id, words, environ, **streams):
        environ |= self.environ | {"SLURM_JOB_ID": str(id)}
        process = subprocess.Popen(words, env=environ, cwd="/", start_new_session=True, **streams)
        self.running.setdefault(id, []).append(process)
        return process

    def listen(self):
        """Serves the requests of the controller, one controller after the other."""
        while True:
            with self.turn:
                self.line = connect(CONTROLLER).makefile("rwb")
                send(self.line, {"node": self.name, "jobs": list(self.running)})
            try:
                for asked in lines(self.line):
                    with self.turn:
                        if "begin" in asked:
                            null = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
                            script = self.begin(asked["begin"], ["/bin/sh", "-c", asked["script"]], dict(os.environ), **null)
                            threading.Thread(target=self.over, args=(asked["begin"], script), daemon=True).start()
                        else:
                            self.cancelled.add(asked["end"])
                            threading.Thread(target=self.end, args=(asked["end"], 0), daemon=True).start()
            except OSError:
                pass

    def over(self, id, process):
        """With its script a job ends, and with that its steps."""
        self.end(id, process.wait())

    def forget(self, id, status):
        with self.turn:
            if self.running.pop(id, None) is not None:
                send(self.line, {"ended": id, "status": status})

    def end(self, id, status):
        with self.turn:
            if id in self.ends:
                return
            self.ends.add(id)
            processes = list(self.running.get(id, []))
        self.kill(id, signal.SIGTERM)
        try:
            for process in processes:
                process.wait(KILL_WAIT_S)
        except subprocess.TimeoutExpired:
            self.kill(id, signal.SIGKILL)
        self.forget(id, status)

    def kill(self, id, signal):
        """All that runs for it: what it has started, and what these have (proctrack/linuxproc)."""
        parents = {}
        for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                parents.setdefault(int(file.read_text().rpartition(")")[2].split()[1]), []).append(int(file.parent.name))
            except (OSError, IndexError):
                pass
        found = [it.pid for it in self.running.get(id, []) if it.returncode is None]
        for pid in found:
            found += parents.get(pid, [])
        for pid in found:
            try:
                os.kill(pid, signal)
            except ProcessLookupError:
                pass


def node(name):
    here = Node(name)

    class Steps(socketserver.BaseRequestHandler):
        def handle(self):
            size = array.array("i").itemsize * 3
            data, more, _, _ = self.request.recvmsg(1 << 20, socket.CMSG_SPACE(size))
            fds = array.array("i", more[0][2][:size])
            while not data.endswith(b"\n"):
                data += self.request.recv(1 << 20)
            asked = json.loads(data)
            with here.turn:
                step = here.begin(asked["id"], asked["words"], asked["environ"], stdin=fds[0], stdout=fds[1], stderr=fds[2])
            for fd in fds:
                os.close(fd)
            status = step.wait()
            status = status if status >= 0 else 128 - status
            said = {"status": status, "cancelled": asked["id"] in here.cancelled}
            self.request.sendall(json.dumps(said).encode() + b"\n")
            with here.turn:
                # A job without a script ends with its steps.
                of_job = here.running.get(asked["id"], [])
                if step in of_job:
                    of_job.remove(step)
                if not of_job:
                    here.forget(asked["id"], status)

    threading.Thread(target=here.listen, daemon=True).start()
    serve(place / f"node.{name}.sock", Steps)


# The clients.


def client(name, words):
    if form([name, *words]) not in {form(it["asked"]) for it in answers}:
        raise SystemExit(f"{name}: the stand-in has no record of these words: {words}")
    other = [it for it in os.environ if re.match("(SLURM|SQUEUE|SCANCEL|SINFO|SBATCH)_", it) and it != "SLURM_CONF"]
    if other:
        raise SystemExit(f"{name}: the stand-in has no record of {other}")
    if name == "srun":
        return srun(words)
    said = ask(name, words)
    sys.stdout.write(said["out"])
    sys.stderr.write(said["errors"])
    return said["status"]


def ask(name, words, **more):
    stream = connect(CONTROLLER).makefile("rwb")
    send(stream, {"client": name, "words": words} | more)
    return next(lines(stream), None) or sys.exit(f"{name}: the controller has gone")


def srun(words):
    given = ask("srun", words)
    if "status" in given:
        sys.stderr.write(given["errors"])
        return given["status"]
    at = next(at for at, it in enumerate(words) if it in ("/bin/sh", "sleep"))
    names = next((it.split("=")[1].split(",") for it in words if it.startswith("--export=")), list(os.environ))
    environ = {it: os.environ[it] for it in names if it in os.environ}
    begun = answer("a step ends well")["errors"] if "--jobid" in words else ""
    sys.stderr.write(begun)
    sys.stderr.flush()
    steps = [step(node, given["id"], words[at:], environ) for node in given["nodes"]]
    ended = [(node, *wait()) for node, wait in zip(given["nodes"], steps)]
    for node, status, cancelled in ended:
        if status is None:
            ask("srun", ["--jobid", str(given["id"])], waits=True)
            said = answer("the node of a step breaks down", node=node)
        elif cancelled:
            said = answer("the job of a step is cancelled", node=node)
        elif status:
            said = answer("a step fails", node=node, status=status)
            said["status"] = status
        else:
            continue
        sys.stderr.write(said["errors"].replace(begun, ""))
        return said["status"]
    return 0


def step(node, id, words, environ):
    """Begins it there. Its streams go through this process, so that they close when it ends."""
    pipes = [os.pipe() for _ in range(3)]
    (there_in, here_in), (here_out, there_out), (here_errors, there_errors) = pipes
    line = connect(place / f"node.{node}.sock")
    asked = json.dumps({"id": id, "words": words, "environ": environ}).encode() + b"\n"
    theirs = [there_in, there_out, there_errors]
    socket.send_fds(line, [asked[:1]], theirs)
    line.sendall(asked[1:])
    for fd in theirs:
        os.close(fd)
    threading.Thread(target=pump, args=(0, here_in), daemon=True).start()
    readers = [threading.Thread(target=pump, args=it, daemon=True) for it in ((here_out, 1), (here_errors, 2))]
    for reader in readers:
        reader.start()

    def wait():
        try:
            said = next(lines(line.makefile("rb")), {"status": None, "cancelled": False})
        except OSError:
            said = {"status": None, "cancelled": False}
        for reader in readers:
            reader.join()
        return said["status"], said["cancelled"]

    return wait


def pump(source, sink):
    try:
        while data := os.read(source, 1 << 16):
            while data:
                data = data[os.write(sink, data) :]
    except OSError:
        pass
    if sink > 2:
        os.close(sink)


match called.name:
    case "slurmctld":
        controller()
    case "slurmd":
        node(words[-1])
    case name:
        # Nothing waits for a process that still waits for its input.
        status = client(name, words)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
