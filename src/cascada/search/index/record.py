"""What the index remembers of a file, to see whether it has changed."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cascada.errors import DataError
from cascada.search.formats import status


@dataclass(frozen=True)
class FileRecord:
    """A file as it was when it was read."""

    path: str
    """Absolute, so that the index may be asked from anywhere."""
    size: int
    modified: int
    """Nanoseconds."""
    hash: str = ""
    passages: int = 0

    @classmethod
    def of(cls, path: Path) -> FileRecord:
        """As it is now, without a look inside."""
        found = status(path)
        return cls(str(path), found.st_size, found.st_mtime_ns)

    def looks_like(self, other: FileRecord | None) -> bool:
        """Whether size and time say that it is unchanged."""
        return other is not None and (self.size, self.modified) == (other.size, other.modified)

    def hashed(self) -> FileRecord:
        """With what is in the file, for one that was only touched, or copied."""
        try:
            with open(self.path, "rb") as file:
                return replace(self, hash=hashlib.file_digest(file, "blake2b").hexdigest()[:32])
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror}.") from error

    def to_bytes(self) -> bytes:
        """As the index holds it."""
        return json.dumps(asdict(self)).encode()


def key(path: str) -> str:
    """What a file's passages are found by again; a file's name itself need not be text."""
    return hashlib.blake2b(os.fsencode(path), digest_size=16).hexdigest()
