"""DC-BERT and the decoupled cascade: documents are encoded once, separately from the question, and joined late."""
