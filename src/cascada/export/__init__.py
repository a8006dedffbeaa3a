"""From a trained ranker to stage graphs for ONNX Runtime."""
