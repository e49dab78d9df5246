"""How tests run Java."""

from pathlib import Path

__all__ = ["SHORT_LIVED", "SPARK"]

SHORT_LIVED = ("-XX:TieredStopAtLevel=1",)
"""For processes of half a minute: most of their time is the second compiler's, whose code comes too late to be used."""

_ARCHIVE = Path(__file__).parents[1] / "build" / "java" / "spark.jsa"


def _archived() -> tuple[str, ...]:
    """Return the options for the archive of `tests.java_archive`, if it is there: `make test` makes it."""
    if not _ARCHIVE.exists() or " " in str(_ARCHIVE):  # Spark's scripts split options at spaces
        return ()
    # Java says so if the archive is of other jars or of another Java, and goes on without it.
    return (f"-XX:SharedArchiveFile={_ARCHIVE}", "-Xlog:cds=off,cds+dynamic=off")


SPARK = (*SHORT_LIVED, *_archived())
"""For Spark: half of the time in which it starts, its classes are loaded and verified."""
