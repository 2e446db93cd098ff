//! Random numbers from a seed, the same on every machine.

use std::convert::Infallible;

use rand::TryRng;
pub use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A generator with 2^64 streams for each seed (ChaCha with eight rounds).
///
/// It compiles here and nowhere else: this crate is optimised in development builds too, and tests draw numbers by the hundred million.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// Goes on in another stream of the same seed.
    #[inline(never)]
    pub fn set_stream(&mut self, stream: u64) {
        self.0.set_stream(stream);
    }
}

impl SeedableRng for Random {
    type Seed = <ChaCha8Rng as SeedableRng>::Seed;

    #[inline(never)]
    fn from_seed(seed: Self::Seed) -> Self {
        Self(ChaCha8Rng::from_seed(seed))
    }
}

impl TryRng for Random {
    type Error = Infallible;

    #[inline(never)]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline(never)]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    #[inline(never)]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}
