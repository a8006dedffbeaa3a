#!/bin/sh
# Makes the bundled model, cascada-mini, from free data. Run from a folder that has data/ (README.md names what is in it)
# and, in the hub's layout, the encoders runs/e5-small and runs/mpnet-base. Steps that are done are skipped when the script
# is run again; training and its teachers resume where they were stopped.
set -e
recipes=$(dirname "$0")
test -e data/mini/dev/trecqa-long-tune.jsonl || python "$recipes/dev_sets.py" data data/mini/dev
test -e data/mini/calibration.jsonl || python "$recipes/lists.py" data data/mini/dev data/mini

# the teachers: a cascade that learned from the sentences of SQuAD's articles, and encoders as they come, in 8 bits, or
# with the prompts that they were trained with
squad=data/squad/train-v1.1.json.gz
test -e data/mini/squad-as2-train.jsonl || cascada data squad-as2 $squad data/mini/squad-as2-train.jsonl \
    --part train --train 0.9 --dev 0.05 --negatives 10 --questions 20000
test -e data/mini/squad-as2-dev.jsonl || cascada data squad-as2 $squad data/mini/squad-as2-dev.jsonl \
    --part dev --train 0.9 --dev 0.05 --negatives 20 --questions 150
cascada train "$recipes/teacher.yaml"
test -e runs/mini-teacher-int8 || cascada export runs/mini-teacher runs/mini-teacher-int8
test -e runs/mpnet-int8 || python "$recipes/untrained.py" runs/mpnet-base runs/mpnet-int8
test -e runs/e5-int8 || python "$recipes/untrained.py" runs/e5-small runs/e5-int8 --match late
prompts=runs/e5-small/config_sentence_transformers.json
test -e $prompts || echo '{"prompts": {"query": "query: ", "document": "passage: "}}' > $prompts
test -e data/mini/passages-scored.jsonl ||
    python "$recipes/../scores.py" data/mini/passages.jsonl data/mini/passages-scored.jsonl --questions 2400 \
        runs/mpnet-int8=1 late:runs/e5-small=1
test -e data/mini/sentences-scored.jsonl ||
    python "$recipes/../scores.py" data/mini/sentences.jsonl data/mini/sentences-scored.jsonl --questions 4200 \
        runs/e5-int8=1 runs/mini-teacher-int8=1

cascada train "$recipes/mini.yaml"
test -e runs/mini-averaged ||
    python "$recipes/average.py" runs/mini-trained runs/e5-small runs/mini-averaged data/mini/passages-scored.jsonl
test -e runs/mini-calibrated || cascada calibrate runs/mini-averaged data/mini/calibration.jsonl runs/mini-calibrated
test -e runs/mini-first || cascada export runs/mini-calibrated runs/mini-first --data data/mini/dev/trecqa.jsonl

# once more, with another sample of the lists
test -e data/mini/more-passages.jsonl ||
    python "$recipes/../scores.py" data/mini/passages.jsonl data/mini/more-passages.jsonl --questions 1500 \
        late:runs/e5-small=1 cosine:runs/mpnet-base=1
test -e data/mini/more-sentences.jsonl ||
    python "$recipes/../scores.py" data/mini/sentences.jsonl data/mini/more-sentences.jsonl --questions 1500 runs/mini-first=1
cascada train "$recipes/more.yaml"

# the weights of exit 0, learned from the labels of all lists of passages
test -e runs/mini-learned || cascada cut runs/mini-more runs/mini-learned --exits 0,12 \
    --learn data/mini/passages.jsonl --check data/mini/calibration.jsonl
# 8 bits shift the scores of the export, so that it is calibrated by its own
test -e runs/mini-learned-int8 || cascada export runs/mini-learned runs/mini-learned-int8
test -e runs/mini-final ||
    cascada calibrate runs/mini-learned data/mini/calibration.jsonl runs/mini-final --exported runs/mini-learned-int8
test -e runs/cascada-mini || cascada export runs/mini-final runs/cascada-mini --data data/mini/dev/trecqa.jsonl
cascada tune runs/cascada-mini data/mini/dev/trecqa-long-tune.jsonl --ratios 0.85 --at-least 60 --budget 1 --save
python "$recipes/table.py" data/mini/dev runs/cascada-mini
