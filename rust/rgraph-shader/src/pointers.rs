//! Functions of WGSL that take pointers into buffers, workgroup memory or push data, or storage textures. Naga refuses
//! the former, and of the latter it does not know which variable a function writes. So each such function is copied for
//! the variables that its calls give it (Tint's "direct variable access"): the copy names the variable, and takes the
//! indices on the way into it as numbers.

use std::collections::HashMap;

use naga::front::Typifier;
use naga::proc::{ResolveContext, TypeResolution};
use naga::{
    AddressSpace, Arena, Block, Expression, Function, FunctionArgument, GlobalVariable, Handle, ImageClass, Module,
    Range, Span, Statement, StorageAccess, Type, TypeInner,
};

use crate::handles;

/// Most functions of a module once they are copied.
const MOST_FUNCTIONS: usize = 4096;
/// Most instructions of copies.
const MOST_INSTRUCTIONS: usize = crate::inline::MOST_INSTRUCTIONS as usize;
/// Most calls within each other.
const DEEPEST: usize = 256;

/// Why a call cannot be copied.
pub(crate) struct Refused {
    pub at: Span,
    pub message: String,
    pub help: &'static str,
}

/// A step from a variable into it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Index {
    /// A member, or an element whose number is in the text.
    Known(u32),
    /// An element whose number is an argument of this type.
    Given(Handle<Type>),
}

/// What an argument means: a variable, and the way into it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Place {
    variable: Handle<GlobalVariable>,
    way: Vec<Index>,
}

/// A function with the places of its arguments; `None`: an ordinary argument.
type Key = (Handle<Function>, Vec<Option<Place>>);

/// Copies functions that take pointers, so that none is left that a valid entry point calls.
///
/// # Errors
/// If an argument has another type than its parameter, or if there would be too many copies.
pub(crate) fn resolve(module: &mut Module) -> Result<(), Refused> {
    let takes = |function: &Function| function.arguments.iter().any(|argument| is_place(module, argument.ty));
    if !module.functions.iter().any(|(_, function)| takes(function)) {
        return Ok(());
    }
    let ordinary: Vec<bool> = module.functions.iter().map(|(_, function)| !takes(function)).collect();
    let old = std::mem::take(&mut module.functions);
    let mut copies = Copies { module, old: &old, new: Arena::new(), known: HashMap::new(), instructions: 0 };
    for ((handle, function), ordinary) in old.iter().zip(ordinary) {
        if ordinary {
            copies.copy((handle, vec![None; function.arguments.len()]), old.get_span(handle), 0)?;
        }
    }
    for at in 0..copies.module.entry_points.len() {
        let mut function = std::mem::take(&mut copies.module.entry_points[at].function);
        copies.calls(&mut function, 0)?;
        copies.module.entry_points[at].function = function;
    }
    module.functions = copies.new;
    Ok(())
}

/// Whether naga cannot follow arguments of a type.
fn is_place(module: &Module, ty: Handle<Type>) -> bool {
    match &module.types[ty].inner {
        TypeInner::Image { class: ImageClass::Storage { access, .. }, .. } => *access != StorageAccess::LOAD,
        inner => matches!(
            inner.pointer_space(),
            Some(
                AddressSpace::Storage { .. }
                    | AddressSpace::Uniform
                    | AddressSpace::WorkGroup
                    | AddressSpace::Immediate
            )
        ),
    }
}

struct Copies<'m> {
    module: &'m mut Module,
    old: &'m Arena<Function>,
    new: Arena<Function>,
    known: HashMap<Key, Handle<Function>>,
    instructions: usize,
}

