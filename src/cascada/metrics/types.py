"""What is measured, and against what."""

from __future__ import annotations

Run = dict[str, dict[str, float]]
"""Question id → candidate id → score; higher is better."""

Qrels = dict[str, dict[str, int]]
"""Question id → candidate id → relevance; 1 or more is correct."""
