"""Rankers as components of other libraries, one module per library.

Import the module of the library that you use; it needs nothing but that library.
"""
