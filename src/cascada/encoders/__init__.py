"""Pre-trained encoders in the layout of the hub: run a few layers at a time in torch, or read as plain arrays."""
