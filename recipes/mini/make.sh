#!/bin/sh
# Makes the bundled model, cascada-mini, from free data. Run from a folder that has data/ (README.md names what is in it)
# and, in the hub's layout, the encoders runs/minilm, runs/e5-small and runs/gte-small. Steps that are done are skipped
# when the script is run again; training and its teachers resume where they were stopped.
set -e
recipes=$(dirname "$0")
test -e data/mini/dev/tydi.jsonl || python "$recipes/dev_sets.py" data data/mini/dev
test -e data/mini/calibration.jsonl || python "$recipes/lists.py" data data/mini/dev data/mini

# the cross-encoder among the teachers: e5-small on sentences of SQuAD
test -e data/squad-mined.jsonl ||
    cascada data mine squad_sentences data/squad-mined.jsonl --root data/squad_sentences --split test --seed 1
cascada train "$recipes/teacher.yaml"

cascada train "$recipes/mini.yaml"
test -e runs/mini-calibrated || cascada calibrate runs/mini-trained data/mini/calibration.jsonl runs/mini-calibrated
test -e runs/cascada-mini || cascada export runs/mini-calibrated runs/cascada-mini --data data/mini/dev/trecqa.jsonl
cascada tune runs/cascada-mini data/mini/calibration.jsonl --ratios 0.6 --at-least 60 --budget 1 --save
python "$recipes/table.py" data/mini/dev runs/cascada-mini
