"""A Ray of one node, which ends with us, and its remote tasks."""

import os

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
import ray  # noqa: E402

import ladder  # noqa: E402

# A socket has a short name only: its directory is reached through ours, which is $LADDER_DIR.
ray.init(num_cpus=ladder.WORKERS, include_dashboard=False, _temp_dir=f"/proc/{os.getpid()}/cwd", log_to_driver=False, logging_level="error")
task = ray.remote(ladder.task)


def burst(tasks, nanoseconds):
    ray.get([task.remote(nanoseconds) for _ in range(tasks)])


ladder.serve(burst)
