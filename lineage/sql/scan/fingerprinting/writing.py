"""Writer of the normal form: inserts spaces only where two words would run together."""

from __future__ import annotations

__all__ = ["Writing"]


class Writing:
    """Parts of a text. A position is the number of parts before it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._lengths = [0]
        self.wordy = False
        """Whether the last part is a word, a name or a literal."""

    @property
    def size(self) -> int:
        """The position at the end."""
        return len(self._parts)

    def text(self) -> str:
        """Return the text."""
        return "".join(self._parts)

    def add(self, text: str, *, wordy: bool = False) -> None:
        """Write a piece."""
        self._parts.append(" " + text if wordy and self.wordy else text)
        self._lengths.append(self._lengths[-1] + len(self._parts[-1]))
        self.wordy = wordy

    def cut(self, place: int, *, wordy: bool) -> None:
        """Remove everything from a position on."""
        del self._parts[place:], self._lengths[place + 1 :]
        self.wordy = wordy

    def ends_in_comma_after(self, place: int) -> bool:
        """Return whether only a comma was written since a position."""
        return place >= 0 and self.size == place + 1 and self._parts[place] == ","

    def repeats(self, first: int, last: int) -> bool:
        """Return whether only a comma and a repetition of `first` to `last` were written since `last`."""
        lengths = self._lengths
        if first < 0 or self._parts[last] != "," or lengths[-1] - lengths[last + 1] != lengths[last] - lengths[first]:
            return False
        return "".join(self._parts[first:last]) == "".join(self._parts[last + 1 :])
