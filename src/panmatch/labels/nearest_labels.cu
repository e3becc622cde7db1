// The label of the nearest segment at every voxel, on a CUDA device (D8): one axis after the other,
// as in src/native/voronoi.hpp. Weights are whole numbers, so small that no sum of squares is ever
// rounded, and of two segments at the same distance the one with the smaller label wins.
//
// T: labels of the image. L: the same as unsigned numbers. D: squared distances.
#include "lines.cuh"

// Along the last axis, where a line is one piece of memory.
template <class T, class L, class D>
__global__ void settle_rows(const T* labels, u64 rows, u32 length, double weight, L* nearest, D* square) {
    const u64 row = thread_number();
    if (row >= rows) return;
    const T* line = labels + row * length;
    const auto label_at = [&](u32 x) { return static_cast<L>(line[x]); };
    settle_row<true>(label_at, length, weight, nearest + row * length, square + row * length);
}

// Along any other axis. Lines begin side by side, `step` of them at a time.
template <class L, class D>
__global__ void settle_columns(const L* label, const D* height, u64 lines, u32 length, u64 step,
                               double weight, L* nearest, D* square) {
    const u64 line = thread_number();
    if (line >= lines) return;
    const u64 first = line / step * step * length + line % step;
    const Envelope<true, D, L> envelope{
        height + first, label + first, square + first, nearest + first, length, step, weight};
    envelope.settle();
}
