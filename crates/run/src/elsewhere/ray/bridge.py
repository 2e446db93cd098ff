"""Between whyfaster and Ray. Lists the nodes of a cluster, or holds one: a job that takes all CPUs of the node holds it for a shell, an actor runs
that shell there, and bytes go both ways between our streams and the shell's. The actor is the driver's and ends with it, the shell ends when the
actor does, and the job when the shell does.

python3 -c THIS nodes ADDRESS
python3 -c THIS hold ADDRESS NODE PIPE SCRIPT
"""

import sys

# Where we run comes first for `python3 -c`, and a ray/ or json.py there is another one.
sys.path[:] = [directory for directory in sys.path if directory]

import itertools
import json
import os
import select
import stat
import subprocess
import threading
import time

# What Ray or whatever it imports prints is no part of the answer, and its warnings of one failed try after the other are none of the reason.
OUT, ERRORS = os.fdopen(os.dup(1), "wb", buffering=0), os.dup(2)
NOWHERE = os.open(os.devnull, os.O_WRONLY)
os.dup2(NOWHERE, 1)
os.dup2(NOWHERE, 2)
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

NO_RAY, UNREACHED, NO_TOKEN = 3, 4, 5
CHUNK = 1 << 20
# An address at which nobody listens is tried for long.
PATIENCE_S = 60
# What the API for jobs may take, a job that has its node until its script runs, and a job until it is begun or stopped.
ASKED_S, BEGINS_S, ENDS_S = 60, 30, 10
# How often it is looked whether a node that is waited for is still there.
LOOKS_S = 10
# Ray lets no job wait for longer than RAY_JOB_START_TIMEOUT_SECONDS, a quarter of an hour (_check_start_timeout in its job_manager.py).
TOO_LATE = "failed to start within"
# Ray's own name for what only the head has.
HEAD = "node:__internal_head__"


def say(told):
    """One line for engine.rs."""
    OUT.write(f"whyfaster-engine/1\t{json.dumps(told)}\n".encode())


def end(status, why=""):
    # Ray's indented lines are its own numbers of things.
    said = " ".join(line.strip() for line in str(why).splitlines() if not line.startswith("\t"))
    if said:
        os.write(ERRORS, f"{said}\n".encode())
    os._exit(status)


try:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    end(NO_RAY, error)


@ray.remote(num_cpus=0)
def of_jobs(what, job, words):
    """Asks the API for jobs on the head: that is where it listens, often for nobody else, and where Ray was installed with it."""
    from ray.dashboard.utils import get_address_for_submission_client
    from ray.job_submission import JobSubmissionClient

    client = JobSubmissionClient(get_address_for_submission_client(ray.get_runtime_context().gcs_address))
    if what == "submit":
        return client.submit_job(submission_id=job, **words)
    return client.get_job_info(job).message or ""


@ray.remote(num_cpus=0, max_concurrency=3)
class Shell:
    """Runs in a worker of Ray, on the node. The CPUs are the job's."""

    def begin(self, job, pipe):
        # As Ray was started there: to a worker it says how many threads to use.
        with open("/proc/self/environ") as file:
            environ = dict(entry.split("=", 1) for entry in file.read().split("\0") if "=" in entry)
        pipe = os.path.join(environ.get("TMPDIR") or "/tmp", pipe)
        until = time.monotonic() + BEGINS_S
        while not os.path.exists(pipe):
            if time.monotonic() > until:
                raise RuntimeError(f"the job has not begun: there is no {pipe}")
            time.sleep(0.1)
        found = os.stat(pipe)
        if not stat.S_ISFIFO(found.st_mode) or found.st_uid != os.geteuid():
            raise RuntimeError(f"{pipe} is somebody else's")
        self.line = os.open(pipe, os.O_WRONLY)
        os.write(self.line, b"there\n")
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        # A worker of Ray that ends kills its children and its process group (RAY_kill_child_processes_on_worker_exit). The inner shell is neither: it
        # sees its input end, and has the time to clean up.
        self.shell = subprocess.Popen(
            ["/bin/sh", "-c", "/bin/sh; exit $?"],
            **streams,
            bufsize=0,
            cwd="/",
            env=environ | {"WHYFASTER_JOB": job},
            start_new_session=True,
        )
        self.open = {stream.fileno(): stream for stream in (self.shell.stdout, self.shell.stderr)}

    def write(self, data):
        """Gives it bytes, or closes its input."""
        try:
            if data is None:
                self.shell.stdin.close()
            while data:
                data = data[self.shell.stdin.write(data) :]
        except (BrokenPipeError, ValueError):
            pass  # How it ended says why.

    def read(self):
        """Waits for bytes: those of its output, those of its errors, and its status once it has ended."""
        found = {self.shell.stdout: b"", self.shell.stderr: b""}
        look = select.poll()
        for stream in self.open:
            look.register(stream, select.POLLIN)
        # Nothing is to happen there while the job is.
        look.register(self.line, 0)
        for fd, _ in look.poll() if self.open else []:
            if fd == self.line:
                raise RuntimeError("the job that held the node has ended")
            stream = self.open[fd]
            found[stream] = os.read(fd, CHUNK)
            if not found[stream]:
                del self.open[fd]
        return *found.values(), None if self.open else self.shell.wait()


def connect(address):
    timer = threading.Timer(PATIENCE_S, end, (UNREACHED, f"no answer from {address} within {PATIENCE_S} s"))
    timer.daemon = True
    timer.start()
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except Exception as error:
        end(NO_TOKEN if refused(error) else UNREACHED, error)
    timer.cancel()


