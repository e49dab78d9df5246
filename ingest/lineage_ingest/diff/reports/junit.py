"""A diff as JUnit XML: a test case for each condition of `--fail-on`, with what was found, and one for the input."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from lineage.model.text.visible_text import visible
from lineage_ingest.diff.project_diff import FailCondition, ProjectDiff

__all__ = ["diff_to_junit"]


def diff_to_junit(diff: ProjectDiff, fail_on: Sequence[FailCondition] = ()) -> str:
    """Return the XML. A condition of `fail_on` that is met is a failure; others are only listed."""
    suite = ElementTree.Element("testsuite", name="lineage diff")
    failures = 0
    for condition in FailCondition:
        case = ElementTree.SubElement(suite, "testcase", classname="lineage diff", name=f"no {condition}")
        texts = [visible(text) for _, text in diff.failures([condition])]
        if not texts:
            continue
        if condition in fail_on:
            failures += 1
            failed = ElementTree.SubElement(case, "failure", message=f"{len(texts)} found", type=str(condition))
            failed.text = "\n".join(texts)
        else:
            ElementTree.SubElement(case, "system-out").text = "\n".join(texts)
    errors = list(diff.errors) or (
        ["nothing was compared: neither side has tables"] if diff.is_empty and fail_on else []
    )
    case = ElementTree.SubElement(suite, "testcase", classname="lineage diff", name="the input is read")
    if errors:
        failed = ElementTree.SubElement(case, "error", message=f"{len(errors)} found", type="input")
        failed.text = "\n".join(map(visible, errors))
    suite.set("tests", str(len(FailCondition) + 1))
    suite.set("failures", str(failures))
    suite.set("errors", str(int(bool(errors))))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
