//! The byte-level scanner as a Python module, for single strings and Arrow arrays of strings; and functions that
//! visit the nodes of a syntax tree.

mod arrays;
mod block;
mod contexts;
mod eight;
mod ends;
mod facts;
mod fingerprint;
mod mask;
mod nesting;
mod pieces;
#[cfg(target_arch = "x86_64")]
mod sixteen;
mod split;
mod strings;
mod trees;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the features of a dialect, given by its name.
fn features(dialect: &str) -> PyResult<u32> {
    facts::features(dialect).ok_or_else(|| PyValueError::new_err(format!("unknown dialect '{dialect}'")))
}

#[pymodule]
fn lineage_native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("FACTS", facts::FACTS)?;
    for function in [
        wrap_pyfunction!(strings::split_statements, module)?,
        wrap_pyfunction!(strings::mask_literals, module)?,
        wrap_pyfunction!(strings::normal_form, module)?,
        wrap_pyfunction!(strings::fingerprint, module)?,
        wrap_pyfunction!(strings::nesting_depth, module)?,
        wrap_pyfunction!(arrays::split_statements_array, module)?,
        wrap_pyfunction!(arrays::mask_literals_array, module)?,
        wrap_pyfunction!(arrays::fingerprint_array, module)?,
        wrap_pyfunction!(arrays::nesting_depth_array, module)?,
        wrap_pyfunction!(trees::all_in_sets, module)?,
        wrap_pyfunction!(trees::take_apart, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
