"""Code that every room may use: errors, atomic writes, the folder format, hardware facts, probes, worker processes."""
