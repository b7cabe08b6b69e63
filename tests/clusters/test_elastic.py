"""Ray Train with elastic workers: within one `fit` a node comes, a worker is killed, and the node goes again."""

import concurrent.futures
import time

import ray
from ray.train import FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer

from tests.clusters.killed_loop import EVERY, expected, merged, write_data
from tests.clusters.local_ray import STORE
from tests.clusters.test_kills import worker

GROWS, KILLED, SHRINKS = 2 * EVERY + 1, 4 * EVERY, 6 * EVERY + 1  # steps, two of which come after their checkpoint


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
            num_workers=(1, 2), resources_per_worker={"seat": 1}, elastic_resize_monitor_interval_s=2
        ),
        run_config=RunConfig(
            name="elastic", storage_path=str(folder / "runs"), failure_config=FailureConfig(max_failures=-1)
        ),
    ).fit()


def look_for_nodes():
    """Ray's coordinator of resources does so every 20 seconds, and now."""
    coordinator = ray.get_actor("AutoscalingCoordinator", namespace="AutoscalingCoordinator")
    ray.get(coordinator.get_reserved_resources.remote("no requester", recompute=True))


def test_one_to_two_and_back(nodes, tmp_path, monkeypatch):
    """Each sample once in each epoch, augmented as in an undisturbed run of one process."""
    monkeypatch.setenv("RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", "10")  # where it has asked for the node that is gone
    write_data(tmp_path)
    epochs = 3

    def wait_for(step):
        while not (tmp_path / f"held-{step}").exists():
            assert not fitted.done(), fitted.result()
            time.sleep(0.1)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        fitted = pool.submit(fit, tmp_path, epochs)
        wait_for(GROWS)
        node = nodes.add_node(num_cpus=1, resources={"seat": 1}, object_store_memory=STORE)
        look_for_nodes()
        wait_for(SHRINKS)
        nodes.remove_node(node, allow_graceful=False)
        while sum(each["Alive"] for each in ray.nodes()) > 1:
            time.sleep(0.01)
        look_for_nodes()
        fitted.result()
    assert all((tmp_path / name).exists() for name in (f"held-{GROWS}", f"killed-{KILLED}", f"held-{SHRINKS}"))
    ranks = [len(list((tmp_path / "log" / f"{step:06}").iterdir())) for step in (1, KILLED, SHRINKS + 2)]
    assert ranks == [1, 2, 1]
    assert merged(tmp_path) == expected(tmp_path, epochs)
