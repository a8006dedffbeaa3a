"""ONNX graphs: built operator by operator, in float32 or int8, and run by ONNX Runtime."""
