"""One Ray on this machine, to which nodes can be added."""

import contextlib
import logging
import os
import signal
import sys
from unittest import mock

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # asks for 127.0.0.1, as on those
os.environ["RAY_TRAIN_V2_ENABLED"] = "1"
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  # else other load slows its workers down until they time out
os.environ["RAY_raylet_start_wait_time_s"] = "600"  # noqa: SIM112
os.environ["RAY_worker_register_timeout_seconds"] = "600"  # noqa: SIM112
# A worker that has ended and a node that is gone are seen soon; a node that is slow to answer still has 10 seconds.
os.environ["RAY_TRAIN_HEALTH_CHECK_INTERVAL_S"] = "0.2"
os.environ["RAY_health_check_period_ms"] = "300"  # noqa: SIM112

import ray
import ray.data
from ray.cluster_utils import Cluster

STORE = 100 * 2**20  # bytes of the object store of a node


@contextlib.contextmanager
def local_ray():
    """A node of two CPUs, a GPU that is not there, and a seat: what a worker of elastic training takes."""
    on_interrupt = signal.getsignal(signal.SIGINT)
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)):  # its workers import the tests
        nodes = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 2,
                "num_gpus": 1,
                "resources": {"seat": 1},
                "object_store_memory": STORE,
                "include_dashboard": False,
            },
        )
        try:
            ray.init(address=nodes.address, log_to_driver=False, logging_level=logging.ERROR)
            context = ray.data.DataContext.get_current()
            context.enable_progress_bars = False
            context.print_on_execution_start = False
            yield nodes
        finally:
            ray.shutdown()
            nodes.shutdown()
            signal.signal(signal.SIGINT, on_interrupt)  # Ray Train leaves one that no longer raises KeyboardInterrupt
