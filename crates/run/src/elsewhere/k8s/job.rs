//! The job that holds a node: one pod, pinned to it, that ends when nobody needs it any more.
//!
//! A job and no bare pod, because only a job has a time after which Kubernetes takes away what has ended (`ttlSecondsAfterFinished`).
//!
//! The pod's own process waits for the shell that the call `exec` starts beside it (`hold.rs`). `exec`, and not `attach`: what an attached process
//! writes goes into the node's logs besides, and its last words may be lost when the pod ends.

use serde_json::{Value, json};

use super::asked::{Asked, IMAGE};
use super::facts::{LABEL, OURS, Part};
use crate::elsewhere::hold;
use crate::elsewhere::shell::SHELL;

/// The container's name.
pub(super) const CONTAINER: &str = "whyfaster";

/// Nobody, and its group, on every system.
const NOBODY: u32 = 65534;

/// How long the job stays once it has ended, so that its reason can still be asked for, in seconds.
const STAYS: u32 = 10;

/// How long a job may wait and run in all, in seconds: if all else fails, this ends it.
const AT_MOST: u64 = 24 * 3600;

/// The node's name as that of a host, which is what records call the machine they were measured on: the pod's own name is a new one in every run.
/// It is a label of the DNS (RFC 1123), which a node's name consists of.
fn host_name(node: &str) -> String {
    let label: String = node.chars().map(|c| if c == '.' { '-' } else { c }).take(63).collect();
    label.trim_end_matches('-').to_owned()
}

/// The job. What it asks for it also gets at most, which makes it one of those that Kubernetes ends last, and is all that is left there, so that
/// nobody comes beside it who asks for anything.
pub(super) fn manifest(name: &str, asked: &Asked, part: Part) -> Value {
    let resources =
        json!({ "cpu": format!("{}m", part.cpu_milli), "memory": format!("{}Mi", part.mebibytes()) });
    let security = if asked.root {
        json!({ "runAsUser": 0, "runAsGroup": 0 })
    } else {
        json!({
            "runAsNonRoot": true, "runAsUser": NOBODY, "runAsGroup": NOBODY, "allowPrivilegeEscalation": false,
            "capabilities": { "drop": ["ALL"] },
        })
    };
    let labels = json!({ LABEL: OURS });
    let by_name =
        json!([{ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [asked.which] }] }]);
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": name, "labels": labels },
        "spec": {
            "completions": 1,
            "parallelism": 1,
            "backoffLimit": 0,
            "activeDeadlineSeconds": AT_MOST,
            "ttlSecondsAfterFinished": STAYS,
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "hostname": host_name(&asked.which),
                    "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": 5,
                    "automountServiceAccountToken": false,
                    "enableServiceLinks": false,
                    "affinity": {
                        // The scheduler sees to it, so that the pod waits for its turn.
                        "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": by_name } },
                        // Two measurements never share a node.
                        "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{
                            "labelSelector": { "matchLabels": labels }, "namespaceSelector": {}, "topologyKey": "kubernetes.io/hostname",
                        }] },
                    },
                    "tolerations": if asked.tainted { json!([{ "operator": "Exists" }]) } else { json!([]) },
                    "containers": [{
                        "name": CONTAINER,
                        "image": asked.image.as_deref().unwrap_or(IMAGE),
                        "command": [SHELL, "-c", hold::job(name)],
                        // Where there is room, whatever the image says.
                        "env": [{ "name": "TMPDIR", "value": "/tmp" }],
                        "resources": { "requests": resources, "limits": resources },
                        "securityContext": security,
                        "volumeMounts": [{ "name": "tmp", "mountPath": "/tmp" }],
                    }],
                    "volumes": [{ "name": "tmp", "emptyDir": {} }],
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_called_as_its_node() {
        assert_eq!(host_name("n1"), "n1");
        assert_eq!(
            host_name("ip-10-0-0-7.eu-west-1.compute.internal"),
            "ip-10-0-0-7-eu-west-1-compute-internal"
        );
        assert_eq!(host_name(&format!("{}.{}", "a".repeat(62), "b".repeat(9))), "a".repeat(62));
    }
}
