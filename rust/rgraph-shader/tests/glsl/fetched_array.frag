#version 450
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform texture2DArray layers;
void main() { color = texelFetch(layers, ivec3(0, 0, 1), 0) + vec4(textureSize(layers, 0), 0.0); }
