#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer Small { uint8_t a; int8_t b; uint16_t c; int16_t d; f16vec2 e; u8vec4 f; } small;
layout(set = 0, binding = 1, std430) readonly buffer Bytes { uint8_t all[]; } bytes;
void main() { small.a = bytes.all[1]; small.b = int8_t(2); small.c += uint16_t(1); small.d = -small.d; small.e *= small.e; }
