#!/bin/sh
# usage: run_probe.sh CHECKPOINT [DATA]
set -eu
CHECKPOINT=$1
DATA=${2:-/data/smallscenes}

python probe/extract.py "$CHECKPOINT" --data "$DATA" --out features --batch-size 256
python probe/evaluate.py features --config configs/linear.json --seeds 5 | tee result.json
