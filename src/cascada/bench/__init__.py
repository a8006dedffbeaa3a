"""Speed against peers, in one run: `cascada bench`.

`child.py`, `installed.py` and what is in `adapters/` are run as files, also by another environment's Python: they
import nothing of Cascada unless they measure it.
"""