def refused(error):
    """Whether the cluster asks for a token. What stands for that has no type of its own by the time that it comes here."""
    while error:
        if "AuthenticationError" in f"{type(error)} {error}":
            return True
        error = error.__cause__ or error.__context__
    return False


def nodes():
    """Every name once: as the node that lives, or as the one that was lost last."""
    found = {}
    for node in ray.nodes():
        name = node.get("NodeName") or node["NodeManagerAddress"]
        address = f"node:{node['NodeManagerAddress']}"
        if node["Alive"] or not found.get(name, {}).get("alive"):
            reason = node.get("DeathReasonMessage") or ""
            cpus = node["Resources"].get("CPU", 0)
            found[name] = {"name": name, "alive": node["Alive"], "reason": reason, "id": node["NodeID"], "address": address, "cpus": cpus}
    return found


def left():
    """Whether nobody is at the other end of our standard input any more; what came from there is not read."""
    look = select.poll()
    look.register(0, 0)
    return bool(look.poll(0))


def head():
    """The head, as a resource."""
    for node in ray.nodes():
        if node["Alive"] and HEAD in node["Resources"]:
            return {HEAD: 0.001}
    return {}


def hold(name, pipe, script):
    node = nodes().get(name)
    if not is_there(node):
        return 1
    jobs = of_jobs.options(resources=head())
    words = {"entrypoint": script, "entrypoint_num_cpus": node["cpus"], "entrypoint_resources": {node["address"]: 0.001}}
    for at in itertools.count(1):
        job = pipe if at == 1 else f"{pipe}-{at}"
        try:
            waited(jobs.remote("submit", job, words))
        except (ray.exceptions.RayTaskError, TimeoutError) as error:
            # What had no answer may have come through all the same.
            late = supervisor_of(job) if isinstance(error, TimeoutError) else None
            if late:
                ray.kill(late)
            where = "out of reach of Ray's API for jobs, which comes with the dashboard of the head (pip install 'ray[default]')"
            return out(where, last_line(error))
        supervisor = supervisor_of(job)
        try:
            if supervisor and not given(supervisor, name, node, at > 1):
                return 1
        except ray.exceptions.RayActorError:
            # It may only be out of reach.
            ray.kill(supervisor)
            supervisor = None
        if supervisor:
            break
        why = waited(jobs.remote("why", job, None))
        if TOO_LATE not in why:
            raise RuntimeError(f"the job: {why or 'Ray says nothing of it'}")
    say("given")
    try:
        pinned = NodeAffinitySchedulingStrategy(node_id=node["id"], soft=False)
        actor = Shell.options(scheduling_strategy=pinned).remote()
        ray.get(actor.begin.remote(job, pipe))
    except Exception:
        # Nobody holds its pipe.
        ray.wait([supervisor.stop.remote()], timeout=ENDS_S)
        raise
    return shelled(actor)


def waited(answer):
    """The answer, unless it takes too long or somebody leaves."""
    until = time.monotonic() + ASKED_S
    while not ray.wait([answer], timeout=1)[0]:
        if left() or time.monotonic() > until:
            raise TimeoutError(f"no answer within {ASKED_S} s")
    return ray.get(answer)


def last_line(error):
    return (str(getattr(error, "cause", None) or error).strip().splitlines() or [repr(error)])[-1]


def is_there(node):
    """Whether the node lives; if not, that is said."""
    if node and node["alive"]:
        return True
    out("dead" if node else "gone", node["reason"] if node else "")
    return False


def supervisor_of(job):
    """The actor as which Ray runs a job, if it came that far: common.py and job_manager.py in its dashboard/modules/job. The submission tells of it a
    moment before others see it."""
    until = time.monotonic() + ENDS_S
    while time.monotonic() < until:
        try:
            return ray.get_actor(f"_ray_internal_job_actor_{job}", namespace="SUPERVISOR_ACTOR_RAY_NAMESPACE")
        except ValueError:
            time.sleep(0.1)
    return None


def given(supervisor, name, node, told):
    """Waits until the job has the node, however long that is; whether it has, and nobody has left meanwhile, and the node lives."""
    begun, looks = supervisor.ping.remote(), time.monotonic() + LOOKS_S
    while not ray.wait([begun], timeout=1 if told else 5)[0]:
        # Ray itself waits for a node that has gone.
        gone = False
        if time.monotonic() > looks:
            looks, now = time.monotonic() + LOOKS_S, nodes().get(name)
            gone = not is_there(now if now and now["id"] == node["id"] else None)
        if gone or left():
            # It would hear that it is to stop only once its turn has come.
            ray.kill(supervisor)
            return False
        if not told:
            told = True
            say({"waits": f"not all of its {node['cpus']:g} CPUs are free"})
    ray.get(begun)
    return True


def out(state, reason):
    """Says why the node cannot be had; our status then."""
    say({"out": {"kind": "down", "state": state, "reason": reason}})
    return 1


def shelled(actor):
    """Passes bytes both ways until the shell has ended; with which status."""

    def send():
        while data := os.read(0, CHUNK):
            ray.get(actor.write.remote(data))
        ray.get(actor.write.remote(None))

    threading.Thread(target=send, daemon=True).start()
    while True:
        out, errors, status = ray.get(actor.read.remote())
        while out:
            out = out[OUT.write(out) :]
        os.write(ERRORS, errors)
        if status is not None:
            return status if status >= 0 else 128 - status


connect(sys.argv[2])
if sys.argv[1] == "nodes":
    OUT.write(json.dumps(list(nodes().values())).encode())
    end(0)
try:
    status = hold(*sys.argv[3:])
except Exception as error:
    # What a worker raised says where, over many lines.
    end(1, getattr(error, "cause", None) or error)
# Ends the driver, and with it the actor.
ray.shutdown()
end(status)
