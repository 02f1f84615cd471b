//! Built-in functions of WGSL that naga does not evaluate in constant expressions: messages with what to write instead.

/// Naga's name of a function, WGSL's, and an equal expression that is evaluated; empty: there is none.
const ABSENT: [(&str, &str, &str); 14] = [
    ("Mix", "mix(a, b, t)", "a * (1.0 - t) + b * t"),
    (
        "SmoothStep",
        "smoothstep(low, high, x)",
        "t * t * (3.0 - 2.0 * t) of t = clamp((x - low) / (high - low), 0.0, 1.0)",
    ),
    ("Ldexp", "ldexp(x, e)", "x * exp2(f32(e))"),
    ("Frexp", "frexp(x)", ""),
    ("Modf", "modf(x)", "x - trunc(x) for .fract, trunc(x) for .whole"),
    ("Reflect", "reflect(v, n)", "v - 2.0 * dot(n, v) * n"),
    ("Refract", "refract(v, n, r)", ""),
    ("FaceForward", "faceForward(n, i, g)", "select(n, -n, dot(g, i) >= 0.0)"),
    ("Transpose", "transpose(m)", ""),
    ("Determinant", "determinant(m)", "a * d - b * c of mat2x2(a, b, c, d)"),
    ("QuantizeToF16", "quantizeToF16(x)", ""),
    ("ExtractBits", "extractBits(x, offset, count)", "(x >> offset) & ((1u << count) - 1u) of unsigned x"),
    (
        "InsertBits",
        "insertBits(x, y, offset, count)",
        "(x & ~mask) | ((y << offset) & mask) of mask = ((1u << count) - 1u) << offset",
    ),
    ("bitcast", "bitcast<T>(x)", ""),
];

/// Message and help for a fault of constant evaluation; `None` for every other fault.
pub(crate) fn constant(message: &str) -> Option<(String, String)> {
    let name = message.strip_prefix("Not implemented as constant expression: ")?.strip_suffix(" built-in function")?;
    let row = ABSENT.iter().find(|(naga, ..)| *naga == name);
    let packing = name.starts_with("Pack") || name.starts_with("Unpack");
    let (call, instead) = match row {
        Some((_, call, instead)) => ((*call).to_owned(), *instead),
        // pack4x8unorm and its like.
        None if packing => (format!("{}{}(x)", name[..1].to_ascii_lowercase(), &name[1..]), ""),
        None => return None,
    };
    let called = call.split(['(', '<']).next().unwrap_or_default();
    let message = format!("'{called}' is not evaluated in constant expressions");
    let help = match instead {
        "" => format!("write the value of {call} as a number, or use `let` in a function"),
        instead => format!("use `let` in a function, or write {call} as {instead}"),
    };
    Some((message, help))
}

/// Help for a call whose arguments are all numbers without a type, of which naga finds no type for the result.
pub(crate) fn untyped(called: &str) -> Option<&'static str> {
    Some(match called {
        "mix" => "give an argument a type: mix(0.0f, 1.0, 0.5)",
        "smoothstep" => "give an argument a type: smoothstep(0.0f, 1.0, 0.5)",
        "transpose" => "give the matrix a type: transpose(mat2x2<f32>(…))",
        "determinant" => "give the matrix a type: determinant(mat2x2<f32>(…))",
        _ => return None,
    })
}
