"""Built-in functions of WGSL in constant expressions: those that are not evaluated say what to write instead."""

import pytest

import rgraph as rg

HEAD = "@group(0) @binding(0) var<storage, read_write> d: array<f32>;\n"
MAIN = "@compute @workgroup_size(1) fn main() {{ {} d[0] = f32(a); }}"

# A call with numbers, and the expression that the error gives in its place, with the same numbers; empty: none.
CALLS = {
    "mix(1.0, 3.0, 0.25)": "1.0 * (1.0 - 0.25) + 3.0 * 0.25",
    "smoothstep(0.0, 4.0, 1.0)": (
        "clamp((1.0 - 0.0) / (4.0 - 0.0), 0.0, 1.0) * clamp((1.0 - 0.0) / (4.0 - 0.0), 0.0, 1.0)"
        " * (3.0 - 2.0 * clamp((1.0 - 0.0) / (4.0 - 0.0), 0.0, 1.0))"
    ),
    "ldexp(1.5, 2)": "1.5 * exp2(f32(2))",
    "frexp(1.5).fract": "",
    "modf(1.5).fract": "1.5 - trunc(1.5)",
    "reflect(vec2(1.0, -1.0), vec2(0.0, 1.0)).y": (
        "(vec2(1.0, -1.0) - 2.0 * dot(vec2(0.0, 1.0), vec2(1.0, -1.0)) * vec2(0.0, 1.0)).y"
    ),
    "refract(vec2(1.0), vec2(0.0, 1.0), 0.5).x": "",
    "faceForward(vec2(1.0), vec2(0.0, 1.0), vec2(1.0)).x": (
        "select(vec2(1.0), -vec2(1.0), dot(vec2(1.0), vec2(0.0, 1.0)) >= 0.0).x"
    ),
    "transpose(mat2x2(1.0, 2.0, 3.0, 4.0))[0].x": "",
    "determinant(mat2x2(1.0, 2.0, 3.0, 4.0))": "1.0 * 4.0 - 2.0 * 3.0",
    "quantizeToF16(1.5)": "",
    "f32(extractBits(13u, 2u, 2u))": "f32((13u >> 2u) & ((1u << 2u) - 1u))",
    "f32(insertBits(13u, 1u, 2u, 2u))": (
        "f32((13u & ~(((1u << 2u) - 1u) << 2u)) | ((1u << 2u) & (((1u << 2u) - 1u) << 2u)))"
    ),
    "bitcast<f32>(0x3f800000u)": "",
    "f32(pack4x8unorm(vec4(1.0)))": "",
    "unpack2x16float(0x3c00u).x": "",
}
VALUES = {"mix": 1.5, "smoothstep": 0.15625, "ldexp": 6.0, "modf": 0.5, "reflect": 1.0, "faceForward": -1.0}
VALUES |= {"determinant": -2.0, "extractBits": 3.0, "insertBits": 5.0}
UNTYPED = {
    "mix": "mix(0.0f,",
    "smoothstep": "smoothstep(0.0f,",
    "transpose": "mat2x2<f32>",
    "determinant": "mat2x2<f32>",
}


def name(call: str) -> str:
    """The built-in function of a call."""
    return call.removeprefix("f32(").split("(")[0].split("<")[0]


@pytest.mark.parametrize("call", CALLS, ids=name)
def test_a_constant_that_is_not_evaluated_says_what_to_write(call: str) -> None:
    for text in (f"const a = {call};\n" + MAIN.format(""), MAIN.format(f"const a = {call};")):
        with pytest.raises(rg.ShaderError, match=f"'{name(call)}' is not evaluated in constant expressions") as caught:
            rg.reflect(HEAD + text)
        assert caught.value.line == 2
        assert "use `let` in a function" in caught.value.hint
        assert ("in a function, or write" in caught.value.hint) == bool(CALLS[call])


@pytest.mark.parametrize("call", CALLS, ids=name)
def test_the_same_call_works_at_run_time_once_its_numbers_have_a_type(call: str) -> None:
    untyped = UNTYPED.get(name(call))
    if untyped is not None:
        with pytest.raises(rg.ShaderError, match=f"'{name(call)}' of numbers without a type") as caught:
            rg.reflect(HEAD + MAIN.format(f"let a = {call};"))
        assert untyped in caught.value.hint
        call = call.replace("mat2x2", "mat2x2<f32>") if "mat2x2" in call else call.replace("0,", "0f,", 1)
    rg.reflect(HEAD + MAIN.format(f"let a = {call};"))


@pytest.mark.parametrize("call", [call for call, instead in CALLS.items() if instead], ids=name)
def test_the_expression_that_is_given_instead_is_evaluated_to_the_same(call: str) -> None:
    value = VALUES[name(call)]
    check = f"const_assert abs(({CALLS[call]}) - ({value})) < 0.0001;\n"
    rg.reflect(HEAD + check + MAIN.format(f"let a = {value};"))
    with pytest.raises(rg.ShaderError):
        rg.reflect(HEAD + check.replace(f"({value})", f"({value + 1})") + MAIN.format(f"let a = {value};"))
