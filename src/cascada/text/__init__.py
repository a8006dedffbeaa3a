"""Text as sentences, words, token ids and word vectors; and BM25 over its words."""
