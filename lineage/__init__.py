"""The vocabulary and the graph: records, ports, errors, settings and the catalogue. Imports nothing of ours."""

import os

# onnxruntime collects usage data for its maker from the moment it is imported, unless told before; pymupdf imports it too.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
