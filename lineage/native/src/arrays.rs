//! The scanner over Arrow arrays of strings, without copying them and with the GIL released.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, LargeStringBuilder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, UInt32Array, make_array};
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use arrow_schema::{DataType, Field, Fields};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::{features, fingerprint, mask, nesting, split};

/// Number of normal forms that are hashed in parallel.
const AT_ONCE: usize = 32;
const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";

pub fn hexadecimal(bits: [u8; 16]) -> String {
    bits.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|half| HEXADECIMAL[usize::from(half)] as char).collect()
}

/// An array of strings with 32-bit or 64-bit offsets.
enum Texts {
    Small(StringArray),
    Large(LargeStringArray),
}

impl Texts {
    fn read(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = make_array(arrow_array_data(array)?);
        match array.data_type() {
            DataType::Utf8 => Ok(Self::Small(StringArray::from(array.to_data()))),
            DataType::LargeUtf8 => Ok(Self::Large(LargeStringArray::from(array.to_data()))),
            other => Err(PyTypeError::new_err(format!("expected an array of string or large_string, got {other}"))),
        }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = Option<&str>> + '_> {
        match self {
            Self::Small(array) => Box::new(array.iter()),
            Self::Large(array) => Box::new(array.iter()),
        }
    }
}

fn arrow_array_data(array: &Bound<'_, PyAny>) -> PyResult<arrow_data::ArrayData> {
    arrow_data::ArrayData::from_pyarrow_bound(array)
}

/// Processes an array with the GIL released, and returns the result to Python.
fn over<'py>(
    array: &Bound<'py, PyAny>,
    work: impl FnOnce(&Texts) -> Result<ArrayRef, String> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let texts = Texts::read(array)?;
    let done = py.detach(|| work(&texts)).map_err(PyValueError::new_err)?;
    done.to_data().to_pyarrow(py)
}

#[pyfunction]
pub fn fingerprint_array<'py>(array: &Bound<'py, PyAny>, dialect: &str) -> PyResult<Bound<'py, PyAny>> {
    let features = features(dialect)?;
    over(array, move |texts| {
        let mut forms = vec![Vec::new(); AT_ONCE];
        let mut group = Vec::with_capacity(AT_ONCE);
        let mut found = StringBuilder::new();
        let mut all = texts.iter();
        loop {
            group.clear();
            group.extend(all.by_ref().take(AT_ONCE));
            if group.is_empty() {
                return Ok(Arc::new(found.finish()));
            }
            for (text, form) in group.iter().flatten().zip(&mut forms) {
                fingerprint::normal_form(text, features, form);
            }
            let mut present = group.iter().map(Option::is_some);
            fingerprint::hash_forms(&forms[..group.iter().flatten().count()], |bits| {
                while present.next() == Some(false) {
                    found.append_null();
                }
                found.append_value(hexadecimal(bits));
            });
            present.for_each(|_| found.append_null());
        }
    })
}

/// Masked texts keep the width of the offsets: they are never longer in bytes.
#[pyfunction]
pub fn mask_literals_array<'py>(array: &Bound<'py, PyAny>, dialect: &str) -> PyResult<Bound<'py, PyAny>> {
    let features = features(dialect)?;
    over(array, move |texts| {
        let mut out = Vec::new();
        let mut masked = |text: &str| {
            out.clear();
            mask::mask_literals(text, features, false, &mut out);
            std::str::from_utf8(&out).map(str::to_owned).map_err(|error| error.to_string())
        };
        Ok(match texts {
            Texts::Small(array) => {
                let mut found = StringBuilder::new();
                for text in array {
                    found.append_option(text.map(&mut masked).transpose()?);
                }
                Arc::new(found.finish())
            }
            Texts::Large(array) => {
                let mut found = LargeStringBuilder::new();
                for text in array {
                    found.append_option(text.map(&mut masked).transpose()?);
                }
                Arc::new(found.finish())
            }
        })
    })
}

#[pyfunction]
pub fn nesting_depth_array<'py>(array: &Bound<'py, PyAny>, dialect: &str) -> PyResult<Bound<'py, PyAny>> {
    let features = features(dialect)?;
    over(array, move |texts| {
        let depth = |text| u32::try_from(nesting::nesting_depth(text, features)).unwrap_or(u32::MAX);
        let found: UInt32Array = texts.iter().map(|text| text.map(depth)).collect();
        Ok(Arc::new(found))
    })
}

#[pyfunction]
pub fn split_statements_array<'py>(array: &Bound<'py, PyAny>, dialect: &str) -> PyResult<Bound<'py, PyAny>> {
    let features = features(dialect)?;
    over(array, move |texts| {
        let place = |name: &str| Field::new(name, DataType::Int64, true);
        let fields = Fields::from(vec![place("start"), place("end")]);
        let mut found = ListBuilder::new(StructBuilder::from_fields(fields, 0));
        for text in texts.iter() {
            for (start, end) in text.map(|text| split::split_statements(text, features)).unwrap_or_default() {
                let places = found.values();
                for (field, place) in [start, end].into_iter().enumerate() {
                    if let Some(builder) = places.field_builder::<Int64Builder>(field) {
                        builder.append_value(i64::try_from(place).unwrap_or(i64::MAX));
                    }
                }
                places.append(true);
            }
            found.append(text.is_some());
        }
        Ok(Arc::new(found.finish()))
    })
}
