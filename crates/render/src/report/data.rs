//! What a page carries for its scripts and for whoever wants the numbers: JSON that no browser takes for markup, tables that no
//! spreadsheet takes for formulas, both packed.

use std::io::Write;

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use whyfaster_words::text::no_formula;

/// A file that the page hands out, packed in it.
#[derive(Clone, Debug)]
pub struct Download {
    /// Its name.
    pub(super) file: String,
    /// What it holds, for the button.
    pub(super) what: String,
    /// Its media type.
    kind: &'static str,
    bytes: Vec<u8>,
}

impl Download {
    /// A document of JSON.
    pub fn json(file: impl Into<String>, what: impl Into<String>, bytes: &[u8]) -> Self {
        Self { file: file.into(), what: what.into(), kind: "application/json", bytes: bytes.to_vec() }
    }

    /// A table.
    pub(super) fn csv(file: impl Into<String>, what: impl Into<String>, table: Table) -> Self {
        Self { file: file.into(), what: what.into(), kind: "text/csv", bytes: table.into_bytes() }
    }

    /// Bytes, for the button.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The block that carries it.
    pub(super) fn block(&self, id: &str) -> Markup {
        packed(id, &self.bytes, &[("file", &self.file), ("kind", self.kind)])
    }
}

/// A block of packed bytes. Base64 has no character that ends one.
pub(super) fn packed(id: &str, bytes: &[u8], more: &[(&str, &str)]) -> Markup {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    // Neither fails: both write to memory.
    let packed = gzip.write_all(bytes).and_then(|()| gzip.finish()).unwrap_or_default();
    let of = |name: &str| more.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    html! {
        script type="application/octet-stream" id=(id) data-file=[of("file")] data-kind=[of("kind")] {
            (PreEscaped(BASE64.encode(&packed)))
        }
    }
}

/// JSON within a page: no character of it ends the block, opens a comment, or ends a line of a script.
pub(super) fn json(id: &str, value: &impl Serialize) -> serde_json::Result<Markup> {
    let text = serde_json::to_string(value)?;
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => safe.push_str(&format!("\\u{:04x}", c as u32)),
            c => safe.push(c),
        }
    }
    Ok(html! { script type="application/json" id=(id) { (PreEscaped(safe)) } })
}

/// Rows for a spreadsheet.
pub(super) struct Table(csv::Writer<Vec<u8>>);

impl Table {
    /// A table with these columns.
    pub(super) fn new(columns: &[&str]) -> Self {
        let mut table = Self(csv::Writer::from_writer(Vec::new()));
        table.row(columns.iter().map(|it| (*it).to_owned()));
        table
    }

    /// Adds a row.
    pub(super) fn row(&mut self, fields: impl IntoIterator<Item = String>) {
        let fields = fields.into_iter().map(|field| no_formula(&field));
        // It writes to memory, and every row of a table is made by the same code.
        let _ = self.0.write_record(fields);
    }

    fn into_bytes(self) -> Vec<u8> {
        self.0.into_inner().unwrap_or_default()
    }
}

/// A number of a table; empty where there is none.
pub(super) fn cell(value: Option<impl ToString>) -> String {
    value.map(|it| it.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn no_text_ends_the_block_that_carries_it() {
        let hostile = "</script><script>alert(1)</script><!--\u{2028}\u{2029}&lt;]]>";
        let block = json("x", &hostile).unwrap().into_string();
        assert_eq!(block.matches("</script").count(), 1, "{block}");
        assert!(
            !block.contains("<!--") && !block.contains('\u{2028}') && !block.contains('\u{2029}'),
            "{block}"
        );
        let inner = block.split_once('>').unwrap().1.strip_suffix("</script>").unwrap();
        assert_eq!(serde_json::from_str::<String>(inner).unwrap(), hostile);
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        let block = packed("x", b"</script>", &[("file", "a\"b.json")]).into_string();
        assert!(block.contains("data-file=\"a&quot;b.json\""), "{block}");
        let inner = block.split_once('>').unwrap().1.strip_suffix("</script>").unwrap();
        let mut out = String::new();
        let bytes = BASE64.decode(inner.as_bytes()).unwrap();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut out).unwrap();
        assert_eq!(out, "</script>");
    }

    #[test]
    fn no_field_is_a_formula() {
        let mut table = Table::new(&["name", "seconds"]);
        table.row(["=1+1,\"x\"\n".to_owned(), (-0.5).to_string()]);
        assert_eq!(
            String::from_utf8(table.into_bytes()).unwrap(),
            "name,seconds\n\"'=1+1,\"\"x\"\"\n\",-0.5\n"
        );
    }
}
