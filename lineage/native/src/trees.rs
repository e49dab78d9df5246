//! Syntax trees, which are Python objects: a node has a dictionary `args` of its child nodes.

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Clears the `args` of a node and of its descendants. Values of the types in `nothing_below` are skipped.
#[pyfunction]
pub fn take_apart(tree: &Bound<'_, PyAny>, nothing_below: &Bound<'_, PyTuple>) -> PyResult<()> {
    let py = tree.py();
    let name = intern!(py, "args");
    let nothing_below: Vec<*mut ffi::PyTypeObject> =
        nothing_below.iter().map(|one| one.as_ptr().cast()).collect();
    let mut waiting = vec![tree.clone()];
    while let Some(node) = waiting.pop() {
        let Ok(args) = node.getattr(name) else { continue }; // not a node: for example a member of an enumeration
        let Ok(args) = args.cast_into::<PyDict>() else { continue };
        let mut add = |value: *mut ffi::PyObject| {
            // SAFETY: the dictionary or list that lends the value is alive, and nothing runs in between.
            if !nothing_below.contains(&unsafe { ffi::Py_TYPE(value) }) {
                waiting.push(unsafe { Bound::from_borrowed_ptr(py, value) });
            }
        };
        let mut position = 0;
        let mut value = std::ptr::null_mut();
        // SAFETY: the loop neither changes the dictionary nor runs Python code; the value is lent, and not null.
        while unsafe { ffi::PyDict_Next(args.as_ptr(), &raw mut position, std::ptr::null_mut(), &raw mut value) } != 0 {
            // SAFETY: as above; the items of a list are lent as well, and its length does not change.
            unsafe {
                if ffi::PyList_CheckExact(value) != 0 {
                    for index in 0..ffi::PyList_Size(value) {
                        add(ffi::PyList_GetItem(value, index));
                    }
                } else {
                    add(value);
                }
            }
        }
        args.clear();
    }
    Ok(())
}

/// Returns whether each argument of a node, and of the clauses below it, is in the set for its node's type.
///
/// `clauses` has the types of clauses as keys. A node of a type without a set counts as one with an unknown argument.
#[pyfunction]
pub fn all_in_sets(
    node: &Bound<'_, PyAny>,
    sets: &Bound<'_, PyDict>,
    clauses: &Bound<'_, PyDict>,
) -> PyResult<bool> {
    let py = node.py();
    let name = intern!(py, "args");
    let mut waiting = vec![node.clone()];
    while let Some(node) = waiting.pop() {
        let args = node.getattr(name)?.cast_into::<PyDict>()?;
        let Some(known) = sets.get_item(node.get_type())? else { return Ok(false) };
        let mut add = |value: *mut ffi::PyObject| -> PyResult<bool> {
            // SAFETY: the dictionary or list that lends the value is alive. A type's hash and equality are its address.
            match unsafe { ffi::PyDict_Contains(clauses.as_ptr(), ffi::Py_TYPE(value).cast()) } {
                0 => Ok(false),
                1 => {
                    waiting.push(unsafe { Bound::from_borrowed_ptr(py, value) });
                    Ok(true)
                }
                _ => Err(PyErr::fetch(py)),
            }
        };
        let (mut position, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the loop neither changes the dictionary nor runs Python code; key and value are lent, and not null.
        while unsafe { ffi::PyDict_Next(args.as_ptr(), &raw mut position, &raw mut key, &raw mut value) } != 0 {
            match unsafe { ffi::PySet_Contains(known.as_ptr(), key) } {
                1 => {}
                0 => return Ok(false),
                _ => return Err(PyErr::fetch(py)),
            }
            // SAFETY: as above; the items of a list are lent as well, and its length does not change.
            unsafe {
                if ffi::PyList_CheckExact(value) == 0 {
                    if value != ffi::Py_None() {
                        add(value)?;
                    }
                } else if ffi::PyList_Size(value) > 0 && add(ffi::PyList_GetItem(value, 0))? {
                    for index in 1..ffi::PyList_Size(value) {
                        add(ffi::PyList_GetItem(value, index))?;
                    }
                }
            }
        }
    }
    Ok(true)
}