impl Copies<'_> {
    /// The copy of a function for these places, called at `at`.
    fn copy(&mut self, key: Key, at: Span, depth: usize) -> Result<Handle<Function>, Refused> {
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let original = &self.old[key.0];
        self.instructions += original.expressions.len();
        if self.new.len() >= MOST_FUNCTIONS || self.instructions > MOST_INSTRUCTIONS || depth > DEEPEST {
            let name = original.name.as_deref().unwrap_or("");
            let message = format!("there are too many copies of '{name}' and others for the pointers that they take");
            let help = "give fewer different variables to functions, or use them there by their names";
            return Err(Refused { at, message, help });
        }
        let mut function = place(original, &key.1);
        self.calls(&mut function, depth + 1)?;
        let handle = self.new.append(function, self.old.get_span(key.0));
        self.known.insert(key, handle);
        Ok(handle)
    }

    /// Gives the calls of a function to copies.
    fn calls(&mut self, function: &mut Function, depth: usize) -> Result<(), Refused> {
        let mut typifier = Typifier::new();
        if let Some((last, _)) = function.expressions.iter().next_back() {
            // Its calls are still those of the original.
            let context = ResolveContext {
                functions: self.old,
                ..ResolveContext::with_locals(self.module, &function.local_variables, &function.arguments)
            };
            // The front end had these types too, so none is unknown; a text without them is refused later.
            if typifier.grow(last, &function.expressions, &context).is_err() {
                return Ok(());
            }
        }
        let mut body = std::mem::take(&mut function.body);
        let done = self.calls_of(&mut body, function, &typifier, depth);
        function.body = body;
        done
    }

    fn calls_of(
        &mut self,
        block: &mut Block,
        function: &mut Function,
        typifier: &Typifier,
        depth: usize,
    ) -> Result<(), Refused> {
        for (statement, span) in block.span_iter_mut() {
            match statement {
                Statement::Block(inner) => self.calls_of(inner, function, typifier, depth)?,
                Statement::If { accept, reject, .. } => {
                    self.calls_of(accept, function, typifier, depth)?;
                    self.calls_of(reject, function, typifier, depth)?;
                }
                Statement::Switch { cases, .. } => {
                    for case in cases {
                        self.calls_of(&mut case.body, function, typifier, depth)?;
                    }
                }
                Statement::Loop { body, continuing, .. } => {
                    self.calls_of(body, function, typifier, depth)?;
                    self.calls_of(continuing, function, typifier, depth)?;
                }
                Statement::Call { function: callee, arguments, result } => {
                    let at = span.map_or(Span::UNDEFINED, |span| *span);
                    let parameters = &self.old[*callee].arguments;
                    if parameters.len() != arguments.len() {
                        continue;
                    }
                    let mut places = Vec::with_capacity(arguments.len());
                    let mut given = Vec::with_capacity(arguments.len());
                    for (parameter, argument) in parameters.iter().zip(arguments.iter()) {
                        if !is_place(self.module, parameter.ty) {
                            places.push(None);
                            given.push(*argument);
                            continue;
                        }
                        let ty = &typifier[*argument];
                        let place = way(self.module, function, typifier, *argument)
                            .filter(|_| self.module.compare_types(&TypeResolution::Handle(parameter.ty), ty));
                        let Some((place, indices)) = place else {
                            let name = parameter.name.as_deref().unwrap_or("");
                            let message = format!("argument '{name}' is given something of another type");
                            let at = function.expressions.get_span(*argument);
                            return Err(Refused { at, message, help: "pass what its parameter declares" });
                        };
                        places.push(Some(place));
                        given.extend(indices);
                    }
                    *callee = self.copy((*callee, places), at, depth)?;
                    *arguments = given;
                    if let Some(result) = result {
                        function.expressions[*result] = Expression::CallResult(*callee);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The place that an expression of a function is, and the indices on the way; `None`: it is none of a global variable.
fn way(
    module: &mut Module,
    function: &Function,
    typifier: &Typifier,
    mut at: Handle<Expression>,
) -> Option<(Place, Vec<Handle<Expression>>)> {
    let (mut way, mut indices) = (Vec::new(), Vec::new());
    loop {
        match function.expressions[at] {
            Expression::GlobalVariable(variable) => {
                way.reverse();
                indices.reverse();
                return Some((Place { variable, way }, indices));
            }
            Expression::AccessIndex { base, index } => {
                way.push(Index::Known(index));
                at = base;
            }
            Expression::Access { base, index } => {
                way.push(Index::Given(typifier.register_type(index, &mut module.types)));
                indices.push(index);
                at = base;
            }
            _ => return None,
        }
    }
}

/// A function whose arguments with places are these places. O(function).
fn place(original: &Function, places: &[Option<Place>]) -> Function {
    let mut new = Function {
        name: original.name.clone(),
        result: original.result.clone(),
        local_variables: original.local_variables.clone(),
        diagnostic_filter_leaf: original.diagnostic_filter_leaf,
        ..Function::default()
    };
    // Where the arguments of the copy begin, by argument of the original.
    let mut first = Vec::with_capacity(places.len());
    for (argument, place) in original.arguments.iter().zip(places) {
        first.push(new.arguments.len() as u32);
        let Some(place) = place else {
            new.arguments.push(argument.clone());
            continue;
        };
        for step in &place.way {
            if let Index::Given(ty) = step {
                new.arguments.push(FunctionArgument { name: argument.name.clone(), ty: *ty, binding: None });
            }
        }
    }
    let mut begin = Block::new();
    let mut handles = Vec::with_capacity(original.expressions.len());
    for (old, expression) in original.expressions.iter() {
        let span = original.expressions.get_span(old);
        let handle = match expression {
            Expression::FunctionArgument(argument) => match &places[*argument as usize] {
                None => new.expressions.append(Expression::FunctionArgument(first[*argument as usize]), span),
                Some(place) => walk(place, first[*argument as usize], span, &mut new.expressions, &mut begin),
            },
            other => {
                let mut other = other.clone();
                handles::of_expression(&mut other, &mut |named| *named = handles[named.index()]);
                new.expressions.append(other, span)
            }
        };
        handles.push(handle);
    }
    let named = |old: Handle<Expression>| handles[old.index()];
    for (_, variable) in new.local_variables.iter_mut() {
        variable.init = variable.init.map(named);
    }
    new.named_expressions =
        original.named_expressions.iter().map(|(handle, name)| (named(*handle), name.clone())).collect();
    new.body = original.body.clone();
    let mut emit = |range: &mut Range<Expression>| {
        if let Some((first, last)) = range.first_and_last() {
            *range = Range::new_from_bounds(named(first), named(last));
        }
    };
    handles::of_block(&mut new.body, &mut |handle| *handle = named(*handle), &mut emit);
    begin.append(&mut new.body);
    new.body = begin;
    new
}

/// Walks from a variable to a place with the indices that begin at argument `first`; `begin` evaluates the way.
fn walk(
    place: &Place,
    mut first: u32,
    span: Span,
    expressions: &mut Arena<Expression>,
    begin: &mut Block,
) -> Handle<Expression> {
    let steps: Vec<Result<u32, Handle<Expression>>> = place
        .way
        .iter()
        .map(|step| match step {
            Index::Known(index) => Ok(*index),
            Index::Given(_) => {
                first += 1;
                Err(expressions.append(Expression::FunctionArgument(first - 1), span))
            }
        })
        .collect();
    let mut at = expressions.append(Expression::GlobalVariable(place.variable), span);
    let before = expressions.len();
    for step in steps {
        let next = match step {
            Ok(index) => Expression::AccessIndex { base: at, index },
            Err(index) => Expression::Access { base: at, index },
        };
        at = expressions.append(next, span);
    }
    if expressions.len() > before {
        begin.push(Statement::Emit(expressions.range_from(before)), span);
    }
    at
}
