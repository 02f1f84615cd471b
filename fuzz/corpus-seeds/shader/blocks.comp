#version 450
layout(local_size_x = 64) in;
struct Item { vec3 a; float b; mat3 m; };
layout(std140, set = 0, binding = 0) uniform Params { float k; float steps[3]; vec3 a; float b; mat3 turn; };
layout(std430, set = 0, binding = 1) buffer Data { float steps430[3]; Item item; float data[]; } buf;
layout(std430, set = 0, binding = 5) readonly buffer Input { vec4 values[]; } given;
layout(set = 0, binding = 2, rgba8) writeonly uniform image2D img;
layout(set = 0, binding = 3) uniform texture2D tex;
layout(set = 0, binding = 4) uniform sampler smp;
layout(push_constant) uniform Push { float s; vec2 t; } pc;
void main() {
    uint i = gl_GlobalInvocationID.x;
    buf.data[i] = k * steps[1] * pc.s + textureLod(sampler2D(tex, smp), pc.t, 0).x + given.values[i].x + turn[0].x;
    imageStore(img, ivec2(0), vec4(1));
}
