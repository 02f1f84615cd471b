#version 450
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform Switch { bool on; float level; } state;
void main() { color = state.on ? vec4(state.level) : vec4(0.0); }
