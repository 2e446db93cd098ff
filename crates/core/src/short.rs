//! Names of alternatives cut to a length, so that what tells them apart stays visible: command lines often begin and end
//! alike. No step: the explanation and all renderers use it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A name as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// At most as many columns as were allowed.
    pub text: String,
    /// All that differs between the names is in it.
    pub whole: bool,
}

/// Columns that the text takes.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// At most `max` columns, the middle replaced by `gap`.
pub fn shorten(text: &str, max: usize, gap: &str) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(width(gap));
    let head = take(text.chars(), room.div_ceil(2));
    let tail: String = take(text.chars().rev(), room / 2).chars().rev().collect();
    // A mark whose letter was cut would stand on the gap.
    let tail = tail.trim_start_matches(|c: char| c.width() == Some(0));
    format!("{head}{gap}{tail}")
}

fn take(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

/// Each name in at most `max` columns: the words that all have in common at the beginning and at the end are left out
/// first, from the middle outwards.
pub fn apart(names: &[&str], max: usize, gap: &str) -> Vec<Short> {
    let common = Common::of(names);
    let cut = |name: &&str| match width(name) <= max {
        true => Short { text: (*name).to_owned(), whole: true },
        false => common.cut(name, max, gap),
    };
    names.iter().map(cut).collect()
}

/// Characters that all names begin and end with.
struct Common {
    /// Up to where they differ, and up to the beginning of that word.
    differ: usize,
    front: usize,
    /// From the end of the word in which they differ last.
    back: usize,
    /// Most columns from where they differ to there.
    rest: usize,
    /// Most columns from `front` to `back`, so that all names get the same words beside it where that can be.
    widest: usize,
}

impl Common {
    fn of(names: &[&str]) -> Self {
        let (first, others) = names.split_first().map_or(("", &[][..]), |(first, others)| (*first, others));
        let alike = |a: &mut dyn Iterator<Item = char>, b: &mut dyn Iterator<Item = char>| {
            a.zip(b).take_while(|(a, b)| a == b).count()
        };
        let shortest = names.iter().map(|name| name.chars().count()).min().unwrap_or(0);
        let differ = others.iter().map(|it| alike(&mut first.chars(), &mut it.chars())).min().unwrap_or(0);
        let same = others.iter().map(|it| alike(&mut first.chars().rev(), &mut it.chars().rev())).min();
        let same = same.unwrap_or(0).min(shortest - differ);
        let front = first.chars().take(differ).collect::<Vec<_>>().iter().rposition(|c| *c == ' ');
        let back = first.chars().rev().take(same).collect::<Vec<_>>().iter().rposition(|c| *c == ' ');
        let (front, back) = (front.map_or(0, |space| space + 1), back.map_or(0, |space| space + 1));
        let widest = |from: usize| {
            let columns = |name: &&str| {
                let middle: String = name.chars().take(name.chars().count() - back).skip(from).collect();
                width(&middle)
            };
            names.iter().map(columns).max().unwrap_or(0)
        };
        Self { differ, front, back, rest: widest(differ), widest: widest(front) }
    }

    fn cut(&self, name: &str, max: usize, gap: &str) -> Short {
        let chars: Vec<char> = name.chars().collect();
        let text = |from: usize, to: usize| chars[from.min(to)..to].iter().collect::<String>();
        let end = chars.len() - self.back;
        let (head, middle, tail) = (text(0, self.front), text(self.front, end), text(end, chars.len()));
        let head: Vec<&str> = head.split_whitespace().collect();
        let mut tail: Vec<&str> = tail.split_whitespace().collect();
        let left_out = |words: &[&str]| if words.is_empty() { 0 } else { width(gap) + 1 };
        let needed = width(&middle) + left_out(&head) + left_out(&tail);
        if needed <= max {
            let mut room = max - needed;
            room -= (self.widest - width(&middle)).min(room);
            let first = fitting(head.iter(), &mut room);
            let last = fitting(tail.iter().rev(), &mut room);
            let mut parts = head[..first].to_vec();
            parts.extend((first < head.len()).then_some(gap));
            parts.push(&middle);
            parts.extend((last < tail.len()).then_some(gap));
            parts.extend(tail.split_off(tail.len() - last));
            return Short { text: parts.join(" "), whole: true };
        }
        // What all end with is left out, which is to be seen, unless that would cost a part of the difference.
        let behind =
            if self.back > 0 && self.rest.max(width(gap)) + 2 * width(gap) <= max { gap } else { "" };
        // Of a long word (a path) only its last letters before the difference: as many as there is room for.
        let room = max.saturating_sub(width(gap) + width(behind));
        let before = (self.differ - self.front).min((max / 6).max(room.saturating_sub(self.rest)));
        let start = if self.differ - self.front <= max / 3 { self.front } else { self.differ - before };
        let front = if start > 0 { gap } else { "" };
        let middle = text(start, end);
        let cut = shorten(&middle, max.saturating_sub(width(front) + width(behind)), gap);
        Short { whole: cut == middle, text: format!("{front}{cut}{behind}") }
    }
}

/// How many of these words fit, each with a space, and the room that they leave.
fn fitting<'a>(words: impl Iterator<Item = &'a &'a str>, room: &mut usize) -> usize {
    let fits = |word: &&&str| {
        let columns = width(word) + 1;
        let fits = columns <= *room;
        *room -= if fits { columns } else { 0 };
        fits
    };
    words.take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut<const N: usize>(names: [&str; N], max: usize) -> [String; N] {
        let mut cut = apart(&names, max, "...").into_iter().map(|it| it.text);
        names.map(|_| cut.next().unwrap())
    }

    #[test]
    fn what_differs_stays_and_what_is_alike_goes_first() {
        let dd = |options| format!("dd if=/dev/zero of=/dev/null {options} 2>/dev/null");
        let (large, small) = (dd("bs=1000 count=100"), dd("bs=1 count=100000"));
        let names = [large.as_str(), small.as_str()];
        assert_eq!(cut(names, 32), ["dd ... bs=1000 count=100 ...", "dd ... bs=1 count=100000 ..."]);
        assert_eq!(
            cut(names, 48),
            ["dd if=/dev/zero ... bs=1000 count=100 ...", "dd if=/dev/zero ... bs=1 count=100000 ..."]
        );
        assert_eq!(cut(names, 200), names);
        assert_eq!(
            cut(["gzip --keep -1 input", "gzip --keep -2 input"], 16),
            ["gzip ... -1 ...", "gzip ... -2 ..."]
        );
        // A letter may take two columns.
        assert!(apart(&["a 日 c", "a  c"], 5, "..").iter().all(|it| width(&it.text) <= 5));
        let short = cut(["true", "nice -n 10 dd if=/dev/zero of=/dev/null"], 20);
        assert_eq!(short, ["true", "nice -n 1...dev/null"]);
    }

    #[test]
    fn the_difference_may_be_too_long() {
        let long = |end| format!("/usr/local/lib/some/very/long/way/to/the/program-{end} --quiet input");
        let (a, b) = (long("one"), long("two"));
        assert_eq!(cut([&a, &b], 30), ["...g/way/to/the/program-one...", "...g/way/to/the/program-two..."]);
        let python = |bytes| format!("python3 -c \"x=bytearray({bytes})\"");
        let (a, b) = (python(1000), python(100_000_000));
        assert_eq!(cut([&a, &b], 16), ["...y(1000)\"", "...y(100000000)\""]);
        let all = apart(&["sed -e s/a/bbbbbbbbbbbbb/ file", "awk -e aaaaaaaaaaaaaaaaaaa file"], 16, "...");
        assert_eq!(all[0], Short { text: "sed -e ...bbbbb/".to_owned(), whole: false });
    }

    proptest! {
        #[test]
        fn names_keep_to_their_room(
            names in prop::collection::vec("[ab日 ]{0,12}", 1..4),
            before in "[ab ]{0,20}",
            max in 4_usize..30,
        ) {
            let names: Vec<String> = names.iter().map(|name| format!("{before}{name} c")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for (it, name) in apart(&names, max, "..").iter().zip(&names) {
                prop_assert!(width(&it.text) <= max.max(4), "{it:?} {max}");
                prop_assert!(it.whole || width(name) > max);
            }
        }
    }
}
