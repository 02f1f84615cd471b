#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() { float whole; float rest = modf(uv.x, whole); int power; float part = frexp(uv.y, power); color = vec4(rest, whole, part, ldexp(1.0, power)); }
