"""The array types of columns: one value per row of the node table."""

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
"""By row, a yes or no."""
Codes = NDArray[np.uint16]
"""By row, the bits of a plugin's reasons; 0 where the node passes."""
Integers = NDArray[np.int64]
RowIndices = NDArray[np.intp]
"""Row numbers of the node table."""
