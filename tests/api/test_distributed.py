"""Which process of a run this one is: what launchers and frameworks say, and readers that follow."""

import os
import socket
import subprocess
import sys

import pytest

import avida as ndd

SAID = ("RANK", "WORLD", "MPI", "PMI", "SLURM", "MV2")


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No variable of a launcher is set."""
    for name in list(os.environ):
        if any(word in name for word in SAID):
            monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ("", "0 1 0 0 a process alone"),
        ("RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 GROUP_RANK=2", "3 8 1 2 torchrun"),
        ("RANK=3 WORLD_SIZE=8", "3 8 None None torchrun"),
        ("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1", "1 4 1 None Open MPI"),
        ("MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=4", "1 4 None None MVAPICH"),
        ("PMI_RANK=0 PMI_SIZE=2 MPI_LOCALRANKID=0", "0 2 0 None MPICH"),
        ("SLURM_PROCID=5 SLURM_STEP_NUM_TASKS=6 SLURM_LOCALID=2 SLURM_NODEID=1", "5 6 2 1 SLURM"),
        # The script of a job: no step of it.
        ("SLURM_PROCID=0 SLURM_NTASKS=6 SLURM_LOCALID=0 SLURM_NODEID=0", "0 1 0 0 a process alone"),
        # One task of SLURM on each node, with torchrun in it; and MPI's processes started by SLURM, which agree.
        ("SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_NODEID=1 RANK=9 WORLD_SIZE=16", "9 16 None None torchrun"),
        ("PMI_RANK=1 PMI_SIZE=2 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=0 SLURM_NODEID=1", "1 2 0 1 MPICH"),
    ],
)
def test_launchers(variables, expected, monkeypatch):
    for variable in variables.split():
        monkeypatch.setenv(*variable.split("="))
    world = ndd.distributed.world()
    assert f"{world.rank} {world.size} {world.local_rank} {world.node} {world.source}" == expected


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ("RANK=1", "expected both RANK and WORLD_SIZE, got RANK=1 and no WORLD_SIZE"),
        ("WORLD_SIZE=2", "got WORLD_SIZE=2 and no RANK"),
        ("RANK=2 WORLD_SIZE=2", "got RANK=2 and WORLD_SIZE=2"),
        ("RANK=one WORLD_SIZE=2", "expected a number in the variable RANK of the environment, got 'one'"),
    ],
)
def test_wrong_variables(variables, message, monkeypatch):
    for variable in variables.split():
        monkeypatch.setenv(*variable.split("="))
    with pytest.raises(RuntimeError, match=message):
        ndd.distributed.world()


def run_both(program: str, variables: dict[str, str]) -> list[str]:
    """What two processes print, which are told their number."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    begin = f"import sys; rank, port = int(sys.argv[1]), {port}\n"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", begin + program, str(rank)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | variables,
        )
        for rank in range(2)
    ]
    outputs = [process.communicate(timeout=300)[0].strip() for process in started]
    assert [process.returncode for process in started] == [0, 0]
    return outputs


def test_torch():
    """Its process group is asked before the variables of the environment, and only once it is there."""
    program = """
import os
import avida as ndd
import torch.distributed
early = ndd.ExternalSource(list(range(10)), shards="auto", last_batch="partial")
torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
print(ndd.distributed.world())
reader = ndd.ExternalSource(list(range(10)), shards="auto")
print([x.item() for (x,) in reader.next_epoch()])
try:
    early.next_epoch()
except RuntimeError as error:
    print(error)
torch.distributed.destroy_process_group()
"""
    for rank, output in enumerate(run_both(program, {"RANK": "0", "WORLD_SIZE": "1"})):
        place, samples, message = output.splitlines()
        assert place == f"rank {rank} of 2 (torch.distributed)"
        assert samples == str(list(range(5 * rank, 5 * rank + 5)))
        assert message == (
            "ExternalSource: the reader was made as rank 0 of 1 (torchrun), and this process is now "
            f"rank {rank} of 2 (torch.distributed): make the reader after the processes know of one another, and "
            "again when their number changes; its state goes on"
        )


def test_jax():
    program = """
import jax
jax.distributed.initialize(f"127.0.0.1:{port}", 2, rank)
import avida as ndd
print(ndd.distributed.world())
"""
    assert run_both(program, {"JAX_PLATFORMS": "cpu"}) == [f"rank {rank} of 2 (jax.distributed)" for rank in range(2)]


def test_nothing_is_imported():
    program = "import sys, avida; avida.distributed.world(); print({'jax', 'ray', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.stdout == "set()\n", done.stderr


def test_a_reader_of_a_world(tmp_path):
    names = [str(tmp_path / f"{i}.bin") for i in range(5)]
    parts = [ndd.readers.File(files=names, shards=ndd.distributed.World(rank, 2), lazy_init=True) for rank in range(2)]
    assert [part.get_state().shards for part in parts] == [2, 2]
    assert ndd.distributed.World(1, 2) == ndd.distributed.World(1, 2, 0, 0, "SLURM") != ndd.distributed.World(0, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shards": "auto", "num_shards": 2}, "got both"),
        ({"shards": 2}, 'expected "auto" or a World in shards, got 2'),
    ],
)
def test_wrong_shards(arguments, message):
    with pytest.raises(TypeError, match=message):
        ndd.readers.File(files=["a"], lazy_init=True, **arguments)


def test_a_rank_beyond_the_size():
    with pytest.raises(ValueError, match="expected a rank from 0 to size - 1, got rank 2 of 2"):
        ndd.distributed.World(2, 2)
