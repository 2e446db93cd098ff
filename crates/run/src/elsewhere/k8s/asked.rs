//! What stands behind `k8s:`, and one node of it as the process that holds it is told.

use serde::{Deserialize, Serialize};

/// A small image with a shell, of those that Docker keeps itself.
pub(super) const IMAGE: &str = "docker.io/library/busybox:1.37";

/// The form, as the help writes it.
pub(super) const FORM: &str = "[NAMESPACE/]all|NODE|SELECTOR[@IMAGE][+root][+tainted]";

/// Nodes, and how their pods are to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asked {
    /// Where the jobs are made; of the current context's if none is named.
    pub(super) namespace: Option<String>,
    /// `all`, the name of a node, or a selector of labels.
    pub(super) which: String,
    /// What the commands find around them.
    pub(super) image: Option<String>,
    /// As root in there, and not as nobody.
    pub(super) root: bool,
    /// Also on nodes whose taints keep others away.
    pub(super) tainted: bool,
}

impl Asked {
    /// From what stands behind the colon.
    pub(super) fn of(text: &str) -> Result<Self, String> {
        let mut words = text.split('+');
        let place = words.next().unwrap_or_default();
        let (mut root, mut tainted) = (false, false);
        for word in words {
            *match word {
                "root" => &mut root,
                "tainted" => &mut tainted,
                _ => return Err(format!("'+{word}' is neither '+root' nor '+tainted'")),
            } = true;
        }
        let (place, image) =
            place.split_once('@').map_or((place, None), |(place, image)| (place, Some(image.to_owned())));
        if image.as_ref().is_some_and(|it| it.is_empty() || it.contains(char::is_whitespace)) {
            return Err(format!("'{text}' names no image behind '@'"));
        }
        // A prefix of a label is a domain, and the first '/' behind one is the label's own.
        let of_namespace =
            |it: &str| it.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        let (namespace, which) = match place.split_once('/') {
            Some((namespace, which)) if of_namespace(namespace) => (Some(namespace.to_owned()), which),
            _ => (None, place),
        };
        let bare = |it: &str| it.is_empty() || it.starts_with('-');
        if bare(which) || namespace.as_deref().is_some_and(bare) {
            return Err(format!("'{text}' is no node and no selector of labels"));
        }
        Ok(Self { namespace, which: which.to_owned(), image, root, tainted })
    }

    /// The same about one node.
    pub(super) fn one(&self, node: &str) -> Self {
        Self { which: node.to_owned(), ..self.clone() }
    }

    /// Whether it may be the name of a node.
    pub(super) fn may_be_a_node(&self) -> bool {
        self.which.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.')
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.which)?;
        if let Some(image) = &self.image {
            write!(f, "@{image}")?;
        }
        f.write_str(if self.root { "+root" } else { "" })?;
        f.write_str(if self.tainted { "+tainted" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_read_and_written() {
        for text in [
            "all",
            "node-1.example.org",
            "pool=bench",
            "bench/pool=bench",
            "bench/node-role.kubernetes.io/worker",
            "node-role.kubernetes.io/worker=,!gpu",
            "zone in (a, b)",
            "all@registry.example.org:5000/tools/debian@sha256:0d1e+root",
            "team-a/all@debian:13+root+tainted",
        ] {
            assert_eq!(Asked::of(text).unwrap().to_string(), text);
        }
        let asked = Asked::of("bench/node-role.kubernetes.io/worker").unwrap();
        assert_eq!(
            (asked.namespace.as_deref(), asked.which.as_str()),
            (Some("bench"), "node-role.kubernetes.io/worker")
        );
        assert_eq!(Asked::of("kubernetes.io/arch=arm64").unwrap().namespace, None);
        for (text, why) in [
            ("-l", "no node"),
            ("bench/", "no node"),
            ("/x", "no node"),
            ("all@", "no image"),
            ("all@a b", "no image"),
            ("all+admin", "'+admin'"),
        ] {
            let said = Asked::of(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
