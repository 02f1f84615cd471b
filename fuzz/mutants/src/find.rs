//! Finds what can be mutated: the operators and replaced results of cargo-mutants, without those that need a build of
//! their own (constants, and functions that return an `impl Trait`).

use std::ops::Range;

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Expr, ExprBinary, ExprUnary, Pat, ReturnType, Type, UnOp};

use crate::results;

/// A place that has mutants.
pub struct Place {
    /// The bytes that an alternative replaces; empty where text is inserted.
    pub bytes: Range<usize>,
    pub kind: Kind,
    pub line: usize,
    pub function: String,
}

/// How a place is mutated.
pub enum Kind {
    /// An expression of two operands, and the other operators.
    Binary { left: Range<usize>, right: Range<usize>, others: Vec<&'static str> },
    /// An operator that is left out.
    Unary { operand: Range<usize> },
    /// A guard that is always true, or never.
    Guard,
    /// An arm without a guard that is never taken.
    Arm,
    /// The result of a function, in place of its body.
    Result { values: Vec<String> },
}

impl Kind {
    /// What each mutant of the place does, in words.
    pub fn names(&self, text: &str) -> Vec<String> {
        match self {
            Kind::Binary { left, right, others } => {
                let own = text[left.end..right.start].trim();
                others.iter().map(|other| format!("replace {own} with {other}")).collect()
            }
            Kind::Unary { .. } => vec!["delete the unary operator".into()],
            Kind::Guard => vec!["replace the guard with true".into(), "replace the guard with false".into()],
            Kind::Arm => vec!["delete the match arm".into()],
            Kind::Result { values } => values.iter().map(|value| format!("return {value}")).collect(),
        }
    }
}

/// The places of a file, outer ones before those within.
pub fn places(text: &str) -> Vec<Place> {
    let file = syn::parse_file(text).expect("a stage parses");
    let mut finder = Finder { found: Vec::new(), functions: Vec::new() };
    finder.visit_file(&file);
    finder.found.sort_by_key(|place| (place.bytes.start, std::cmp::Reverse(place.bytes.end)));
    finder.found
}

struct Finder {
    found: Vec<Place>,
    functions: Vec<String>,
}

impl Finder {
    fn add(&mut self, bytes: Range<usize>, span: Span, kind: Kind) {
        let function = self.functions.last().cloned().unwrap_or_default();
        self.found.push(Place { bytes, kind, line: span.start().line, function });
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block, attributes: &[Attribute]) -> bool {
        if signature.constness.is_some() || matches!(signature.safety, syn::Safety::Unsafe(_)) || for_tests(attributes)
        {
            return false;
        }
        self.functions.push(signature.ident.to_string());
        let open = block.brace_token.span.open();
        let values = match &signature.output {
            ReturnType::Default => vec!["()".to_string()],
            ReturnType::Type(_, of) => results::of(of),
        };
        if !values.is_empty() && !block.stmts.is_empty() {
            let at = open.byte_range().end;
            self.add(at..at, open, Kind::Result { values });
        }
        true
    }
}

/// Whether code is there for tests alone.
fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|each| {
        let text = each.to_token_stream().to_string();
        text.contains("test") && (text.contains("cfg") || text == "# [test]")
    })
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !for_tests(&node.attrs) {
            visit::visit_item_mod(self, node);
        }
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}

    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}

    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}

    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}

    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_type(&mut self, _: &'ast Type) {}

    fn visit_pat(&mut self, _: &'ast Pat) {}

    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        // Words of messages are no decisions, and a default is what the type says.
        let of = node.trait_.as_ref().and_then(|(path, _)| path.segments.last()).map(|each| each.ident.to_string());
        if !matches!(of.as_deref(), Some("Display" | "Debug" | "Default")) {
            visit::visit_item_impl(self, node);
        }
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        if self.function(&node.sig, &node.block, &node.attrs) {
            visit::visit_block(self, &node.block);
            self.functions.pop();
        }
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        if self.function(&node.sig, &node.block, &node.attrs) {
            visit::visit_block(self, &node.block);
            self.functions.pop();
        }
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default
            && self.function(&node.sig, block, &node.attrs)
        {
            visit::visit_block(self, block);
            self.functions.pop();
        }
    }

    fn visit_expr_binary(&mut self, node: &'ast ExprBinary) {
        let others = others(&node.op);
        if !others.is_empty() && !holds_let(node) {
            let kind =
                Kind::Binary { left: node.left.span().byte_range(), right: node.right.span().byte_range(), others };
            self.add(node.span().byte_range(), node.op.span(), kind);
        }
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'ast ExprUnary) {
        let literal = matches!(&*node.expr, Expr::Lit(_));
        if matches!(node.op, UnOp::Not(_)) || (matches!(node.op, UnOp::Neg(_)) && !literal) {
            self.add(node.span().byte_range(), node.op.span(), Kind::Unary { operand: node.expr.span().byte_range() });
        }
        visit::visit_expr_unary(self, node);
    }

    fn visit_expr_match(&mut self, node: &'ast syn::ExprMatch) {
        let open = node.arms.iter().any(|arm| matches!(arm.pat, Pat::Wild(_)));
        for arm in &node.arms {
            let (pattern, guard) = match &arm.pat {
                Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
                plain => (plain, None),
            };
            if let Some(guard @ Expr::Let(_)) = guard {
                self.visit_expr(guard);
                self.visit_expr(&arm.body);
                continue;
            }
            if let Some(guard) = guard {
                self.add(guard.span().byte_range(), guard.span(), Kind::Guard);
                self.visit_expr(guard);
            }
            // An arm whose guard is never true is one that is not there.
            if open && guard.is_none() && !matches!(pattern, Pat::Wild(_)) {
                let at = pattern.span().byte_range().end;
                self.add(at..at, pattern.span(), Kind::Arm);
            }
            self.visit_expr(&arm.body);
        }
        self.visit_expr(&node.expr);
    }
}

