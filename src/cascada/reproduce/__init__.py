"""Reproduce the papers' tables and figures by their numbers. Works in a clone only, and is not part of the wheel.

`recipes/papers.yaml` lists the results and the commands that make them.
"""
