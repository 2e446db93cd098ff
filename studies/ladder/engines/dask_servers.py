"""A scheduler and workers of Dask, processes of one thread each. They run what anybody who reaches them sends, so that their network is
theirs alone."""

import os

import ladder

# Of the scheduler as well, which takes no directory.
os.environ["DASK_TEMPORARY_DIRECTORY"] = ladder.DIR
from dask.distributed import LocalCluster  # noqa: E402

if __name__ == "__main__":
    cluster = LocalCluster(
        n_workers=ladder.WORKERS,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
        scheduler_port=int(os.environ["LADDER_PORT"]),
    )
    print("ready", flush=True)
    import signal

    signal.pause()
