//! Lists of CPUs in the kernel's notation: `0-3,8`.

/// More than any kernel can be built for (x86: 8192), so that a broken list cannot fill the memory.
const MOST: u32 = 1 << 16;

/// Reads a list: each CPU once, in rising order. Empty text is an empty list.
pub fn parse(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|cpu| *cpu < MOST);
    for part in text.trim().split(',').filter(|_| !text.trim().is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// Writes a list.
pub fn show(cpus: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if cpu == *last + 1 => *last = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let show = |(a, b): &(u32, u32)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    parts.iter().map(show).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_follow_the_kernel() {
        assert_eq!(parse("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse("5,0-1,1"), Some(vec![0, 1, 5]));
        assert_eq!(parse("\n"), Some(vec![]));
        for bad in ["0-", "a", "3-1", "0,,1", "0-4294967295", "1;2"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_shown_list_reads_back(cpus in proptest::collection::btree_set(0..MOST, 1..40)) {
            let cpus: Vec<u32> = cpus.into_iter().collect();
            proptest::prop_assert_eq!(parse(&show(&cpus)), Some(cpus));
        }
    }
}
