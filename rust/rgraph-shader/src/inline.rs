//! The size of code once every call is inlined, as drivers do: a few functions that each call the next one twice grow
//! beyond any driver's patience. It is bounded here, where the place in the source is known.

use naga::{Block, Function, Handle, Module, Span, Statement};

/// Most instructions of an entry point with all that it calls, each call counted again. On the software driver of Mesa
/// 22 code of this size takes some seconds to compile; no shader of the tests has a tenth of it.
pub(crate) const MOST_INSTRUCTIONS: u64 = 1 << 17;

/// A function with the call at which its inlined size goes beyond [`MOST_INSTRUCTIONS`]; `None`: of itself.
pub(crate) struct Explodes {
    pub function: String,
    pub at: Span,
}

/// Statements with those in their blocks, and calls. Blocks nest as deep as the text was allowed to.
fn count(block: &Block, statements: &mut u64, calls: &mut Vec<(Handle<Function>, Span)>) {
    for (statement, span) in block.span_iter() {
        *statements += 1;
        match statement {
            Statement::Block(inner) => count(inner, statements, calls),
            Statement::If { accept, reject, .. } => {
                count(accept, statements, calls);
                count(reject, statements, calls);
            }
            Statement::Switch { cases, .. } => cases.iter().for_each(|case| count(&case.body, statements, calls)),
            Statement::Loop { body, continuing, .. } => {
                count(body, statements, calls);
                count(continuing, statements, calls);
            }
            Statement::Call { function, .. } => calls.push((*function, *span)),
            _ => {}
        }
    }
}

/// Bounds the inlined size of every function of a valid module, whose functions call earlier ones only. O(module).
pub(crate) fn check(module: &Module) -> Result<(), Explodes> {
    let mut sizes: Vec<u64> = Vec::with_capacity(module.functions.len());
    let size = |function: &Function, sizes: &[u64], name: &str, whole: Span| {
        let (mut size, mut calls) = (function.expressions.len() as u64, Vec::new());
        count(&function.body, &mut size, &mut calls);
        let explodes = |at| Explodes { function: name.to_owned(), at };
        if size > MOST_INSTRUCTIONS {
            return Err(explodes(whole));
        }
        for (callee, span) in calls {
            size += sizes.get(callee.index()).copied().unwrap_or(0);
            if size > MOST_INSTRUCTIONS {
                return Err(explodes(span));
            }
        }
        Ok(size)
    };
    for (handle, function) in module.functions.iter() {
        let own = size(function, &sizes, function.name.as_deref().unwrap_or(""), module.functions.get_span(handle))?;
        sizes.push(own);
    }
    for entry in &module.entry_points {
        let whole = entry.function.body.span_iter().next().map_or(Span::UNDEFINED, |(_, span)| *span);
        size(&entry.function, &sizes, &entry.name, whole)?;
    }
    Ok(())
}

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
