"""Asks a Ray for what the program may meet there, and prints each answer: python3 ray_talk.py ADDRESS NODE URL living|dead

It is held against a record, so what differs from run to run is left out.
"""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import ray

address, node, url, part = sys.argv[1:]
OF_NODE = ("NodeName", "NodeManagerAddress", "Alive", "DeathReasonMessage")
OF_JOB = ("type", "submission_id", "status", "message", "error_type", "driver_exit_code")
# A line that a job waits for.
SCRIPT = "mkfifo $TMPDIR/line; read -r line <$TMPDIR/line"
answers = []


def keep(when, answer):
    answers.append({"when": when, "answer": answer})


def ask(method, path, body=None):
    headers = {"Authorization": "Bearer " + os.environ["RAY_AUTH_TOKEN"], "Content-Type": "application/json"}
    request = urllib.request.Request(url + path, json.dumps(body).encode() if body else None, headers, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return {"code": error.code, "error": last(error.read().decode())}


def last(text):
    """Where it was raised stands before the last line, behind which may be a full stop alone."""
    return [line for line in text.splitlines() if line.strip() not in ("", ".")][-1]


def job(when, id, *states):
    """How it stands, once it is in one of these states or has ended otherwise."""
    while (found := ask("GET", f"/api/jobs/{id}"))["status"] not in (*states, "STOPPED", "SUCCEEDED", "FAILED"):
        time.sleep(0.1)
    # Without the lines of a log and of Ray's own numbers of things.
    told = (line for line in found["message"].splitlines() if not line.startswith(("\t", "20")))
    keep(when, {name: found[name] for name in OF_JOB} | {"message": "\n".join(told)})


def submit(when, id, script):
    words = {"submission_id": id, "entrypoint": script, "entrypoint_num_cpus": 1, "entrypoint_resources": {f"node:{node}": 0.001}}
    keep(when, ask("POST", "/api/jobs/", words))


def nodes(when):
    told = sorted(ray.nodes(), key=lambda it: it["NodeName"])
    resources = ("CPU", "node:__internal_head__")
    keep(when, [{name: it[name] for name in OF_NODE} | {"Resources": {name: it["Resources"][name] for name in resources if name in it["Resources"]}} for it in told])


def refused():
    """What whoever has no token is told, as the chain of what was raised."""
    line = """
import json, ray, sys
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level="error")
except Exception as error:
    while error:
        print(json.dumps([type(error).__name__, str(error)]))
        error = error.__cause__ or error.__context__
"""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    told = subprocess.run([sys.executable, "-c", line, address], env=environ, stdout=subprocess.PIPE, check=True).stdout
    told = (json.loads(line) for line in told.splitlines() if line.startswith(b"["))
    keep("who has no token", [[kind, last(text)] for kind, text in told])


def living():
    refused()
    nodes("the nodes live")
    submit("a job is submitted", "one", SCRIPT)
    job("a job runs", "one", "RUNNING")
    submit("a job has the name of another", "one", SCRIPT)
    submit("another job is submitted", "two", "true")
    job("a job waits", "two", "PENDING")
    if hasattr(ray, "make_late"):
        ray.make_late()
    job("a job waited for too long", "two", "FAILED")
    submit("a third job is submitted", "three", "true")
    job("a third job waits", "three", "PENDING")
    while True:
        try:
            supervisor = ray.get_actor("_ray_internal_job_actor_three", namespace="SUPERVISOR_ACTOR_RAY_NAMESPACE")
            break
        except ValueError:
            time.sleep(0.1)
    ray.kill(supervisor)
    job("the supervisor of a job that waits is killed", "three", "FAILED")
    keep("a job is stopped", ask("POST", "/api/jobs/one/stop"))
    job("a job was stopped", "one", "STOPPED")
    submit("a job is submitted that ends well", "four", "true")
    job("a job ended well", "four", "SUCCEEDED")
    submit("a job is submitted that fails", "five", "exit 3")
    job("a job failed", "five", "FAILED")
    keep("a job is asked for that is not there", ask("GET", "/api/jobs/six"))


ray.init(address=address, log_to_driver=False, logging_level="error")
if part == "living":
    living()
else:
    while all(it["Alive"] for it in ray.nodes()):
        time.sleep(0.1)
    nodes("a node was stopped")
print(json.dumps(answers))
