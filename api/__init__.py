"""The doors: command line and the composition root."""

import os

# The matrices of a question are small: threads wait for each other longer than they compute. Read when numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
