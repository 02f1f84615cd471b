#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std140) uniform Turns { layout(row_major) mat3x4 rows; mat3x4 columns; } turns;
layout(set = 0, binding = 1) buffer Sum { float value; } sum;
void main() { sum.value = turns.rows[0][0] + turns.columns[1][2]; }
