#!/bin/sh
# The runs behind the report of the papers' claims, in the order in which they say most, for two cores without AVX-512.
#   sh recipes/schedule.sh          in a folder with data/ and the encoders (docs/reproduce.md), in a clone
#   STOP=4 sh recipes/schedule.sh   only steps 1 to 4
# Every step resumes: `cascada train` goes on where it was stopped and trains nothing twice. After each step its results
# are kept in docs/results/ of the clone (commit them), or in $RESULTS, and docs/claims.md is written again.
#
# | step | minutes | claims | cut first |
# |---|---|---|---|
# | 1 TANDA on WikiQA | 145 | 4 | its unions, then its rows with the first token's head |
# | 2 cascade on SQuAD-AS2 | 200 | 5 | MT-10, MT-8 (and with them SR), which come last |
# | 3 cascade on TREC-QA, long lists | 60 | 2 | seed 3 |
# | 4 cascade on WikiQA | 50 | 1 | seed 3 |
# | 5 labels of SQuAD-AS2 | 80 | 2 | seed 3 |
# | 6 TANDA on TREC-QA | 110 | 3 | its unions |
# | 7 stability | 85 | 1 | |
# | 8 hierarchical ranking on WikiQA | 390 | 5 | CA(point), CA(pair), seeds 3 and 4 |
# | 9 how exits are trained | 120 | 3 | the two rows of heads |
# | 10 hierarchical ranking on TREC-QA | 600 | 1 | all but CA(list) and PRI(list) |
#
# Eight hours are steps 1 to 4 (455 minutes). If time is short, cut steps from the end; then, within a step, what the
# last column names: delete the variants or seeds from the recipe. What was trained and measured counts as it is, also of
# a study that was stopped: `cascada reproduce --keep runs/NAME`.
set -eu
clone=$(cd "$(dirname "$0")/.." && pwd)
recipes=$clone/recipes
stop=${STOP:-10}
results=${RESULTS:-$clone/docs/results}

study() { # number, recipe, its output
    [ "$1" -le "$stop" ] || return 0
    cascada train "$recipes/$2"
    cascada reproduce --keep "$3" --claims --papers "$recipes/papers.yaml" --results "$results" > claims.md
    mv claims.md "$results/../claims.md"
}

squad=data/squad/train-v1.1.json
[ -e data/squad-as2-train.jsonl ] || cascada data squad-as2 $squad data/squad-as2-train.jsonl --part train --train 0.9 --dev 0.05 \
    --negatives 10 --questions 20000
[ -e data/squad-as2-dev.jsonl ] || cascada data squad-as2 $squad data/squad-as2-dev.jsonl --part dev --train 0.9 --dev 0.05 \
    --negatives 20 --questions 150
[ -e data/squad-as2-test.jsonl ] || cascada data squad-as2 data/squad/dev-v1.1.json data/squad-as2-test.jsonl --questions 300
[ -e data/squad-mined.jsonl ] || cascada data mine squad_sentences data/squad-mined.jsonl --root data/squad_sentences \
    --split test --seed 1
[ -e data/trecqa-long.jsonl ] || cascada data convert trecqa data/trecqa-long.jsonl --root data/trecqa --split train-all \
    --questions 600 --rest --at-least "${AT_LEAST:-80}"

study 1 tanda/wikiqa-squad-short.yaml runs/tanda-wikiqa-squad-short
study 2 cascade/squad-as2-short.yaml runs/cascade-squad-short
study 3 cascade/trecqa-squad-short.yaml runs/cascade-trecqa-squad-short
study 4 cascade/wikiqa-squad-short.yaml runs/cascade-wikiqa-squad-short
study 5 tanda/labels-squad-short.yaml runs/tanda-labels-squad-short
study 6 tanda/trecqa-squad-short.yaml runs/tanda-trecqa-squad-short
study 7 tanda/stability-squad-short.yaml runs/tanda-stability-squad-short
study 8 hierarchical/wikiqa-seeds-short.yaml runs/hierarchical-wikiqa-seeds-short
study 9 cascade/squad-variants-short.yaml runs/cascade-variants-short
study 10 hierarchical/trecqa-seeds-short.yaml runs/hierarchical-trecqa-seeds-short
