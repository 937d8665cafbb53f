#!/usr/bin/env python3
"""Images per second of training the MNIST CNN, beside PyTorch on the same cores in the same minutes.

    tests/bench/training_against_pytorch.py [--rounds 3] [--data DIR] [--programs build/release/bin]

Two comparisons, each run in turns, so that what else the machine does hits both; medians and all
values are printed:

  one core:   1 server and 1 worker of 1 thread      PyTorch, 1 thread             batch 64
  two cores:  1 server and 2 workers of 1 thread     PyTorch, DDP with 2 ranks     batch 64 for each

Time counts from the first step to the last; evaluation and start-up do not. "One core": everything
of one side is bound to one core. Needs a Python with PyTorch (Debian: /usr/bin/python3).
"""

import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = 1000
BATCH = 64


def train_with_pytorch(data):
    """One rank: the network, optimizer and input pipeline of PyTorch's MNIST example, from memory."""
    import numpy
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(0)
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))

    def read(name, offset):
        raw = gzip.open(pathlib.Path(data) / (name + ".gz")).read()
        return numpy.frombuffer(raw, numpy.uint8, offset=offset)

    pixels = read("train-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28)
    images = (torch.tensor(pixels.astype("f4") / 255) - 0.2860) / 0.3530
    labels = torch.tensor(read("train-labels-idx1-ubyte", 8).astype("i8"))
    network = nn.Sequential(nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(10, 20, 5),
                            nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(320, 50), nn.ReLU(),
                            nn.Linear(50, 10))
    if world > 1:
        torch.distributed.init_process_group("gloo")
        network = nn.parallel.DistributedDataParallel(network)
    loss = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.5)
    order = torch.randperm(len(images))[rank::world]
    steps = min(STEPS, len(order) // BATCH)
    begin = time.monotonic()
    for step in range(steps):
        chosen = order[step * BATCH:(step + 1) * BATCH]
        optimizer.zero_grad()
        loss(network(images[chosen]), labels[chosen]).backward()
        optimizer.step()
    if world > 1:
        torch.distributed.barrier()
    if rank == 0:
        print(steps * BATCH * world / (time.monotonic() - begin))


def pytorch_rate(arguments, ranks, cores):
    processes = []
    for rank in range(ranks):
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if ranks > 1:
            environment.update(RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
                               MASTER_PORT=str(29400 + os.getpid() % 500))
        processes.append(subprocess.Popen(
            ["taskset", "-c", cores, arguments.python, __file__, "--data", arguments.data,
             "--pytorch-rank"], stdout=subprocess.PIPE, text=True, env=environment))
    outputs = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        sys.exit("PyTorch failed")
    return float(outputs[0])


def tributary_rate(arguments, workers, cores):
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        subprocess.run(
            ["taskset", "-c", cores, f"{arguments.programs}/tributary", "run",
             str(ROOT / "examples/fashion_mnist_cnn.textproto"), "--servers", "1",
             "--workers", str(workers), "--json", str(result), "--set", f"data.dir={arguments.data}",
             "--set", f"training.max_steps={STEPS}", "--set", "training.epochs=100",
             "--set", f"training.global_batch={BATCH * workers}",
             "--set", f"training.slots={workers}", "--set", f"training.min_workers={workers}",
             "--set", "evaluation.every_epochs=0"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads(result.read_text())["images_per_second"]


def compare(name, rounds, ours, theirs):
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    for side, values in (("tributary", [p[0] for p in pairs]), ("pytorch", [p[1] for p in pairs])):
        print(f"{name}: {side:9} {statistics.median(values):9,.0f} images/s   "
              f"({', '.join(f'{value:,.0f}' for value in values)})")
    print(f"{name}: ratio     {statistics.median(p[0] / p[1] for p in pairs):9.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--programs", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--pytorch-rank", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.pytorch_rank:
        train_with_pytorch(arguments.data)
        return
    compare("one core", arguments.rounds, lambda: tributary_rate(arguments, 1, "0"),
            lambda: pytorch_rate(arguments, 1, "0"))
    compare("two cores", arguments.rounds, lambda: tributary_rate(arguments, 2, "0,1"),
            lambda: pytorch_rate(arguments, 2, "0,1"))


if __name__ == "__main__":
    main()
