"""A small reader with random weights."""

import pytest


@pytest.fixture(scope="session")
def reader_folder(tmp_path_factory, encoder_folder):
    import torch

    from cascada.reading.folder import begin, save

    torch.manual_seed(3)
    model = begin(str(encoder_folder), layers=2, max_length=32, overlap=8, dropout=0.1)
    folder = tmp_path_factory.mktemp("readers") / "reader"
    save(model, folder, tokenizer=encoder_folder, card="# A tiny reader\n")
    return folder
