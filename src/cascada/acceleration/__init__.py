"""Somebody's own cross-encoder, made a cascade: heads on its layers learn its order from questions without labels."""
