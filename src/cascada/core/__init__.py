"""What every room may use: errors, the folder format, atomic writes, processors, worker processes."""
