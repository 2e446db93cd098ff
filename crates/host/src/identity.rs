//! Which machine this is: what tells it from others of its name.

use sha2::{Digest, Sha256};

use super::root::{Root, Unreadable};

/// A digest of the id that the system gave itself when it was installed. The id itself is a secret of the machine (machine-id(5)), and
/// records are handed on: from this digest nobody gets it, and what other programs derive from it is another number.
pub(super) fn machine_id(root: &Root) -> Result<String, Unreadable> {
    let path = "/etc/machine-id";
    let id = root.word(path)?;
    // Before the first boot of an image another word stands there.
    if id.len() != 32 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Unreadable::line(path, 1, &id, "32 hexadecimal digits"));
    }
    let digest = Sha256::new().chain_update("whyfaster machine ").chain_update(id).finalize();
    Ok(digest[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Machine;
    use super::*;

    #[test]
    fn the_id_is_told_as_a_digest_and_only_where_there_is_one() {
        let machine = Machine::hybrid();
        let of = |text: &str| {
            machine.file("/etc/machine-id", text);
            machine_id(&machine.root())
        };
        let id = "0123456789abcdef0123456789abcdef";
        let told = of(&format!("{id}\n")).unwrap();
        assert!(told.len() == 16 && !id.contains(&told), "{told}");
        assert_eq!(of(id).unwrap(), told);
        assert_ne!(of("1123456789abcdef0123456789abcdef").unwrap(), told);
        assert!(of("uninitialized\n").is_err() && of("").is_err());
    }
}
