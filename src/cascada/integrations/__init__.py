"""Rankers where people already are: one file for each library that has a place for a reranker.

None is imported before it is asked for by name, and each needs only the library that it is named after.
"""
