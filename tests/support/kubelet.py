"""A kubelet that runs pods as plain processes of this machine: python3 kubelet.py NODE SERVER TOKEN PORT. What runs beside them by `kubectl exec` is
kwok's, which listens at PORT. An image called `missing` cannot be pulled."""

import datetime
import json
import os
import pathlib
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

node, server, token, port = sys.argv[1:]
context = ssl._create_unverified_context()


def call(method, path, body=None, kind="application/json"):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
    try:
        with urllib.request.urlopen(urllib.request.Request(server + path, data, headers, method=method), context=context, timeout=5) as answer:
            return json.load(answer)
    except (urllib.error.HTTPError, OSError):
        return {}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def status_of(pod, status):
    meta = pod["metadata"]
    call("PATCH", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/status", {"status": status}, "application/merge-patch+json")


def container(pod, state):
    spec = pod["spec"]["containers"][0]
    return {"name": spec["name"], "image": spec["image"], "imageID": "", "restartCount": 0, "ready": "running" in state, "state": state}


def end(main, pod):
    """With the first process of a container all others go, and its file system."""
    try:
        os.killpg(main.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    main.wait()
    pathlib.Path("/tmp", pod["metadata"]["labels"]["job-name"]).unlink(missing_ok=True)


labels = {"kubernetes.io/os": "linux", "kubernetes.io/hostname": node, "pool": node[:1]}
call("POST", "/api/v1/nodes", {"metadata": {"name": node, "labels": labels}})
running = {}
while True:
    beat = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": int(port)}},
        "allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"},
        "capacity": {"cpu": "2", "memory": "4Gi", "pods": "10"},
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready", "lastHeartbeatTime": now(), "lastTransitionTime": now()}],
    }
    call("PATCH", f"/api/v1/nodes/{node}/status", {"status": beat}, "application/merge-patch+json")
    for pod in call("GET", f"/api/v1/pods?fieldSelector=spec.nodeName={node}").get("items", []):
        meta, spec = pod["metadata"], pod["spec"]
        main = running.get(meta["uid"])
        if meta.get("deletionTimestamp"):
            if main:
                end(main, pod)
            call("DELETE", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}?gracePeriodSeconds=0")
        elif main is None and spec["containers"][0]["image"] == "missing":
            waiting = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "missing"'}
            status_of(pod, {"phase": "Pending", "containerStatuses": [container(pod, {"waiting": waiting})]})
        elif main is None and pod["status"]["phase"] == "Pending":
            running[meta["uid"]] = subprocess.Popen(spec["containers"][0]["command"], cwd="/", stdin=subprocess.DEVNULL, start_new_session=True)
            status_of(pod, {"phase": "Running", "startTime": now(), "containerStatuses": [container(pod, {"running": {"startedAt": now()}})]})
        elif main and main.poll() is not None and pod["status"]["phase"] == "Running":
            end(main, pod)
            ended = {"exitCode": main.returncode, "reason": "Completed" if main.returncode == 0 else "Error", "startedAt": now(), "finishedAt": now()}
            phase = "Succeeded" if main.returncode == 0 else "Failed"
            status_of(pod, {"phase": phase, "containerStatuses": [container(pod, {"terminated": ended})]})
    time.sleep(0.2)
