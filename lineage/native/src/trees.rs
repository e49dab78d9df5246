//! Syntax trees, which are Python objects: a node has a dictionary `args` of its child nodes.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// The address of a value's type: it is compared, and never dereferenced.
fn type_of(value: &Bound<'_, PyAny>) -> usize {
    value.get_type_ptr().addr()
}

/// Clears the `args` of a node and of its descendants. Values of the types in `nothing_below` are skipped.
#[pyfunction]
pub fn take_apart(tree: &Bound<'_, PyAny>, nothing_below: &Bound<'_, PyTuple>) -> PyResult<()> {
    let py = tree.py();
    let name = intern!(py, "args");
    let nothing_below: Vec<usize> = nothing_below.iter().map(|one| one.as_ptr().addr()).collect();
    let list = py.get_type::<PyList>().as_ptr().addr();
    let mut waiting = vec![tree.clone()];
    while let Some(node) = waiting.pop() {
        let Ok(args) = node.getattr(name) else { continue }; // not a node: for example a member of an enumeration
        let Ok(args) = args.cast_into::<PyDict>() else { continue };
        for (_, value) in &args {
            let kind = type_of(&value);
            if kind == list {
                let items = value.cast_into::<PyList>()?;
                waiting.extend(items.iter().filter(|item| !nothing_below.contains(&type_of(item))));
            } else if !nothing_below.contains(&kind) {
                waiting.push(value);
            }
        }
        args.clear();
    }
    Ok(())
}
