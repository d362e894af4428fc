#!/usr/bin/env bash
# Supervised training of plainvit_small; first argument: the data folder.
set -euo pipefail

DATA=${1:?usage: train_small.sh DATA}

torchrun --nproc_per_node=4 train.py \
    --config configs/small.yaml \
    --data "$DATA" \
    --model plainvit_small \
    --output runs/small
