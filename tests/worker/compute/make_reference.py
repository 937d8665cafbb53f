#!/usr/bin/python3
"""Writes the expected values of the compute backend's tests, with PyTorch in float64.

Run by hand from the top of the repository with Debian's python3-torch (1.13):

    /usr/bin/python3 tests/worker/compute/make_reference.py

tests/data/reference_mnist_cnn.bin, reference_mnist_tf_cnn.bin (format: tests/support/reference_file.h):
    images       [3, B, 1, 28, 28]  float32, three batches
    labels       [3, B]             int32
    parameter/T                     float32, for every tensor T of the layout, PyTorch's shapes
    logits       [B, 10]            float64, batch 0
    loss                            float64, the sum over batch 0
    gradient/T                      of that sum; float32 (rounded from float64, to save space)
    after_step/T                    the parameters after three steps with the mean gradient of batches
                                    0, 1, 2; float32, rounded at the end alone
The optimizer is, for mnist_cnn, torch.optim.SGD(lr=0.01, momentum=0.5); for mnist_tf_cnn Keras's Adam
(lr 0.001, betas 0.9 and 0.999, epsilon 1e-7, added before the bias correction of the second moment):
    p -= lr sqrt(1 - 0.999^t) / (1 - 0.9^t) * m / (sqrt(v) + epsilon),  t = 1, 2, 3

tests/data/reference_layers.bin: for every case C of LAYER_CASES (the C++ test builds the same models):
    C/images, C/labels, C/parameter/T as above (float32), C/logits, C/loss, C/gradient/T in float64
"""
import struct
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

TYPES = {np.dtype("float32"): b"f", np.dtype("float64"): b"d", np.dtype("int32"): b"i"}


def write(path, arrays):
    with open(path, "wb") as out:
        out.write(b"TRIBREF1")
        for name, array in arrays.items():
            array = np.asarray(array)
            out.write(struct.pack("<I", len(name)) + name.encode() + TYPES[array.dtype])
            out.write(struct.pack("<I", array.ndim) + struct.pack(f"<{array.ndim}Q", *array.shape))
            out.write(np.ascontiguousarray(array).tobytes())


def set_random_parameters(model, random):
    """Uniform with PyTorch's width, exact in float32."""
    for parameter in model.parameters():
        fan_in = parameter[0].numel() if parameter.dim() > 1 else 16
        values = random.uniform(-1, 1, tuple(parameter.shape)) * fan_in**-0.5
        parameter.data = torch.tensor(values.astype("f4")).double()


def loss_and_gradient(model, images, labels):
    model.zero_grad()
    logits = model(torch.tensor(images).double())
    loss = F.cross_entropy(logits, torch.tensor(labels).long(), reduction="sum")
    loss.backward()
    return logits.detach().numpy(), loss.item()


def sgd(model):
    step = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5).step
    return lambda t: step()


def keras_adam(model):
    state = [(torch.zeros_like(p), torch.zeros_like(p)) for p in model.parameters()]

    def step(t):
        rate = 0.001 * (1 - 0.999**t) ** 0.5 / (1 - 0.9**t)
        for p, (m, v) in zip(model.parameters(), state):
            m += (p.grad - m) * (1 - 0.9)
            v += (p.grad**2 - v) * (1 - 0.999)
            p.data -= rate * m / (v.sqrt() + 1e-7)

    return step


def write_model(name, model, make_optimizer, seed, batch):
    random = np.random.default_rng(seed)
    set_random_parameters(model, random)
    images = random.normal(size=(3, batch, 1, 28, 28)).astype("f4")
    labels = random.integers(0, 10, (3, batch)).astype("i4")
    arrays = {"images": images, "labels": labels}
    for n, p in model.named_parameters():
        arrays["parameter/" + n] = p.detach().numpy().astype("f4")
    arrays["logits"], loss = loss_and_gradient(model, images[0], labels[0])
    arrays["loss"] = np.float64(loss)
    for n, p in model.named_parameters():
        arrays["gradient/" + n] = p.grad.numpy().astype("f4")
    step = make_optimizer(model)
    for t in range(3):
        loss_and_gradient(model, images[t], labels[t])
        for p in model.parameters():
            p.grad /= batch
        step(t + 1)
    for n, p in model.named_parameters():
        arrays["after_step/" + n] = p.detach().numpy().astype("f4")
    write(f"tests/data/reference_{name}.bin", arrays)


def named(**layers):
    return nn.Sequential(OrderedDict(layers))


MNIST_CNN = named(
    conv1=nn.Conv2d(1, 10, 5), pool1=nn.MaxPool2d(2), relu1=nn.ReLU(),
    conv2=nn.Conv2d(10, 20, 5), pool2=nn.MaxPool2d(2), relu2=nn.ReLU(),
    flatten=nn.Flatten(), fc1=nn.Linear(320, 50), relu3=nn.ReLU(), fc2=nn.Linear(50, 10))

MNIST_TF_CNN = named(
    conv1=nn.Conv2d(1, 32, 3), relu1=nn.ReLU(), pool1=nn.MaxPool2d(2),
    conv2=nn.Conv2d(32, 64, 3), relu2=nn.ReLU(), pool2=nn.MaxPool2d(2),
    conv3=nn.Conv2d(64, 64, 3), relu3=nn.ReLU(),
    flatten=nn.Flatten(), fc1=nn.Linear(576, 64), relu4=nn.ReLU(), fc2=nn.Linear(64, 10))


