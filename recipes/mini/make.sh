#!/bin/sh
# Makes the bundled model, cascada-mini, from free data: SQuAD's sentences (data/squad_sentences) and SelQA (data/selqa),
# and the encoder e5-small. About an hour on two cores. Run from a folder that has data/.
set -e
recipes=$(dirname "$0")
test -e data/squad-mined.jsonl ||
    cascada data mine squad_sentences data/squad-mined.jsonl --root data/squad_sentences --split test --seed 1
cascada train "$recipes/transfer.yaml"
cascada cut runs/mini-transfer runs/mini-cut --exits 4,6,8
cascada calibrate runs/mini-cut selqa runs/mini --root data/selqa
cascada export runs/mini runs/cascada-mini --data selqa --root data/selqa
cascada tune runs/cascada-mini selqa --root data/selqa --ratios 0.3 --budget 1 --save  # the paper's α
