//! The scanner over single strings. A lone surrogate raises UnicodeEncodeError in the conversion to UTF-8.

use pyo3::prelude::*;

use crate::arrays::hexadecimal;
use crate::{features, fingerprint as scan, mask, nesting, split};

/// The output is valid UTF-8: ASCII and whole characters of the text.
fn into_text(written: Vec<u8>) -> PyResult<String> {
    Ok(String::from_utf8(written)?)
}

#[pyfunction]
pub fn split_statements(py: Python<'_>, sql: &str, dialect: &str) -> PyResult<Vec<(usize, usize)>> {
    let features = features(dialect)?;
    Ok(py.detach(|| split::split_statements(sql, features)))
}

#[pyfunction]
#[pyo3(signature = (sql, dialect, digits = false))]
pub fn mask_literals(py: Python<'_>, sql: &str, dialect: &str, digits: bool) -> PyResult<String> {
    let features = features(dialect)?;
    let mut out = Vec::new();
    py.detach(|| mask::mask_literals(sql, features, digits, &mut out));
    into_text(out)
}

#[pyfunction]
pub fn normal_form(py: Python<'_>, sql: &str, dialect: &str) -> PyResult<String> {
    let features = features(dialect)?;
    let mut out = Vec::new();
    py.detach(|| scan::normal_form(sql, features, &mut out));
    into_text(out)
}

#[pyfunction]
pub fn fingerprint(py: Python<'_>, sql: &str, dialect: &str) -> PyResult<String> {
    let features = features(dialect)?;
    Ok(hexadecimal(py.detach(|| scan::fingerprint(sql, features))))
}

#[pyfunction]
pub fn nesting_depth(py: Python<'_>, sql: &str, dialect: &str) -> PyResult<usize> {
    let features = features(dialect)?;
    Ok(py.detach(|| nesting::nesting_depth(sql, features)))
}
