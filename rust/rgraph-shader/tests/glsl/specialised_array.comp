#version 450
layout(constant_id = 7) const int COUNT = 5;
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Words { uint all[]; } words;
void main() { uint own[COUNT + 1]; own[COUNT] = 2u; words.all[0] = own[COUNT] + uint(COUNT); }
