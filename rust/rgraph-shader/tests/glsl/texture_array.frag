#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform texture2D pictures[4];
layout(set = 0, binding = 1) uniform sampler smooth_sampler;
void main() { color = texture(sampler2D(pictures[2], smooth_sampler), uv); }
