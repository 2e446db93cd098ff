"""Between whyfaster and Ray. Lists the nodes of a cluster, or holds one: an actor that takes all CPUs of the node runs a shell, and bytes go both
ways between our streams and the shell's. The actor is the driver's and ends with it, and the shell ends when the actor does.

python3 -c THIS nodes|hold ADDRESS [NODE]
"""

import sys

# Where we run comes first for `python3 -c`, and a ray/ or json.py there is another one.
sys.path[:] = [directory for directory in sys.path if directory]

import json
import os
import select
import threading

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


class Shell:
    """Runs in a worker of Ray, on the node."""

    def __init__(self):
        import subprocess

        job = ray.get_runtime_context().get_actor_id()
        pipe = subprocess.PIPE
        # A worker of Ray that ends kills its children and its process group (RAY_kill_child_processes_on_worker_exit). The inner shell is neither: it
        # sees its input end, and has the time to clean up.
        self.shell = subprocess.Popen(
            ["/bin/sh", "-c", "/bin/sh; exit $?"],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            bufsize=0,
            cwd="/",
            env=os.environ | {"WHYFASTER_JOB": job},
            start_new_session=True,
        )
        self.open = [self.shell.stdout, self.shell.stderr]

    def begun(self):
        pass

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
        found = {stream: b"" for stream in (self.shell.stdout, self.shell.stderr)}
        for stream in select.select(self.open, [], [])[0] if self.open else []:
            found[stream] = os.read(stream.fileno(), CHUNK)
            if not found[stream]:
                self.open.remove(stream)
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
        if node["Alive"] or not found.get(name, {}).get("alive"):
            reason = node.get("DeathReasonMessage") or ""
            found[name] = {"name": name, "alive": node["Alive"], "reason": reason, "id": node["NodeID"], "cpus": node["Resources"].get("CPU", 0)}
    return found


def left():
    """Whether nobody is at the other end of our standard input any more; what came from there is not read."""
    look = select.poll()
    look.register(0, 0)
    return bool(look.poll(0))


def hold(name):
    node = nodes().get(name)
    if not node or not node["alive"]:
        say({"out": {"kind": "down", "state": "dead" if node else "gone", "reason": node["reason"] if node else ""}})
        return 1
    pinned = NodeAffinitySchedulingStrategy(node_id=node["id"], soft=False)
    actor = ray.remote(Shell).options(num_cpus=node["cpus"], max_concurrency=3, scheduling_strategy=pinned).remote()
    begun, told = actor.begun.remote(), False
    while not ray.wait([begun], timeout=1 if told else 3)[0]:
        if left():
            return 1
        if not told:
            told = True
            say({"waits": f"not all of its {node['cpus']:g} CPUs are free"})
    ray.get(begun)
    say("given")

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
    status = hold(sys.argv[3])
except Exception as error:
    end(1, error)
# Ends the driver, and with it the actor.
ray.shutdown()
end(status)
