"""Export a pre-trained encoder in int8 as a ranker that compares encodings: a teacher that takes a third of the time.

    python recipes/mini/untrained.py runs/mpnet-base runs/mpnet-int8 --match cosine

`cosine:ENCODER` ranks the same in torch.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from cascada import export
from cascada.encoders.encoder import load_encoder
from cascada.systems.decoupled.folder import save
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import DecoupledShape


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--match", choices=("cosine", "late"), default="cosine")
    options = parser.parse_args()
    encoder = load_encoder(options.encoder)
    shape = DecoupledShape(
        join=encoder.depth,
        exits=(encoder.depth,),
        towers="shared",
        match=options.match,
        question_length=64,
        max_length=256,
    )
    model = DecoupledRanker(encoder, shape).eval()
    if model.cosine:
        model.cosine.log_scale.data.zero_()  # scores are similarities
        model.cosine.shift.data.zero_()
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "ranker", tokenizer=options.encoder, card=f"# {options.encoder.name}, untrained\n")
        export(Path(folder) / "ranker", options.out)


if __name__ == "__main__":
    main()
