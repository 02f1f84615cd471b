//! The size of code once every call is inlined, as drivers do: a few functions that each call the next one twice grow
//! beyond any driver's patience.

/// Most instructions of an entry point with all that it calls, each call counted again. On the software driver of Mesa
/// 22 code of this size takes some seconds to compile; no shader of the tests has a tenth of it.
pub(crate) const MOST_INSTRUCTIONS: u64 = 1 << 17;

/// What is wrong with the functions of a SPIR-V module.
pub(crate) enum Calls {
    /// One calls itself, maybe through others.
    Recursive,
    /// One is too large once all is inlined.
    Explode,
}

/// Bounds the inlined sizes of functions given as instructions and callees (by position). Each function is looked at
/// once, with a stack of our own. O(functions + calls).
pub(crate) fn check_calls(functions: &[(u64, Vec<usize>)]) -> Result<(), Calls> {
    const OPEN: u64 = u64::MAX;
    let mut sizes: Vec<Option<u64>> = vec![None; functions.len()];
    for start in 0..functions.len() {
        let mut stack = vec![(start, 0)];
        while let Some((at, next)) = stack.pop() {
            let (own, callees) = &functions[at];
            if next == 0 {
                if sizes[at].is_some() {
                    continue;
                }
                sizes[at] = Some(OPEN);
            }
            match callees.get(next) {
                Some(callee) => {
                    stack.push((at, next + 1));
                    match sizes[*callee] {
                        Some(OPEN) => return Err(Calls::Recursive),
                        Some(_) => {}
                        None => stack.push((*callee, 0)),
                    }
                }
                None => {
                    let called = callees.iter().map(|callee| sizes[*callee].unwrap_or(0));
                    let size = called.fold(*own, u64::saturating_add);
                    if size > MOST_INSTRUCTIONS {
                        return Err(Calls::Explode);
                    }
                    sizes[at] = Some(size);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_once_for_each_way_to_them() {
        let doubling = |depth: usize| {
            let mut functions: Vec<_> = (0..depth).map(|at| (4, vec![at + 1, at + 1])).collect();
            functions.push((4, Vec::new()));
            check_calls(&functions)
        };
        assert!(doubling(12).is_ok());
        assert!(matches!(doubling(40), Err(Calls::Explode)));
        // As deep as ids allow: neither the stack nor the time grows with the ways.
        let chain: Vec<_> = (0..100_000).map(|at| (1, if at < 99_999 { vec![at + 1] } else { Vec::new() })).collect();
        assert!(check_calls(&chain).is_ok());
    }

    #[test]
    fn recursion_is_found_through_others() {
        assert!(matches!(check_calls(&[(1, vec![1]), (1, vec![2]), (1, vec![0])]), Err(Calls::Recursive)));
        assert!(matches!(check_calls(&[(1, vec![0])]), Err(Calls::Recursive)));
        assert!(check_calls(&[(1, vec![1, 2]), (1, vec![2]), (1, Vec::new())]).is_ok());
    }
}
