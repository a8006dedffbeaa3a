"""Turn a user's own cross-encoder into a cascade: heads on its layers learn its order from questions without labels."""
