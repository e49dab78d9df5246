"""The text that a fingerprint hashes, as it is written: spaces only where two words would run together."""

from __future__ import annotations

__all__ = ["Writing"]


class Writing:
    """Parts of a text. A place is the number of parts before it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._lengths = [0]
        self.wordy = False
        """Whether a word, a name or a literal was written last."""

    @property
    def size(self) -> int:
        """The place at the end."""
        return len(self._parts)

    def text(self) -> str:
        """Return what was written."""
        return "".join(self._parts)

    def add(self, text: str, *, wordy: bool = False) -> None:
        """Write a piece."""
        self._parts.append(" " + text if wordy and self.wordy else text)
        self._lengths.append(self._lengths[-1] + len(self._parts[-1]))
        self.wordy = wordy

    def cut(self, place: int, *, wordy: bool) -> None:
        """Take back what was written from a place on."""
        del self._parts[place:], self._lengths[place + 1 :]
        self.wordy = wordy

    def ends_in_comma_after(self, place: int) -> bool:
        """Return whether a comma, and nothing else, was written since a place."""
        return place >= 0 and self.size == place + 1 and self._parts[place] == ","

    def repeats(self, first: int, last: int) -> bool:
        """Return whether a comma and the text from `first` to `last` were written again since `last`."""
        lengths = self._lengths
        if first < 0 or self._parts[last] != "," or lengths[-1] - lengths[last + 1] != lengths[last] - lengths[first]:
            return False
        return "".join(self._parts[first:last]) == "".join(self._parts[last + 1 :])
