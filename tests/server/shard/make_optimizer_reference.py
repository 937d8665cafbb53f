#!/usr/bin/python3
"""Writes tests/data/optimizer_reference.txt and learning_rate_reference.txt: parameters and state
after some updates of PyTorch's optimizers in float64 (Keras's Adam by its formula in NumPy), and
the rates of PyTorch's schedules.

    /usr/bin/python3 tests/server/shard/make_optimizer_reference.py

Needs Debian's python3-torch. A line is a name and its numbers; a case's lines follow `case NAME`.
"""

import math
import pathlib

import numpy as np
import torch

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
# As in the C++ test: name, shape, is a bias.
TENSORS = [("conv.weight", (3, 1, 3, 3), False), ("conv.bias", (3,), True), ("fc.weight", (2, 9), False)]
UPDATES = 12
STORED_UPDATES = (1, 2, 12)
SAMPLES = (3, 64, 64, 64, 7, 64, 64, 64, 64, 1, 64, 64)

SGD, ADAM, ADAMW, ADAGRAD = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.Adagrad
CASES = {
    "sgd": (SGD, dict(lr=0.1)),
    "sgd_weight_decay": (SGD, dict(lr=0.1, weight_decay=0.05)),
    "sgd_momentum": (SGD, dict(lr=0.1, momentum=0.9)),
    "sgd_dampening": (SGD, dict(lr=0.1, momentum=0.9, dampening=0.3)),
    "sgd_nesterov": (SGD, dict(lr=0.1, momentum=0.9, nesterov=True)),
    "sgd_everything": (SGD, dict(lr=0.1, momentum=0.8, dampening=0.1, weight_decay=0.05)),
    "sgd_spared_biases": (SGD, dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.05)),
    "adam": (ADAM, dict(lr=0.01)),
    "adam_options": (ADAM, dict(lr=0.01, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.05)),
    "adamw": (ADAMW, dict(lr=0.01, weight_decay=0.1)),
    "adamw_spared_biases": (ADAMW, dict(lr=0.01, weight_decay=0.1)),
    "adagrad": (ADAGRAD, dict(lr=0.1)),
    "adagrad_options": (
        ADAGRAD,
        dict(lr=0.1, lr_decay=0.1, weight_decay=0.05, initial_accumulator_value=0.2, eps=1e-3),
    ),
    "adagrad_spared_biases": (ADAGRAD, dict(lr=0.1, weight_decay=0.05)),
    # A large epsilon tells its two places apart.
    "adam_keras_epsilon": (None, dict(lr=0.01, betas=(0.9, 0.999), eps=1e-2)),
}


def split(flat):
    """The flat vector (without padding) as the tensors."""
    sizes = [math.prod(shape) for _, shape, _ in TENSORS]
    return [t.reshape(shape) for t, (_, shape, _) in zip(torch.split(flat, sizes), TENSORS)]


def flatten(tensors):
    return torch.cat([t.reshape(-1) for t in tensors]).numpy()


def line(out, name, values):
    out.write(name + " " + " ".join(f"{v:.12g}" for v in values) + "\n")


def run_torch(name, optimizer_class, options, initial, gradients, store):
    parameters = [torch.nn.Parameter(t.clone()) for t in split(initial)]
    groups = [{"params": [p]} for p in parameters]
    if name.endswith("spared_biases"):
        for group, (_, _, is_bias) in zip(groups, TENSORS):
            if is_bias:
                group["weight_decay"] = 0.0
    optimizer = optimizer_class(groups, **options)
    for update in range(UPDATES):
        for parameter, gradient in zip(parameters, split(gradients[update] / SAMPLES[update])):
            parameter.grad = gradient.clone()
        optimizer.step()
        state = {}
        for key in ("momentum_buffer", "exp_avg", "exp_avg_sq", "sum"):
            found = [optimizer.state[p].get(key) for p in parameters]
            if found[0] is not None:
                state[key] = flatten(found)
        store(update + 1, flatten([p.detach() for p in parameters]), state)


def run_keras(options, initial, gradients, store):
    """keras/optimizers/adam.py: epsilon beside sqrt(v), the corrections in the rate."""
    p = initial.numpy().copy()
    m, v = np.zeros_like(p), np.zeros_like(p)
    beta1, beta2 = options["betas"]
    for update in range(UPDATES):
        g = gradients[update].numpy() / SAMPLES[update]
        t = update + 1
        alpha = options["lr"] * np.sqrt(1 - beta2**t) / (1 - beta1**t)
        m += (g - m) * (1 - beta1)
        v += (g * g - v) * (1 - beta2)
        p -= m * alpha / (np.sqrt(v) + options["eps"])
        store(t, p, {"exp_avg": m, "exp_avg_sq": v})


def write_optimizers():
    torch.manual_seed(1)
    total = sum(math.prod(shape) for _, shape, _ in TENSORS)
    # Exact in fp32, so that both sides start from the same numbers.
    initial = torch.randn(total).double()
    samples = torch.tensor(SAMPLES, dtype=torch.float32).reshape(-1, 1)
    gradients = (torch.randn(UPDATES, total) * samples).double()
    with open(DATA / "optimizer_reference.txt", "w") as out:
        out.write(f"# Made by {pathlib.Path(__file__).name}.\n")
        line(out, "samples", SAMPLES)
        line(out, "initial", initial.numpy())
        for gradient in gradients:
            line(out, "gradient", gradient.numpy())
        for name, (optimizer_class, options) in CASES.items():
            out.write(f"case {name}\n")

            def store(update, parameters, state):
                if update not in STORED_UPDATES:
                    return
                line(out, f"parameters@{update}", parameters)
                for key, values in state.items():
                    line(out, f"{key}@{update}", values)

            if optimizer_class is None:
                run_keras(options, initial, gradients, store)
            else:
                run_torch(name, optimizer_class, options, initial, gradients, store)


def rates(scheduler_of, updates, updates_per_scheduler_step):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.25)
    scheduler = scheduler_of(optimizer)
    found = []
    for update in range(updates):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if (update + 1) % updates_per_scheduler_step == 0:
            scheduler.step()
    return found


def write_schedules():
    schedule = torch.optim.lr_scheduler
    with open(DATA / "learning_rate_reference.txt", "w") as out:
        out.write(f"# Made by {pathlib.Path(__file__).name}: base 0.25, 7 steps an epoch.\n")
        step = rates(lambda o: schedule.StepLR(o, step_size=2, gamma=0.7), 70, 7)
        line(out, "step_every_2_epochs_factor_0.7", step)
        cosine = rates(lambda o: schedule.CosineAnnealingLR(o, T_max=70, eta_min=0.01), 70, 1)
        line(out, "cosine_minimum_0.01", cosine)


write_optimizers()
write_schedules()
