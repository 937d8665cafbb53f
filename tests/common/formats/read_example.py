#!/usr/bin/env python3
"""Reads the file that write_example writes, by the format's description alone.

    read_example.py WRITE_EXAMPLE_PROGRAM

Exit code 77 (skipped) where NumPy is missing. PyTorch and the safetensors package read it too, where
they are installed.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)


def read(path):
    """The arrays and the metadata of a safetensors file of F32 arrays."""
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    assert length % 8 == 0 and data[8:9] == b"{"
    header = json.loads(data[8:8 + length].decode("utf-8"))
    metadata, body, arrays, used = header.pop("__metadata__", {}), data[8 + length:], {}, 0
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F32" and begin == used
        arrays[name] = numpy.frombuffer(body[begin:end], dtype="<f4").reshape(entry["shape"])
        used = end
    assert used == len(body)
    return arrays, metadata


def check(arrays):
    """Whether the arrays are what write_example.cc says."""
    assert sorted(arrays) == ["conv1.bias", "conv1.weight"], arrays.keys()
    weight = numpy.arange(2 * 3 * 5 * 7, dtype=numpy.float32).reshape(2, 3, 5, 7) / 4
    assert numpy.array_equal(arrays["conv1.weight"], weight)
    bias = numpy.array([-1.5, 1e-45], dtype=numpy.float32)
    assert arrays["conv1.bias"].tobytes() == bias.tobytes()


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "example.safetensors")
        subprocess.run([sys.argv[1], path], check=True)
        arrays, metadata = read(path)
        check(arrays)
        assert metadata == {"format": "pt", "name": "caf\u00e9"}, metadata
        print("read with json and numpy")

        try:
            import torch
            layer = torch.nn.Conv2d(3, 2, (5, 7))
            layer.load_state_dict({name.removeprefix("conv1."): torch.from_numpy(array.copy())
                                   for name, array in arrays.items()})
            print("loaded into PyTorch")
        except ImportError:
            print("PyTorch is not installed")

        try:
            import safetensors.numpy
            check(safetensors.numpy.load_file(path))
            print("read with the safetensors package")
        except ImportError:
            print("the safetensors package is not installed")


if __name__ == "__main__":
    main()
