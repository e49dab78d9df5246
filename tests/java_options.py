"""How tests run Java."""

__all__ = ["SHORT_LIVED"]

SHORT_LIVED = ("-XX:TieredStopAtLevel=1",)
"""For processes of half a minute: most of their time is the second compiler's, whose code comes too late to be used."""
