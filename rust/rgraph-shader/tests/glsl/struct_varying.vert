#version 450
struct Surface { vec3 normal; vec2 uv[2]; };
layout(location = 2) out Surface surface;
void main() { gl_Position = vec4(0.0); surface.normal = vec3(1.0); surface.uv[0] = surface.uv[1] = vec2(0.0); }
