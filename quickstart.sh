#!/bin/bash
# From a fresh Debian 12 to a trained network: installs the packages that are missing, builds
# Tributary, and trains PyTorch's MNIST example network on the Fashion-MNIST images with two
# parameter servers and two workers on this machine. Arguments go to `tributary run`:
#
#   ./quickstart.sh
#   ./quickstart.sh --set training.epochs=3
set -euo pipefail
started_in=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"

scripts/install_packages.sh
scripts/build.sh release tributary tributary-server tributary-worker

top=$PWD
cd "$started_in"
exec "$top/build/release/bin/tributary" run "$top/examples/fashion_mnist_cnn.textproto" \
  --servers 2 --workers 2 --model-out fashion_mnist_cnn.safetensors "$@"
