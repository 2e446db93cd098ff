//! What an export is: the option that asks for it, and who writes it.

use whyfaster_core::price::PriceList;
use whyfaster_core::record::Record;
use whyfaster_words::display::{FileOption, Hyperfine};
use whyfaster_words::look::Look;
use whyfaster_words::metric::Chosen;

use super::hyperfine::{self, Outcome};

/// A format that other programs read.
#[derive(Debug)]
pub struct Exporter {
    /// The option that asks for it.
    pub(super) option: FileOption,
    /// Results as hyperfine 1 writes them.
    pub(super) results: fn(&[Outcome], &Look) -> anyhow::Result<Vec<u8>>,
    /// Results as hyperfine 2 writes them, with these metrics.
    pub(super) results_2: OfMetrics,
    /// A price list in this format, if it has one.
    pub prices: Option<OfPrices>,
}

/// The bytes of results, with these metrics.
pub(super) type OfMetrics = fn(&Record, &[Outcome], &[Chosen]) -> anyhow::Result<Vec<u8>>;

/// The bytes of a price list.
pub type OfPrices = fn(&PriceList) -> anyhow::Result<Vec<u8>>;

impl Exporter {
    /// The bytes of a record.
    pub fn export(&self, record: &Record, look: &Look) -> anyhow::Result<Vec<u8>> {
        let results = hyperfine::results(record);
        match look.hyperfine {
            Hyperfine::One => (self.results)(&results, look),
            Hyperfine::Two => (self.results_2)(record, &results, &look.metrics_of(&record.plan)),
        }
    }
}

impl PartialEq for Exporter {
    fn eq(&self, other: &Self) -> bool {
        self.option == other.option
    }
}
