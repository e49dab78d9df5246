//! Writes `facts.txt`, which the Python implementation reads, as Rust constants.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const FACTS: &str = "../sql/scan/facts.txt";
/// Size of the table of words: a power of two, about three times the number of words.
const SLOTS_LOG2: u32 = 10;
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

type Section = Vec<(String, Vec<String>)>;

fn main() {
    println!("cargo:rerun-if-changed={FACTS}");
    println!("cargo:rerun-if-changed=build.rs");
    let text = fs::read_to_string(FACTS).expect("facts.txt is read where the crate lies in its repository");
    let sections = sections(&text);
    let mut code = String::new();
    write_dialects(&mut code, &sections["dialects"]);
    write_words(&mut code, &sections["roles"], &sections["flags"]);
    let target = Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("facts.rs");
    fs::write(target, code).expect("OUT_DIR can be written");
}

fn sections(text: &str) -> BTreeMap<String, Section> {
    let mut sections = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            current = name.trim_end_matches(']').to_owned();
        } else if let (Some((name, words)), false) = (line.split_once(':'), line.starts_with('#')) {
            let section: &mut Section = sections.entry(current.clone()).or_default();
            section.push((name.to_owned(), words.split_whitespace().map(str::to_owned).collect()));
        }
    }
    sections
}

/// Returns the index of a name among the names so far.
fn number(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

fn write_dialects(code: &mut String, dialects: &Section) {
    let mut features = Vec::new();
    let mut rows = String::new();
    for (dialect, words) in dialects {
        let bits = words.iter().fold(0u32, |bits, word| bits | 1 << number(&mut features, word));
        writeln!(rows, "    ({dialect:?}, {bits:#x}),").unwrap();
    }
    writeln!(code, "/// Lexical features of a dialect, as bits.\npub mod feature {{").unwrap();
    for (bit, name) in features.iter().enumerate() {
        writeln!(code, "    pub const {}: u32 = 1 << {bit};", name.to_uppercase()).unwrap();
    }
    writeln!(code, "}}\n\npub const DIALECTS: &[(&str, u32)] = &[\n{rows}];\n").unwrap();
}

fn write_words(code: &mut String, roles: &Section, flags: &Section) {
    let (mut role_names, mut flag_names) = (vec!["plain".to_owned()], Vec::new());
    let mut words: BTreeMap<&str, (usize, u32)> = BTreeMap::new();
    for (role, members) in roles {
        let role = number(&mut role_names, role);
        for word in members {
            words.entry(word).or_default().0 = role;
        }
    }
    for (flag, members) in flags {
        let bit = 1 << number(&mut flag_names, flag);
        for word in members {
            words.entry(word).or_default().1 |= bit;
        }
    }
    writeln!(code, "/// The role of a word for the text after it.\npub mod role {{").unwrap();
    for (value, name) in role_names.iter().enumerate() {
        writeln!(code, "    pub const {}: u8 = {value};", name.to_uppercase()).unwrap();
    }
    writeln!(code, "}}\n\npub mod flag {{").unwrap();
    for (bit, name) in flag_names.iter().enumerate() {
        writeln!(code, "    pub const {}: u8 = 1 << {bit};", name.to_uppercase()).unwrap();
    }
    writeln!(code, "}}\n\npub const SLOTS_LOG2: u32 = {SLOTS_LOG2};\npub const MULTIPLIER: u64 = {MULTIPLIER:#x};")
        .unwrap();
    let mut slots = vec![None; 1 << SLOTS_LOG2];
    for (word, (role, flags)) in &words {
        let key = key(word.as_bytes());
        let mut slot = (key.wrapping_mul(MULTIPLIER) >> (64 - SLOTS_LOG2)) as usize;
        while slots[slot].is_some() {
            slot = (slot + 1) % slots.len();
        }
        slots[slot] = Some((key, *word, *role, *flags));
    }
    // Keys are separate: most words are names, which the keys alone rule out, so that these stay in the L1 cache.
    let keys: Vec<u64> = slots.iter().map(|slot| slot.map_or(0, |(key, ..)| key)).collect();
    writeln!(code, "pub static KEYS: [u64; {}] = {keys:?};", slots.len()).unwrap();
    writeln!(code, "pub static WORDS: [Word; {}] = [", slots.len()).unwrap();
    for slot in slots {
        let (_, word, role, flags) = slot.unwrap_or((0, "", 0, 0));
        writeln!(code, "    Word {{ text: b{word:?}, role: {role}, flags: {flags} }},").unwrap();
    }
    writeln!(code, "];").unwrap();
}

/// The first eight bytes of a word, as the scanner reads them: bit 0x20 set, which is ASCII's lower case.
fn key(word: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(word) {
        *to = from | 0x20;
    }
    u64::from_le_bytes(bytes)
}
