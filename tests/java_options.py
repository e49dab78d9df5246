"""How tests run Java."""

from pathlib import Path

__all__ = ["QUIET", "SHORT_LIVED", "SMALL_FRAMES", "SMALL_HEAP", "SPARK"]

SHORT_LIVED = (
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=240m",
)
"""For processes of half a minute: most of their time is the second compiler's, whose code comes too late to be used.

What the first compiles is more than it is given room for: it would be thrown away, and made again. The
classes of published jars need not be verified, which takes a tenth.
"""

SMALL_HEAP = "-XX:+UseSerialGC"
"""For heaps of a gigabyte at most. Not for Neo4j, whose configuration names another collector."""

_ARCHIVE = Path(__file__).parents[1] / "build" / "java" / "spark.jsa"


QUIET = "-Xlog:cds=off,cds+dynamic=off"
"""Nothing is printed of archived classes."""


def _archived() -> tuple[str, ...]:
    """Return the options for the archive of `tests.java_archive`, if it is there: `make test` makes it."""
    if not _ARCHIVE.exists() or " " in str(_ARCHIVE):  # Spark's scripts split options at spaces
        return ()
    # Java says so if the archive is of other jars or of another Java, and goes on without it.
    return (f"-XX:SharedArchiveFile={_ARCHIVE}", QUIET)


SPARK = (*SHORT_LIVED, SMALL_HEAP, *_archived())
"""For Spark: half of the time in which it starts, its classes are loaded and verified."""

SMALL_FRAMES = (
    "-Dspark.sql.codegen.wholeStage=false",
    "-Dspark.sql.codegen.factoryMode=NO_CODEGEN",
    "-Dspark.ui.enabled=false",
)
"""For what Spark does with some rows: to compile Java for them takes longer than all else."""
