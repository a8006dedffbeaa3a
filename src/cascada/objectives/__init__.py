"""What a ranker learns from: losses, and levels with the features that each reads."""
