"""DC-BERT and the decoupled cascade: documents are encoded once, and meet the question late."""