def around(input_shape, make):
    """pre (1x1 convolution, so that the layer's data gradient matters), the layers, dense to 3 classes."""
    layers = {"pre": nn.Conv2d(input_shape[0], input_shape[0], 1)}
    layers.update(make)
    body = named(**layers)
    features = body(torch.zeros(1, *input_shape)).numel()
    for name, layer in dict(flatten=nn.Flatten(), post=nn.Linear(features, 3)).items():
        body.add_module(name, layer)
    return input_shape, body.double()


LAYER_CASES = {
    "conv": around((2, 7, 6), dict(x=nn.Conv2d(2, 3, 3))),
    "conv_stride": around((3, 9, 8), dict(x=nn.Conv2d(3, 5, (3, 2), stride=(2, 3)))),
    "conv_padding": around((2, 5, 6), dict(x=nn.Conv2d(2, 4, 3, padding=(2, 1)))),
    "conv_dilation": around((2, 9, 8), dict(x=nn.Conv2d(2, 3, 3, dilation=(2, 3)))),
    "conv_groups": around((4, 6, 6), dict(x=nn.Conv2d(4, 6, 3, groups=2))),
    "conv_depthwise": around((4, 6, 5), dict(x=nn.Conv2d(4, 8, 3, groups=4, padding=1))),
    "conv_everything": around((4, 11, 10), dict(x=nn.Conv2d(
        4, 6, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2, bias=False))),
    "conv_no_bias": around((2, 6, 6), dict(x=nn.Conv2d(2, 3, 3, bias=False))),
    "conv_wide": around((17, 6, 6), dict(x=nn.Conv2d(17, 33, 3, padding=1))),
    "conv_max_pool": around((3, 9, 9), dict(x=nn.Conv2d(3, 5, 4), p=nn.MaxPool2d(2))),
    "conv_relu_max_pool": around((3, 9, 9), dict(
        x=nn.Conv2d(3, 18, 3, padding=1), r=nn.ReLU(), p=nn.MaxPool2d(3))),
    "conv_max_pool_relu": around((17, 8, 8), dict(
        x=nn.Conv2d(17, 4, 3, padding=(0, 1), stride=(1, 2), bias=False), p=nn.MaxPool2d(2), r=nn.ReLU())),
    "conv_max_pool_overlap": around((2, 12, 12), dict(
        x=nn.Conv2d(2, 5, 5, padding=2), p=nn.MaxPool2d(3, stride=2, padding=1), r=nn.ReLU())),
    "conv_dilation_max_pool": around((2, 12, 12), dict(
        x=nn.Conv2d(2, 5, 3, dilation=2), p=nn.MaxPool2d(2), r=nn.ReLU())),
    "conv_groups_max_pool": around((4, 8, 8), dict(
        x=nn.Conv2d(4, 6, 3, groups=2), p=nn.MaxPool2d(2), r=nn.ReLU())),
    "max_pool": around((3, 7, 6), dict(x=nn.MaxPool2d(2))),
    "max_pool_overlap": around((3, 8, 7), dict(x=nn.MaxPool2d((3, 2), stride=(2, 1), padding=(1, 1)))),
    "avg_pool": around((3, 7, 6), dict(x=nn.AvgPool2d(2))),
    "avg_pool_with_padding": around((3, 7, 6), dict(
        x=nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=True))),
    "avg_pool_without_padding": around((3, 7, 6), dict(
        x=nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False))),
    "relu": around((3, 4, 5), dict(x=nn.ReLU())),
    "tanh": around((3, 4, 5), dict(x=nn.Tanh())),
    "sigmoid": around((3, 4, 5), dict(x=nn.Sigmoid())),
    "gelu": around((3, 4, 5), dict(x=nn.GELU())),
    "relu_of_tanh": around((3, 4, 5), dict(x=nn.Tanh(), y=nn.ReLU())),
    "flat_dense": around((5, 1, 1), dict(f=nn.Flatten(), x=nn.Linear(5, 7), y=nn.Tanh())),
    "dense_no_bias": around((2, 3, 3), dict(f=nn.Flatten(), x=nn.Linear(18, 7, bias=False), y=nn.GELU())),
}


def write_layers():
    arrays = {}
    for seed, (case, (shape, model)) in enumerate(LAYER_CASES.items()):
        random = np.random.default_rng(100 + seed)
        set_random_parameters(model, random)
        images = random.normal(size=(3, *shape)).astype("f4")
        labels = random.integers(0, 3, 3).astype("i4")
        logits, loss = loss_and_gradient(model, images, labels)
        arrays.update({case + "/images": images, case + "/labels": labels,
                       case + "/logits": logits, case + "/loss": np.float64(loss)})
        for n, p in model.named_parameters():
            arrays[f"{case}/parameter/{n}"] = p.detach().numpy().astype("f4")
            arrays[f"{case}/gradient/{n}"] = p.grad.numpy()
    write("tests/data/reference_layers.bin", arrays)


if __name__ == "__main__":
    write_model("mnist_cnn", MNIST_CNN.double(), sgd, seed=1, batch=5)
    write_model("mnist_tf_cnn", MNIST_TF_CNN.double(), keras_adam, seed=2, batch=4)
    write_layers()
