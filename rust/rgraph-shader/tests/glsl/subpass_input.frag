#version 450
layout(location = 0) out vec4 color;
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput before;
void main() { color = subpassLoad(before).bgra; }
