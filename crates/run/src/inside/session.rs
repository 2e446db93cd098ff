//! Measuring in a place and labelling the list: what ran where, on which kernel, in which unit.

use std::cell::RefCell;

use whyfaster_core::event::Event;
use whyfaster_core::host::HostFacts;
use whyfaster_core::price::{Inside, PriceList, Unit};
use whyfaster_core::warning::Warning;
use whyfaster_probe::Probe;
use whyfaster_stats::quantile;
use whyfaster_store::worker::protocol::{Hello, Record, parse};
use whyfaster_words::exit::Failure;

use super::super::interrupts::Interrupts;
use super::super::probe::select::{Wanted, select};
use super::super::probe::session::{self, Measured, Request};
use super::super::probe::site::{Site, Take};
use super::super::probe::worker::Ended;
use super::guest::Guest;

/// A loop of two instructions a turn. Where instructions are counted it must cost two.
const CALIBRATION: &str = "two_instructions";

/// A guest that is listened to for what the worker says of itself.
struct Greeted<'a> {
    guest: &'a Guest,
    hello: RefCell<Option<Hello>>,
}

impl Site for Greeted<'_> {
    fn run(&self, plan: &str, interrupts: &Interrupts, take: &mut Take<'_>) -> Result<Ended, Failure> {
        self.guest.run(plan, interrupts, &mut |line| {
            if let Ok(Some(Record::Hello(hello))) = parse(line) {
                *self.hello.borrow_mut() = Some(hello);
            }
            take(line)
        })
    }

    fn at_once(&self) -> bool {
        self.guest.at_once()
    }
}

/// The CPUs that the worker may use there; `None` if we were interrupted. It is asked where that is not known.
pub fn cpus(guest: &Guest, interrupts: &Interrupts) -> Result<Option<Vec<u32>>, Failure> {
    if let Some(cpus) = &guest.cpus {
        return Ok(Some(cpus.clone()));
    }
    let greeted = Greeted { guest, hello: RefCell::new(None) };
    match greeted.run("end\n", interrupts, &mut |_| Ok(()))? {
        Ended::Interrupted => Ok(None),
        Ended::Whole => {
            Ok(Some(greeted.hello.take().and_then(|hello| hello.cpus).unwrap_or_else(|| vec![0])))
        }
    }
}

/// Measures there.
pub fn measure(
    probes: &[Probe],
    request: &Request,
    guest: &Guest,
    interrupts: &Interrupts,
    on: &mut dyn FnMut(&Event),
) -> Result<Measured, Failure> {
    let greeted = Greeted { guest, hello: RefCell::new(None) };
    let mut request = request.clone();
    if guest.unit == Unit::GuestInstructions {
        calibrate(probes, &mut request)?;
    }
    let mut measured = session::measure(probes, &request, &greeted, interrupts, on);
    let hello = greeted.hello.take().unwrap_or_default();
    label(&mut measured.list, guest, &hello);
    if guest.unit == Unit::GuestInstructions {
        let calibration = calibrated(&mut measured.list);
        if let Some(inside) = &mut measured.list.inside {
            inside.calibration = calibration;
        }
        if let Some(found) = calibration.filter(|found| !exact(*found)) {
            return Err(refused(found));
        }
        // Whoever was interrupted before the calibration has no list, and an error already says why.
        if calibration.is_none() {
            measured.list.rows.clear();
            measured.list.samples.clear();
            measured.list.prices.clear();
        }
    }
    measured.list.reprice();
    Ok(measured)
}

/// Puts the calibration in front of every repetition.
fn calibrate(probes: &[Probe], request: &mut Request) -> Result<(), Failure> {
    let wanted = Wanted { words: vec![CALIBRATION.to_owned()], cpus: vec![0], ..Wanted::default() };
    let lines = select(probes, &wanted)?.lines;
    request.selection.lines.splice(0..0, lines);
    Ok(())
}

/// Takes the calibration out of the list: instructions a turn.
fn calibrated(list: &mut PriceList) -> Option<f64> {
    let at = list.rows.iter().position(|row| row.name == CALIBRATION)?;
    let costs = list.costs(CALIBRATION, &list.rows[at].variant);
    list.rows.remove(at);
    list.samples.retain(|series| series.row != at);
    for series in list.samples.iter_mut().filter(|series| series.row > at) {
        series.row -= 1;
    }
    quantile::median(&costs.into_iter().flat_map(|(_, costs)| costs).collect::<Vec<_>>())
}

/// Two, to the digits that are printed.
fn exact(calibration: f64) -> bool {
    (calibration - 2.0).abs() < 5e-4
}

fn refused(found: f64) -> Failure {
    Failure::unfit(
        format!(
            "the list is refused: a loop of exactly 2 instructions was counted as {found:.3}, so these are no counts of instructions"
        ),
        "this emulator or kernel does not give the counter through; qemu-timed:KERNEL gives its times",
    )
}

/// Says what was measured where. What this machine knows of itself stays only where it is true of the place.
fn label(list: &mut PriceList, guest: &Guest, hello: &Hello) {
    let told = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    list.unit = guest.unit;
    list.name = match told(&hello.release) {
        Some(release) => format!("{}, {} {release}", guest.short, hello.os),
        None => guest.short.clone(),
    };
    list.inside = Some(Inside {
        kind: guest.asked.clone(),
        mechanism: guest.mechanism.clone(),
        version: guest.version.clone(),
        kernel: told(&hello.release),
        machine: told(&hello.machine),
        calibration: None,
    });
    let fingerprint = &mut list.fingerprint;
    if !guest.own_kernel {
        let here = std::mem::take(&mut fingerprint.facts);
        fingerprint.facts = HostFacts {
            kernel: told(&hello.release),
            cpu_model: here.cpu_model.filter(|_| guest.here),
            hypervisor: guest.here.then(|| guest.mechanism.clone()),
            cpus_allowed: guest.cpus.clone().or_else(|| hello.cpus.clone()),
            ..HostFacts::default()
        };
        (fingerprint.mitigations, fingerprint.seccomp) = (None, None);
    }
    fingerprint.facts.machine = told(&hello.machine);
    if !guest.here {
        (fingerprint.steal_during, fingerprint.others_during) = (None, None);
        list.warnings.clear();
    }
    list.warnings.extend(guest.caveats.iter().cloned().map(Warning::from));
}
