//! The expressions that expressions and statements of naga's functions name, for those who renumber them.

use naga::{
    AtomicFunction, Block, Expression, GatherMode, Handle, ImageQuery, Range, RayPipelineFunction, RayQueryFunction,
    SampleLevel, Statement,
};

type Named = Handle<Expression>;

/// Gives each expression that `expression` names to `change`.
pub(crate) fn of_expression(expression: &mut Expression, change: &mut impl FnMut(&mut Named)) {
    let mut each = |some: &mut [&mut Named]| some.iter_mut().for_each(|one| change(one));
    match expression {
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::Override(_)
        | Expression::ZeroValue(_)
        | Expression::FunctionArgument(_)
        | Expression::GlobalVariable(_)
        | Expression::LocalVariable(_)
        | Expression::CallResult(_)
        | Expression::AtomicResult { .. }
        | Expression::WorkGroupUniformLoadResult { .. }
        | Expression::RayQueryProceedResult
        | Expression::SubgroupBallotResult
        | Expression::SubgroupOperationResult { .. } => {}
        Expression::Compose { components, .. } => components.iter_mut().for_each(change),
        Expression::Access { base, index } => each(&mut [base, index]),
        Expression::AccessIndex { base: one, .. }
        | Expression::Splat { value: one, .. }
        | Expression::Swizzle { vector: one, .. }
        | Expression::Load { pointer: one }
        | Expression::Unary { expr: one, .. }
        | Expression::Derivative { expr: one, .. }
        | Expression::Relational { argument: one, .. }
        | Expression::As { expr: one, .. }
        | Expression::ArrayLength(one)
        | Expression::RayQueryVertexPositions { query: one, .. }
        | Expression::RayQueryGetIntersection { query: one, .. } => change(one),
        Expression::ImageSample { image, sampler, coordinate, array_index, offset, level, depth_ref, .. } => {
            each(&mut [image, sampler, coordinate]);
            [array_index, offset, depth_ref].into_iter().flatten().for_each(&mut *change);
            match level {
                SampleLevel::Auto | SampleLevel::Zero => {}
                SampleLevel::Exact(one) | SampleLevel::Bias(one) => change(one),
                SampleLevel::Gradient { x, y } => [x, y].into_iter().for_each(change),
            }
        }
        Expression::ImageLoad { image, coordinate, array_index, sample, level } => {
            each(&mut [image, coordinate]);
            [array_index, sample, level].into_iter().flatten().for_each(change);
        }
        Expression::ImageQuery { image, query } => {
            change(image);
            if let ImageQuery::Size { level: Some(level) } = query {
                change(level);
            }
        }
        Expression::Binary { left, right, .. } => each(&mut [left, right]),
        Expression::Select { condition, accept, reject } => each(&mut [condition, accept, reject]),
        Expression::Math { arg, arg1, arg2, arg3, .. } => {
            change(arg);
            [arg1, arg2, arg3].into_iter().flatten().for_each(change);
        }
        Expression::CooperativeLoad { data, .. } => each(&mut [&mut data.pointer, &mut data.stride]),
        Expression::CooperativeMultiplyAdd { a, b, c } => each(&mut [a, b, c]),
    }
}

/// Gives each expression that the statements of a block name to `change`, and each range of them to `emit`. Blocks nest
/// as deep as the text was allowed to.
pub(crate) fn of_block(
    block: &mut Block,
    change: &mut impl FnMut(&mut Named),
    emit: &mut impl FnMut(&mut Range<Expression>),
) {
    for (statement, _) in block.span_iter_mut() {
        let mut each = |some: &mut [&mut Named]| some.iter_mut().for_each(|one| change(one));
        match statement {
            Statement::Emit(range) => emit(range),
            Statement::Block(inner) => of_block(inner, change, emit),
            Statement::If { condition, accept, reject } => {
                change(condition);
                of_block(accept, change, emit);
                of_block(reject, change, emit);
            }
            Statement::Switch { selector, cases } => {
                change(selector);
                cases.iter_mut().for_each(|case| of_block(&mut case.body, change, emit));
            }
            Statement::Loop { body, continuing, break_if } => {
                of_block(body, change, emit);
                of_block(continuing, change, emit);
                break_if.iter_mut().for_each(&mut *change);
            }
            Statement::Break
            | Statement::Continue
            | Statement::Kill
            | Statement::ControlBarrier(_)
            | Statement::MemoryBarrier(_) => {}
            Statement::Return { value } => value.iter_mut().for_each(&mut *change),
            Statement::Store { pointer, value } => each(&mut [pointer, value]),
            Statement::ImageStore { image, coordinate, array_index, value } => {
                each(&mut [image, coordinate, value]);
                array_index.iter_mut().for_each(&mut *change);
            }
            Statement::Atomic { pointer, fun, value, result } => {
                each(&mut [pointer, value]);
                result.iter_mut().for_each(&mut *change);
                of_atomic(fun, change);
            }
            Statement::ImageAtomic { image, coordinate, array_index, fun, value } => {
                each(&mut [image, coordinate, value]);
                array_index.iter_mut().for_each(&mut *change);
                of_atomic(fun, change);
            }
            Statement::WorkGroupUniformLoad { pointer, result } => each(&mut [pointer, result]),
            Statement::Call { arguments, result, .. } => arguments.iter_mut().chain(result).for_each(&mut *change),
            Statement::RayQuery { query, fun } => {
                change(query);
                match fun {
                    RayQueryFunction::Initialize { acceleration_structure, descriptor } => {
                        [acceleration_structure, descriptor].into_iter().for_each(&mut *change);
                    }
                    RayQueryFunction::Proceed { result: one }
                    | RayQueryFunction::GenerateIntersection { hit_t: one } => change(one),
                    RayQueryFunction::ConfirmIntersection | RayQueryFunction::Terminate => {}
                }
            }
            Statement::RayPipelineFunction(RayPipelineFunction::TraceRay {
                acceleration_structure,
                descriptor,
                payload,
            }) => each(&mut [acceleration_structure, descriptor, payload]),
            Statement::SubgroupBallot { result, predicate } => {
                change(result);
                predicate.iter_mut().for_each(&mut *change);
            }
            Statement::SubgroupGather { mode, argument, result } => {
                each(&mut [argument, result]);
                match mode {
                    GatherMode::BroadcastFirst | GatherMode::QuadSwap(_) => {}
                    GatherMode::Broadcast(one)
                    | GatherMode::Shuffle(one)
                    | GatherMode::ShuffleDown(one)
                    | GatherMode::ShuffleUp(one)
                    | GatherMode::ShuffleXor(one)
                    | GatherMode::QuadBroadcast(one) => change(one),
                }
            }
            Statement::SubgroupCollectiveOperation { argument, result, .. } => each(&mut [argument, result]),
            Statement::CooperativeStore { target, data } => {
                each(&mut [target, &mut data.pointer, &mut data.stride]);
            }
        }
    }
}

fn of_atomic(fun: &mut AtomicFunction, change: &mut impl FnMut(&mut Named)) {
    if let AtomicFunction::Exchange { compare: Some(compare) } = fun {
        change(compare);
    }
}
