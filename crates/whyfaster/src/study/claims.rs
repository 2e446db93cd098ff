//! What became of an article's claims, in words.

use whyfaster_core::claims::{Judgement, Outcome};

/// What became of the claims, two lines each.
pub(super) fn claim_lines(claims: &[Judgement]) -> Vec<String> {
    let lines = |claim: &Judgement| {
        [
            format!("  {}. {:<13}  {}", claim.number, outcome(claim.outcome), claim.text),
            format!("                    {}", claim.why),
        ]
    };
    claims.iter().flat_map(lines).collect()
}

/// How many claims hold, do not, and are open; kinds without a claim are left out.
pub(super) fn tally(claims: &[Judgement]) -> String {
    let kinds = [
        (Outcome::Holds, "holds", "hold"),
        (Outcome::DoesNotHold, "does not hold", "do not hold"),
        (Outcome::Undecided, "is undecided", "are undecided"),
    ];
    let counts: Vec<String> = kinds
        .into_iter()
        .map(|(kind, one, many)| (claims.iter().filter(|claim| claim.outcome == kind).count(), one, many))
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    format!("of the article's {} claims {}", claims.len(), counts.join(", "))
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::DoesNotHold => "does not hold",
        Outcome::Undecided => "undecided",
    }
}
