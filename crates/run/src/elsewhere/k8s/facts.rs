//! What Kubernetes says of nodes, pods and events, as far as it is needed here, and what follows from it.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use whyfaster_core::fleet::visit::Trouble;

/// The label of all that is made here.
pub(super) const LABEL: &str = "app.kubernetes.io/managed-by";
pub(super) const OURS: &str = "whyfaster";

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    pub(super) name: String,
    labels: HashMap<String, String>,
    deletion_timestamp: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    #[serde(flatten)]
    why: Why,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub(super) metadata: Metadata,
    spec: NodeSpec,
    status: NodeStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeSpec {
    unschedulable: bool,
    taints: Vec<Taint>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Taint {
    key: String,
    value: String,
    effect: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeStatus {
    allocatable: HashMap<String, String>,
    conditions: Vec<Condition>,
}

impl Node {
    /// Why it cannot be had, if that is so whatever runs on it.
    pub(super) fn out(&self, tainted: bool) -> Option<Trouble> {
        let down = |state: &str, reason: String| Some(Trouble::Down { state: state.to_owned(), reason });
        match self.status.conditions.iter().find(|it| it.kind == "Ready") {
            Some(ready) if ready.status == "True" => {}
            Some(ready) => return down("NotReady", ready.why.message.clone()),
            None => return down("NotReady", String::new()),
        }
        if self.spec.unschedulable {
            return down("cordoned", String::new());
        }
        let system = self.metadata.labels.get("kubernetes.io/os");
        if let Some(system) = system.filter(|it| *it != "linux") {
            return Some(Trouble::NotLinux { system: system.clone() });
        }
        let keeps = |taint: &&Taint| {
            // What the node's own state puts there, such as a full disk, is no wish of anybody.
            let of_state = taint.key.starts_with("node.kubernetes.io/");
            taint.effect != "PreferNoSchedule" && (of_state || !tainted)
        };
        let taint = self.spec.taints.iter().find(keeps)?;
        let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
        down("tainted", format!("{}{value}:{}", taint.key, taint.effect))
    }

    /// What a pod can be given there: all but what those ask for that stay. What ends by itself, as jobs and other measurements do,
    /// is waited for.
    pub(super) fn left(&self, pods: &[Pod]) -> Result<Part, Trouble> {
        let all = |what: &str| self.status.allocatable.get(what).and_then(|it| quantity(it)).unwrap_or(0);
        let all = Part { cpu_milli: all("cpu"), memory_milli: all("memory") };
        let stay = pods.iter().filter(|pod| pod.stays()).map(Pod::asks).fold(Part::default(), Part::plus);
        let left = Part {
            cpu_milli: all.cpu_milli.saturating_sub(stay.cpu_milli),
            memory_milli: all.memory_milli.saturating_sub(stay.memory_milli),
        };
        if left.cpu_milli < LEAST.cpu_milli || left.memory_milli < LEAST.memory_milli {
            let reason = format!(
                "pods that stay ask for {}m of {}m CPU and {}Mi of {}Mi memory",
                stay.cpu_milli,
                all.cpu_milli,
                stay.mebibytes(),
                all.mebibytes()
            );
            return Err(Trouble::Down { state: "full".to_owned(), reason });
        }
        Ok(left)
    }
}

/// With less nothing can be measured.
const LEAST: Part = Part { cpu_milli: 100, memory_milli: (64 << 20) * 1000 };

/// A part of a node, in thousandths of a CPU and of a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) cpu_milli: u64,
    memory_milli: u64,
}

impl Part {
    fn plus(self, other: Self) -> Self {
        Self {
            cpu_milli: self.cpu_milli.saturating_add(other.cpu_milli),
            memory_milli: self.memory_milli.saturating_add(other.memory_milli),
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            cpu_milli: self.cpu_milli.max(other.cpu_milli),
            memory_milli: self.memory_milli.max(other.memory_milli),
        }
    }

    pub(super) fn mebibytes(self) -> u64 {
        self.memory_milli / 1000 / (1 << 20)
    }

    fn of(requests: &HashMap<String, String>) -> Self {
        let of = |what: &str| requests.get(what).and_then(|it| quantity(it)).unwrap_or(0);
        Self { cpu_milli: of("cpu"), memory_milli: of("memory") }
    }
}

/// Thousandths of what a quantity says: `100m`, `4`, `1.5`, `16Gi`, `1e3`.
/// <https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>
fn quantity(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let factor = match suffix {
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "Ki" => 1024.0,
        "Mi" => (1u64 << 20) as f64,
        "Gi" => (1u64 << 30) as f64,
        "Ti" => (1u64 << 40) as f64,
        "Pi" => (1u64 << 50) as f64,
        _ => 10f64.powi(suffix.strip_prefix(['e', 'E'])?.parse().ok()?),
    };
    Some((number * factor * 1000.0).round() as u64)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pod {
    pub(super) metadata: Metadata,
    spec: PodSpec,
    status: PodStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodSpec {
    restart_policy: String,
    containers: Vec<Container>,
    init_containers: Vec<Container>,
    overhead: HashMap<String, String>,
    resources: Resources,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Container {
    restart_policy: String,
    resources: Resources,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Resources {
    requests: HashMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodStatus {
    phase: String,
    reason: String,
    message: String,
    conditions: Vec<Condition>,
    container_statuses: Vec<ContainerStatus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ContainerStatus {
    state: State,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct State {
    waiting: Option<Why>,
    running: Option<serde::de::IgnoredAny>,
    terminated: Option<Why>,
}

/// Why something is as it is: one word, and a sentence. Either may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Why {
    pub(super) reason: String,
    pub(super) message: String,
}

impl Why {
    /// Whether it says no more than that somebody works on it.
    pub(super) fn is_vague(&self) -> bool {
        self.message.is_empty() && ["", "ContainerCreating"].contains(&self.reason.as_str())
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = [&self.reason, &self.message].map(String::as_str);
        f.write_str(&said.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(": "))
    }
}

/// How a pod stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// It does not run yet.
    Waits(Why),
    /// It runs.
    Runs,
    /// It will never run: nobody needs to try again.
    Refused(Why),
    /// It has ended, or was taken away.
    Over(Why),
}

/// With these a container waits for somebody to change something. `ErrImagePull` is tried again, and then becomes the first of them.
const HOPELESS: [&str; 7] = [
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

impl Pod {
    /// Whether it goes on for ever, as far as its own words tell.
    fn stays(&self) -> bool {
        let ended = ["Succeeded", "Failed"].contains(&self.status.phase.as_str());
        !ended && !["Never", "OnFailure"].contains(&self.spec.restart_policy.as_str())
    }

    /// What the scheduler counts for it.
    /// <https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers>
    fn asks(&self) -> Part {
        let of = |container: &Container| Part::of(&container.resources.requests);
        let (beside, before): (Vec<_>, Vec<_>) =
            self.spec.init_containers.iter().partition(|it| it.restart_policy == "Always");
        let beside = beside.into_iter().map(of).fold(Part::default(), Part::plus);
        let first = before.into_iter().map(of).fold(Part::default(), Part::max);
        let all = self.spec.containers.iter().map(of).fold(Part::default(), Part::plus);
        let whole = Part::of(&self.spec.resources.requests);
        all.max(first).plus(beside).max(whole).plus(Part::of(&self.spec.overhead))
    }

    pub(super) fn stand(&self) -> Stand {
        let status = &self.status;
        let state = status.container_statuses.first().map(|it| &it.state);
        if ["Succeeded", "Failed"].contains(&status.phase.as_str()) {
            let ended = state.and_then(|it| it.terminated.clone()).unwrap_or_default();
            let first = |words: [&String; 3]| {
                words.into_iter().find(|it| !it.is_empty()).cloned().unwrap_or_default()
            };
            return Stand::Over(Why {
                reason: first([&status.reason, &ended.reason, &status.phase]),
                message: first([&status.message, &self.disrupted(), &ended.message]),
            });
        }
        if self.metadata.deletion_timestamp.is_some() {
            return Stand::Over(Why { reason: "deleted".to_owned(), message: self.disrupted() });
        }
        if let Some(why) = state.and_then(|it| it.waiting.clone()) {
            return match HOPELESS.contains(&why.reason.as_str()) {
                true => Stand::Refused(why),
                false => Stand::Waits(why),
            };
        }
        if status.phase == "Running" && state.is_some_and(|it| it.running.is_some()) {
            return Stand::Runs;
        }
        let scheduled = status.conditions.iter().find(|it| it.kind == "PodScheduled" && it.status != "True");
        let message = scheduled.map(|it| it.why.message.clone()).unwrap_or_default();
        Stand::Waits(Why { reason: String::new(), message })
    }

    /// Why it was or is being taken away: preempted, its node drained or gone.
    /// <https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions>
    pub(super) fn disrupted(&self) -> String {
        let found =
            self.status.conditions.iter().find(|it| it.kind == "DisruptionTarget" && it.status == "True");
        found.map(|it| it.why.to_string()).unwrap_or_default()
    }
}

/// What happened to a job or a pod.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(flatten)]
    why: Why,
    last_timestamp: Option<String>,
    event_time: Option<String>,
}

impl Event {
    /// The latest of those that somebody should look at.
    pub(super) fn warning(events: Vec<Self>) -> Option<Why> {
        // Times are in UTC with as many digits, so that their text has their order.
        let time =
            |it: &Self| it.last_timestamp.clone().or_else(|| it.event_time.clone()).unwrap_or_default();
        events.into_iter().filter(|it| it.kind == "Warning").max_by_key(time).map(|it| it.why)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn node(more: Value) -> Node {
        let mut node = json!({
            "metadata": { "name": "n1", "labels": { "kubernetes.io/os": "linux" } },
            "spec": {},
            "status": {
                "allocatable": { "cpu": "3920m", "memory": "4Gi" },
                "conditions": [{ "type": "Ready", "status": "True", "message": "fine" }],
            },
        });
        for (key, value) in more.as_object().unwrap() {
            node[key] = value.clone();
        }
        serde_json::from_value(node).unwrap()
    }

    fn pod(value: Value) -> Pod {
        serde_json::from_value(value).unwrap()
    }

    fn state(trouble: Option<Trouble>) -> String {
        match trouble {
            Some(Trouble::Down { state, reason }) => format!("{state}: {reason}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn who_cannot_be_had_is_out_with_its_reason() {
        assert_eq!(node(json!({})).out(false), None);
        let conditions = json!([{ "type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status." }]);
        let lost = node(json!({ "status": { "conditions": conditions } }));
        assert_eq!(state(lost.out(true)), "NotReady: Kubelet stopped posting node status.");
        assert_eq!(state(node(json!({ "status": {} })).out(false)), "NotReady: ");
        assert_eq!(state(node(json!({ "spec": { "unschedulable": true } })).out(true)), "cordoned: ");
        let tainted = |key: &str, effect: &str| {
            node(json!({ "spec": { "taints": [{ "key": key, "value": "gpu", "effect": effect }] } }))
        };
        assert_eq!(state(tainted("use", "NoSchedule").out(false)), "tainted: use=gpu:NoSchedule");
        assert_eq!(tainted("use", "NoSchedule").out(true), None);
        assert_eq!(tainted("use", "PreferNoSchedule").out(false), None);
        assert!(tainted("node.kubernetes.io/disk-pressure", "NoSchedule").out(true).is_some());
        let windows =
            node(json!({ "metadata": { "name": "w", "labels": { "kubernetes.io/os": "windows" } } }));
        assert_eq!(windows.out(false), Some(Trouble::NotLinux { system: "windows".to_owned() }));
    }

    #[test]
    fn what_stays_keeps_its_part_and_what_ends_is_waited_for() {
        let one = |policy: &str, phase: &str| {
            pod(json!({
                "spec": {
                    "restartPolicy": policy, "overhead": { "cpu": "10m" },
                    "containers": [{ "resources": { "requests": { "cpu": "0.25", "memory": "100Mi" } } }, {}],
                    "initContainers": [
                        { "resources": { "requests": { "cpu": "300m" } } },
                        { "restartPolicy": "Always", "resources": { "requests": { "cpu": "40m", "memory": "1Mi" } } },
                    ],
                },
                "status": { "phase": phase },
            }))
        };
        let pods = [
            one("Always", "Running"),
            one("Never", "Running"),
            one("OnFailure", "Pending"),
            one("Always", "Failed"),
        ];
        let left = node(json!({})).left(&pods).unwrap();
        assert_eq!((left.cpu_milli, left.mebibytes()), (3920 - 350, 4096 - 101));
        let greedy =
            pod(json!({ "spec": { "containers": [{ "resources": { "requests": { "cpu": "3.9" } } }] } }));
        let full = node(json!({})).left(&[greedy]).unwrap_err();
        assert_eq!(
            state(Some(full)),
            "full: pods that stay ask for 3900m of 3920m CPU and 0Mi of 4096Mi memory"
        );
    }

    #[test]
    fn quantities_are_read() {
        for (text, thousandths) in [
            ("100m", 100),
            ("4", 4000),
            ("1.5", 1500),
            ("250000u", 250),
            ("16Ki", 16_384_000),
            ("1e3", 1_000_000),
            ("2k", 2_000_000),
        ] {
            assert_eq!(quantity(text), Some(thousandths), "{text}");
        }
        assert!(quantity("").is_none() && quantity("much").is_none() && quantity("1x").is_none());
    }

    #[test]
    fn a_pod_waits_runs_is_refused_or_is_over() {
        let stand = |status: Value| pod(json!({ "status": status })).stand();
        let with =
            |state: Value| stand(json!({ "phase": "Pending", "containerStatuses": [{ "state": state }] }));
        let why =
            |reason: &str, message: &str| Why { reason: reason.to_owned(), message: message.to_owned() };
        let waits = |reason: &str, message: &str| Stand::Waits(why(reason, message));
        assert_eq!(stand(json!({ "phase": "Pending" })), waits("", ""));
        let unscheduled =
            json!([{ "type": "PodScheduled", "status": "False", "message": "0/3 nodes are available" }]);
        assert_eq!(
            stand(json!({ "phase": "Pending", "conditions": unscheduled })),
            waits("", "0/3 nodes are available")
        );
        assert_eq!(
            with(json!({ "waiting": { "reason": "ContainerCreating" } })),
            waits("ContainerCreating", "")
        );
        let pulling = json!({ "waiting": { "reason": "ErrImagePull", "message": "not found" } });
        assert_eq!(with(pulling), waits("ErrImagePull", "not found"));
        let refused = with(json!({ "waiting": { "reason": "ImagePullBackOff", "message": "Back-off" } }));
        assert_eq!(refused, Stand::Refused(why("ImagePullBackOff", "Back-off")));
        let runs = json!({ "phase": "Running", "containerStatuses": [{ "state": { "running": { "startedAt": "x" } } }] });
        assert_eq!(stand(runs), Stand::Runs);
        let evicted =
            stand(json!({ "phase": "Failed", "reason": "Evicted", "message": "The node was low on memory" }));
        assert_eq!(evicted, Stand::Over(why("Evicted", "The node was low on memory")));
        let preempted = json!([{ "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "by x" }]);
        let gone = pod(
            json!({ "metadata": { "deletionTimestamp": "now" }, "status": { "phase": "Running", "conditions": preempted } }),
        );
        assert_eq!(gone.stand(), Stand::Over(why("deleted", "PreemptionByScheduler: by x")));
    }

    #[test]
    fn the_latest_warning_counts() {
        let event = |kind: &str, reason: &str, time: &str| -> Event {
            serde_json::from_value(
                json!({ "type": kind, "reason": reason, "message": "m", "lastTimestamp": time }),
            )
            .unwrap()
        };
        let events = vec![
            event("Warning", "FailedMount", "2026-11-24T02:00:05Z"),
            event("Warning", "FailedCreate", "2026-11-24T02:00:07Z"),
            event("Warning", "Old", "2026-11-24T01:59:59Z"),
            event("Normal", "Scheduled", "2026-11-24T02:00:09Z"),
        ];
        assert_eq!(Event::warning(events).unwrap().reason, "FailedCreate");
        assert!(Event::warning(vec![event("Normal", "Scheduled", "x")]).is_none());
    }
}
