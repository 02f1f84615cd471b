#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2DShadow shadow;
layout(set = 0, binding = 1) uniform texture2D depth;
layout(set = 0, binding = 2) uniform samplerShadow compares;
void main() { vec3 at = vec3(uv, 0.5); color = vec4(texture(shadow, at), texture(sampler2DShadow(depth, compares), at), 0.0, 1.0); }
