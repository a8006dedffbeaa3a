#!/bin/sh
# Makes the bundled model, cascada-mini, from free data. Run from a folder that has data/ (README.md names what is in it)
# and, in the hub's layout, the encoders runs/minilm, runs/e5-small and runs/gte-small. Steps that are done are skipped
# when the script is run again; training and its teachers resume where they were stopped.
set -e
recipes=$(dirname "$0")
test -e data/mini/dev/trecqa-long-tune.jsonl || python "$recipes/dev_sets.py" data data/mini/dev
test -e data/mini/calibration.jsonl || python "$recipes/lists.py" data data/mini/dev data/mini

# the teachers: a cross-encoder that learned from sentences of SQuAD, and encoders as they come
test -e runs/mini-teacher/model.safetensors ||
    python "$recipes/../../benchmarks/train_cross_encoder.py" runs/e5-small data/squad/train-v1.1.json.gz \
        runs/mini-teacher --questions 10000 --rate 1e-4
test -e data/mini/passages-scored.jsonl ||
    python "$recipes/../scores.py" data/mini/passages.jsonl data/mini/passages-scored.jsonl --questions 1800 \
        late:runs/minilm=1 cosine:runs/gte-small=1 late:runs/gte-small=0.5
test -e data/mini/sentences-scored.jsonl ||
    python "$recipes/../scores.py" data/mini/sentences.jsonl data/mini/sentences-scored.jsonl --questions 4500 \
        late:runs/minilm=0.5 runs/mini-teacher=1

cascada train "$recipes/mini.yaml"
test -e runs/mini-calibrated || cascada calibrate runs/mini-trained data/mini/calibration.jsonl runs/mini-calibrated
test -e runs/cascada-mini || cascada export runs/mini-calibrated runs/cascada-mini --data data/mini/dev/trecqa.jsonl
cascada tune runs/cascada-mini data/mini/dev/trecqa-long-tune.jsonl --ratios 0.85 --at-least 60 --budget 1 --save
python "$recipes/table.py" data/mini/dev runs/cascada-mini
