#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer Count { uint n; int low; } count;
layout(set = 0, binding = 1) buffer Idle { uint n; } other;
void main() { atomicAdd(count.n, 1u); atomicMin(count.low, -1); uint before = atomicExchange(other.n, 3u); }
