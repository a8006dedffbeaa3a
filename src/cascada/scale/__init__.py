"""The same work on many machines, with Ray: the library's own functions, mapped over parts of the input.

The result of each part is a file that is written atomically. So a part is done once, however often a worker dies or the
command is run again.
"""

from cascada.core.errors import require

require("ray", "scale", "work on several machines")
require("pyarrow", "scale", "work on several machines")
require("fsspec", "scale", "work on several machines")
