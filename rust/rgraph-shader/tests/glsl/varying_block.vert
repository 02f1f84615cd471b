#version 450
layout(location = 0) out Between { vec2 uv; flat uint id; } to;
void main() { gl_Position = vec4(0.0); to.uv = vec2(1.0); to.id = 1u; }
