#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, rgba8) uniform writeonly image2D target;
void put(writeonly image2D into, ivec2 at) { imageStore(into, at, vec4(0.5)); }
void main() { put(target, ivec2(gl_GlobalInvocationID.xy)); }
