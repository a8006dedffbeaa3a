"""Every table and figure of the papers by its number: listed, run, reported; what is run stands in a file."""
