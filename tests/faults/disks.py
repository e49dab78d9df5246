"""Disks that are full: at exact points of what is written, and a file system that is too small."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.faults.estate import LINEAGE
from tests.faults.places import EMBEDDED, Store
from tests.faults.scene import SHARES, Scene, demand, explained, fault

_GROUP = "full disk"
_SHARES = (0.05, 0.3, 0.5, 0.75, 0.9, 0.99)


@fault(_GROUP, "an ingest that makes the store", (EMBEDDED,))
def new_store_full(scene: Scene) -> str:
    """Each share is tried with a new store: while it is made, written, and its log is ended."""
    scene.undisturbed("sql")
    store, report, fulls = scene.place.new(), scene.folder / "bytes", 0
    ran = scene.estate.ingest("sql", store, report=report, under=scene.folder)
    demand(ran.done, ran.said)
    size = int(report.read_text())
    for share in _SHARES:
        folder = scene.folder / f"new{share}"
        folder.mkdir()
        store = Store(str(folder / "store.db"))
        ran = scene.estate.ingest("sql", store, full_after=int(share * size), under=folder)
        if not ran.done:
            said, fulls = explained(ran, 3), fulls + 1
            demand("disk is full" in said, f"at {share:.0%} it says: {said}")
        scene.complete("sql", store)
    demand(fulls > 1, f"it was full {fulls} times only")
    said = f"{fulls} of {len(_SHARES)} times “the disk is full”, exit status 3"
    return f"{said}; once there is room, run again: the same graph"


@fault(_GROUP, "a second ingest, its log and its checkpoint", (EMBEDDED,))
def checkpoint_full(scene: Scene) -> str:
    """The disk becomes full while a store with something in it is written, and while its log is put into the file."""
    scene.undisturbed("sql")
    base, report, fulls = scene.place.new(), scene.folder / "bytes", 0
    scene.complete("sql", base)
    whole = Path(base.address).read_bytes()
    ran = scene.estate.ingest("dbt", base, report=report, under=scene.folder / "store")
    demand(ran.done, ran.said)
    graph, size = base.graph(), int(report.read_text())
    for share in _SHARES:
        store = scene.place.new()
        Path(store.address).write_bytes(whole)
        ran = scene.estate.ingest("dbt", store, full_after=int(share * size), under=scene.folder / "store")
        if not ran.done:
            demand("disk is full" in explained(ran, 3), f"it says: {ran.said}")
            fulls += 1
        ran = scene.estate.ingest("dbt", store)
        demand(ran.done, f"once there is room: {ran.said}")
        scene.expect_graph(graph, store)
    demand(fulls > 1, f"it was full {fulls} times only")
    full = f"{fulls} of {len(_SHARES)} times “the disk is full”"
    return f"{full}, else stored and kept in the log; run again: the same graph"


@fault(_GROUP, "`lineage store backup`", (EMBEDDED,))
def backup_full(scene: Scene) -> str:
    """A backup for which there is no room says so, and leaves nothing."""
    scene.undisturbed("sql")
    store, graph = scene.place.new(), scene.undisturbed_graph("sql")
    scene.complete("sql", store)
    size = Path(store.address).stat().st_size
    for number, share in enumerate(SHARES):
        copy = scene.folder / f"copy{number}" / "copy.db"
        copy.parent.mkdir()
        command = [LINEAGE, "store", "backup", str(copy), "--store", store.address]
        ran = scene.estate.run(command, store, full_after=int(share * size), under=copy.parent)
        demand("disk is full" in explained(ran, 3), f"it says: {ran.said}")
        demand(not [*copy.parent.iterdir()], f"it leaves {[*copy.parent.iterdir()]}")
    scene.expect_graph(graph, store)
    return f"{len(SHARES)} times “the disk is full”, exit status 3; no half copy is left, the store is as it was"


@fault(_GROUP, "the folder of what ingests save for the next run")
def cache_full(scene: Scene) -> str:
    """What is saved for later runs is not needed: an ingest goes on without."""
    scene.undisturbed("sql")
    store = scene.place.new()
    scene.estate.forget_saved()
    ran = scene.estate.ingest("sql", store, full_after=0, under=scene.estate.cache)
    demand(ran.done, f"it ends with {ran.code}: {ran.said[-500:]}")
    scene.expect("sql", store)
    return "the same graph; the next run resolves all files again"


@fault(_GROUP, "a file system that is too small (tmpfs)", (EMBEDDED,))
def small_file_system(scene: Scene) -> str:
    """A real file system, which also holds what processes share of the store."""
    scene.undisturbed("sql")
    folder = scene.folder / "small"
    folder.mkdir(exist_ok=True)
    fulls = 0
    for kilobytes in (150, 300, 450, 600, 750):
        mounted = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
        if subprocess.run(mounted, check=False, capture_output=True).returncode:
            return "not tried: this user cannot mount a file system"
        try:
            store = Store(str(folder / "store.db"))
            ran = scene.estate.ingest("sql", store)
            if not ran.done:
                demand("disk is full" in explained(ran, 3), f"at {kilobytes} kB it says: {ran.said}")
                fulls += 1
            subprocess.run(["mount", "-o", "remount,size=20m", str(folder)], check=True)
            scene.complete("sql", store)
        finally:
            subprocess.run(["umount", str(folder)], check=True)
    demand(fulls > 1, f"it was full {fulls} times only")
    return f"{fulls} of 5 times “the disk is full”; once there is room, run again: the same graph"
