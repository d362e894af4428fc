#!/usr/bin/env bash
set -euo pipefail
DATA=${1:-/data/smallscenes}

torchrun --nproc_per_node=8 pretrain.py \
    --config configs/pretrain_small.yaml \
    --data "$DATA" \
    --norm_pix_loss \
    --mask_ratio 0.75 \
    --warmup_epochs 40 \
    --base_lr 1.5e-4 \
    --weight_decay 0.05 \
    --output runs/pretrain_small
