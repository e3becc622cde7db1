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
    labels += row * length;
    nearest += row * length;
    square += row * length;
    L label = 0;
    u32 left = 0;
    for (u32 x = 0; x < length; ++x) {
        if (labels[x] != T(0)) {
            label = static_cast<L>(labels[x]);
            left = x;
        }
        nearest[x] = label;
        square[x] = label != 0 ? static_cast<D>(x - left) : Stored<D>::nothing();
    }
    label = 0;
    u32 right = 0;
    for (u32 x = length; x-- > 0;) {
        if (labels[x] != T(0)) {
            label = static_cast<L>(labels[x]);
            right = x;
        }
        const D before = square[x];
        const bool none_before = Stored<D>::is_nothing(before);
        u32 steps = none_before ? 0 : static_cast<u32>(before);
        if (label != 0) {
            const u32 after = right - x;
            if (none_before || after < steps || (after == steps && label < nearest[x])) {
                steps = after;
                nearest[x] = label;
            }
        } else if (none_before) {
            continue;
        }
        square[x] = static_cast<D>(weight * (static_cast<double>(steps) * steps));
    }
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
