"""Speed compared with other libraries, in one run: `cascada bench`.

`child.py`, `installed.py` and the files in `adapters/` are run as scripts, possibly by another environment's Python.
They import nothing of Cascada unless they measure it.
"""