/// Whether a chain of `&&` has a `let` in it, which stands nowhere else.
fn holds_let(node: &ExprBinary) -> bool {
    fn within(each: &Expr) -> bool {
        match each {
            Expr::Let(_) => true,
            Expr::Binary(inner) if matches!(inner.op, BinOp::And(_)) => within(&inner.left) || within(&inner.right),
            _ => false,
        }
    }
    matches!(node.op, BinOp::And(_)) && (within(&node.left) || within(&node.right))
}

/// Operators that cargo-mutants tries in place of one.
fn others(of: &BinOp) -> Vec<&'static str> {
    match of {
        BinOp::Eq(_) => vec!["!="],
        BinOp::Ne(_) => vec!["=="],
        BinOp::And(_) => vec!["||"],
        BinOp::Or(_) => vec!["&&"],
        BinOp::Lt(_) => vec!["==", ">", "<="],
        BinOp::Gt(_) => vec!["==", "<", ">="],
        BinOp::Le(_) => vec![">"],
        BinOp::Ge(_) => vec!["<"],
        BinOp::Add(_) => vec!["-", "*"],
        BinOp::Sub(_) => vec!["+", "/"],
        BinOp::Mul(_) => vec!["+", "/"],
        BinOp::Div(_) => vec!["%", "*"],
        BinOp::Rem(_) => vec!["/", "+"],
        BinOp::Shl(_) => vec![">>"],
        BinOp::Shr(_) => vec!["<<"],
        BinOp::BitAnd(_) => vec!["|", "^"],
        BinOp::BitOr(_) => vec!["&", "^"],
        BinOp::BitXor(_) => vec!["|", "&"],
        BinOp::AddAssign(_) => vec!["-=", "*="],
        BinOp::SubAssign(_) => vec!["+=", "/="],
        BinOp::MulAssign(_) => vec!["+=", "/="],
        BinOp::DivAssign(_) => vec!["%=", "*="],
        BinOp::RemAssign(_) => vec!["/=", "+="],
        BinOp::ShlAssign(_) => vec![">>="],
        BinOp::ShrAssign(_) => vec!["<<="],
        BinOp::BitAndAssign(_) => vec!["|=", "^="],
        BinOp::BitOrAssign(_) => vec!["&=", "^="],
        BinOp::BitXorAssign(_) => vec!["|=", "&="],
        _ => Vec::new(),
    }
}
