"""Progress bars are silent under pytest, in the notebooks' kernels too: they show seconds, which no run repeats."""

import os

os.environ.setdefault("TQDM_DISABLE", "1")
