"""One Ray on this machine, for the tests of a module."""

import contextlib
import logging
import os
import signal
import sys

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # asks for 127.0.0.1, as on those
os.environ["RAY_TRAIN_V2_ENABLED"] = "1"
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  # else other load slows its workers down until they time out

import ray
import ray.data

STORE = 100 * 2**20  # bytes of its object store


def local_ray(cpus=2, **options):
    return connected(address="local", num_cpus=cpus, include_dashboard=False, object_store_memory=STORE, **options)


@contextlib.contextmanager
def connected(**options):
    on_interrupt = signal.getsignal(signal.SIGINT)
    ray.init(
        log_to_driver=False,
        logging_level=logging.ERROR,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}},
        **options,
    )
    try:
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        yield
    finally:
        ray.shutdown()
        signal.signal(signal.SIGINT, on_interrupt)  # Ray Train leaves one that no longer raises KeyboardInterrupt
