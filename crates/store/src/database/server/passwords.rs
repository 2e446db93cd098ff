//! The file that libpq keeps passwords in (`~/.pgpass`; <https://www.postgresql.org/docs/current/libpq-pgpass.html>).

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The password of the first line that is for this host, port, database and user. A file that others may read counts for nothing, as in
/// libpq.
pub(super) fn find(file: &Path, of: [&str; 4]) -> Option<String> {
    let facts = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    if facts.mode() & 0o077 != 0 {
        return None;
    }
    fs::read_to_string(file).ok()?.lines().find_map(|line| of_line(line, of))
}

fn of_line(line: &str, of: [&str; 4]) -> Option<String> {
    let fields = fields(line);
    let [host, port, database, user, password] = fields.as_slice() else { return None };
    let is_for = [host, port, database, user].iter().zip(of).all(|(field, of)| *field == "*" || *field == of);
    is_for.then(|| password.clone())
}

/// Five fields by colons; a colon or backslash behind a backslash is itself. The last field goes on to the end of the line.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut().into_iter().for_each(|field| field.extend(letters.next())),
            _ => fields.last_mut().into_iter().for_each(|field| field.push(letter)),
        }
    }
    if line.starts_with('#') { Vec::new() } else { fields }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_first_line_that_is_for_it_counts() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pgpass");
        fs::write(
            &file,
            "# db:5432:fleet:me:no\ndb:5432:other:me:no\nshort\ndb:*:fleet:me:a\\:b\\\\c:d\n*:*:*:*:last\n",
        )
        .unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(find(&file, ["db", "5432", "fleet", "me"]).as_deref(), Some("a:b\\c:d"));
        assert_eq!(find(&file, ["elsewhere", "1", "x", "y"]).as_deref(), Some("last"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(find(&file, ["db", "5432", "fleet", "me"]), None);
    }
}
