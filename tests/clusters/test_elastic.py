"""Ray Train with elastic workers: within one `fit` a node comes, a worker is killed, and the node goes again."""

import concurrent.futures
import contextlib
import time

from ray.cluster_utils import Cluster
from ray.train import FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer

from tests.clusters.killed_loop import EVERY, expected, merged, write_data
from tests.clusters.local_ray import STORE, connected
from tests.clusters.test_kills import worker

NODE = {"num_cpus": 1, "resources": {"seat": 1}, "object_store_memory": STORE}
GROWS, KILLED, SHRINKS = 2 * EVERY + 1, 4 * EVERY, 6 * EVERY + 1  # steps, two of which come after their checkpoint


@contextlib.contextmanager
def cluster():
    nodes = Cluster(initialize_head=True, head_node_args=NODE | {"include_dashboard": False})
    try:
        with connected(address=nodes.address):
            yield nodes
    finally:
        nodes.shutdown()


def fit(folder, epochs):
    TorchTrainer(
        worker,
        train_loop_config={
            "run": (str(folder), epochs, 10**6, [KILLED]),
            "holds": [(GROWS, 1), (SHRINKS, 2)],
            "resume": None,
        },
        torch_config=TorchConfig(backend="gloo"),
        scaling_config=ScalingConfig(
            num_workers=(1, 2), resources_per_worker={"seat": 1}, elastic_resize_monitor_interval_s=1
        ),
        run_config=RunConfig(
            name="elastic", storage_path=str(folder / "runs"), failure_config=FailureConfig(max_failures=-1)
        ),
    ).fit()


def test_one_to_two_and_back(tmp_path, monkeypatch):
    """Each sample once in each epoch, augmented as in an undisturbed run of one process."""
    monkeypatch.setenv("RAY_TRAIN_HEALTH_CHECK_INTERVAL_S", "0.2")
    write_data(tmp_path)
    epochs = 3

    def wait_for(step):
        while not (tmp_path / f"held-{step}").exists():
            assert not fitted.done(), fitted.result()
            time.sleep(0.1)

    with cluster() as nodes, concurrent.futures.ThreadPoolExecutor() as pool:
        fitted = pool.submit(fit, tmp_path, epochs)
        wait_for(GROWS)
        node = nodes.add_node(**NODE)
        wait_for(SHRINKS)
        nodes.remove_node(node, allow_graceful=False)
        fitted.result()
    assert all((tmp_path / name).exists() for name in (f"held-{GROWS}", f"killed-{KILLED}", f"held-{SHRINKS}"))
    ranks = [len(list((tmp_path / "log" / f"{step:06}").iterdir())) for step in (1, KILLED, SHRINKS + 2)]
    assert ranks == [1, 2, 1]
    assert merged(tmp_path) == expected(tmp_path, epochs)
