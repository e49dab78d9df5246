"""A diff as JUnit XML: a test case for each condition of `--fail-on`, or for all, with what was found."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from lineage.model.visible_text import visible
from lineage_ingest.diff.project_diff import FailCondition, ProjectDiff

__all__ = ["diff_to_junit"]


def diff_to_junit(diff: ProjectDiff, fail_on: Sequence[FailCondition] = ()) -> str:
    """Return the XML. A condition of `fail_on` that is met is a failure; others are only listed."""
    suite = ElementTree.Element("testsuite", name="lineage diff")
    failures = 0
    for condition in FailCondition:
        case = ElementTree.SubElement(suite, "testcase", classname="lineage diff", name=f"no {condition}")
        found = [visible(text) for _, text in diff.failures([condition])]
        if not found:
            continue
        if condition in fail_on:
            failures += 1
            failed = ElementTree.SubElement(case, "failure", message=f"{len(found)} found", type=str(condition))
            failed.text = "\n".join(found)
        else:
            ElementTree.SubElement(case, "system-out").text = "\n".join(found)
    suite.set("tests", str(len(FailCondition)))
    suite.set("failures", str(failures))
    suite.set("errors", "0")
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
