"""A scheduler and workers of Dask, processes of one thread each, on the loopback interface."""

import os

from dask.distributed import LocalCluster

import ladder

if __name__ == "__main__":
    cluster = LocalCluster(
        n_workers=ladder.WORKERS,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
        scheduler_port=int(os.environ["LADDER_PORT"]),
        local_directory=ladder.DIR,
    )
    print("ready", flush=True)
    import signal

    signal.pause()
