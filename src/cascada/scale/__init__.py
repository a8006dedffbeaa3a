"""The same work on many machines, with Ray: the library's own functions, mapped over parts of the input.

Each part's result is a file that appears whole, so that a part is done once however often a worker dies or a command is
started again.
"""

from cascada.core.errors import require

require("ray", "scale", "work on several machines")
require("pyarrow", "scale", "work on several machines")
require("fsspec", "scale", "work on several machines")
