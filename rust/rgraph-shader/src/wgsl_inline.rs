//! The size of WGSL code once every call is inlined, bounded where the place in the source is known.

use naga::{Block, Function, Handle, Module, Span, Statement};

use crate::inline::MOST_INSTRUCTIONS;

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
