#!/usr/bin/python3
"""PyTorch and `tributary eval` compute the same from a model file that a cluster has written.

    torch_agrees_test.py PROGRAM SOURCE_FOLDER

For both ready models: trains some steps through two servers and two workers, loads the file into
PyTorch from the format's description alone, and compares every logit of the test set to 1e-5 and the
accuracy to the last image. Exit code 77: skipped, no PyTorch or no images.
"""

import gzip
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
MEAN, STDDEV = 0.2860, 0.3530

try:
    import numpy
    import torch
    from torch import nn
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def networks():
    """Layers by the names that the model files give them."""
    return {
        "mnist_cnn": [("conv1", nn.Conv2d(1, 10, 5)), ("", nn.MaxPool2d(2)), ("", nn.ReLU()),
                      ("conv2", nn.Conv2d(10, 20, 5)), ("", nn.MaxPool2d(2)), ("", nn.ReLU()),
                      ("", nn.Flatten()), ("fc1", nn.Linear(320, 50)), ("", nn.ReLU()),
                      ("fc2", nn.Linear(50, 10))],
        "mnist_tf_cnn": [("conv1", nn.Conv2d(1, 32, 3)), ("", nn.ReLU()), ("", nn.MaxPool2d(2)),
                         ("conv2", nn.Conv2d(32, 64, 3)), ("", nn.ReLU()), ("", nn.MaxPool2d(2)),
                         ("conv3", nn.Conv2d(64, 64, 3)), ("", nn.ReLU()), ("", nn.Flatten()),
                         ("fc1", nn.Linear(576, 64)), ("", nn.ReLU()), ("fc2", nn.Linear(64, 10))],
    }


def read_safetensors(path):
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + length])
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__":
            assert entry["format"] == "pt", entry
            continue
        assert entry["dtype"] == "F32", entry
        begin, end = entry["data_offsets"]
        values = numpy.frombuffer(raw[8 + length + begin:8 + length + end], "<f4")
        arrays[name] = torch.tensor(values.reshape(entry["shape"]))
    return arrays


def read_idx(name, offset):
    return numpy.frombuffer(gzip.open(DATA / (name + ".gz")).read(), numpy.uint8, offset=offset)


def check(program, source, folder, name, layers):
    model, result, logits_file = folder / "model", folder / "result", folder / "logits"
    subprocess.run(
        [program, "run", source / f"examples/{name}.textproto", "--servers", "2", "--workers", "2",
         "--set", f"data.dir={DATA}", "--set", f"data.mean={MEAN}", "--set", f"data.stddev={STDDEV}",
         "--set", "training.max_steps=300", "--model-out", model, "--json", result], check=True)
    subprocess.run([program, "eval", model, "--logits", logits_file], check=True)

    network = nn.Sequential()
    for i, (layer, module) in enumerate(layers):
        network.add_module(layer or f"layer{i}", module)
    # Strict: every name and shape fits, and none is left over.
    network.load_state_dict(read_safetensors(model))
    pixels = read_idx("t10k-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28)
    images = (torch.tensor(pixels.astype("f4")) / 255 - MEAN) / STDDEV
    with torch.no_grad():
        theirs = network(images).numpy()
    ours = read_safetensors(logits_file)["logits"].numpy()
    difference = numpy.abs(ours - theirs) / numpy.maximum(1, numpy.abs(theirs))
    assert difference.max() <= 1e-5, f"{name}: logits differ by {difference.max()}"
    correct = int((theirs.argmax(1) == read_idx("t10k-labels-idx1-ubyte", 8)).sum())
    counted = json.loads(result.read_text())["test_correct"]
    assert correct == counted, f"{name}: PyTorch has {correct} right, the run {counted}"
    assert correct > 6000, f"{name}: {correct} of 10,000 right after 300 steps"
    print(f"{name}: logits within {difference.max():.1e}, {correct} of {len(theirs)} right in both")


def main():
    if not DATA.is_dir():
        print(f"skipped: no folder {DATA}")
        sys.exit(77)
    program, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    torch.manual_seed(0)
    for name, layers in networks().items():
        with tempfile.TemporaryDirectory() as folder:
            check(program, source, pathlib.Path(folder), name, layers)


if __name__ == "__main__":
    main()
