#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) uniform writeonly image2D target;
void main() { imageStore(target, ivec2(gl_GlobalInvocationID.xy), vec4(1.0)); }
