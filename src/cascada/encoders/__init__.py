"""Pre-trained encoders in the layout of the hub: run in torch a few layers at a time, or read as arrays."""
