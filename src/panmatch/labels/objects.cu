// Where every segment lies, and images painted from pairs of labels, on a CUDA device.
#include "lines.cuh"

// The place of a label among sorted ids that have it, or `count`.
__device__ __forceinline__ u32 place_of(i64 label, const i64* ids, u32 count) {
    u32 low = 0, high = count;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (ids[middle] < label) low = middle + 1;
        else high = middle;
    }
    return low < count && ids[low] == label ? low : count;
}

// What a line along the first axis adds to one segment, until it meets another: few additions for all,
// since thousands of lines may add to the same numbers.
template <int AXES>
struct Part {
    u64 place[AXES];  // of the line, along all axes but the first
    const i64* ids;
    u32 count;
    u64 *sums, *start, *stop;  // per segment and axis
    i64 label = 0;
    u64 number = 0, sum = 0, from = 0, to = 0;

    // A run of voxels.
    __device__ void add(i64 of, u64 begin, u64 end) {
        if (of == 0) return;
        if (of != label) {
            hand_over();
            label = of;
            number = sum = 0;
            from = begin;
        }
        number += end - begin;
        sum += (begin + end - 1) * (end - begin) / 2;
        to = end;
    }

    __device__ void hand_over() const {
        const u32 segment = label == 0 ? count : place_of(label, ids, count);
        if (segment == count) return;
        const u64 at = static_cast<u64>(segment) * AXES;
        atomicAdd(sums + at, sum);
        atomicMin(start + at, from);
        atomicMax(stop + at, to);
        for (int axis = 1; axis < AXES; ++axis) {
            atomicAdd(sums + at + axis, place[axis] * number);
            atomicMin(start + at + axis, place[axis]);
            atomicMax(stop + at + axis, place[axis] + 1);
        }
    }
};

// One thread per line along the first axis, of the image in C order.
template <class T, int AXES>
__global__ void find_boxes(const T* labels, const u64* shape, const i64* ids, u32 count, u64* sums,
                           u64* start, u64* stop) {
    const u64 line = thread_number();
    u64 lines = 1, rest = line;
    for (int axis = 1; axis < AXES; ++axis) lines *= shape[axis];
    if (line >= lines) return;
    Part<AXES> part{{}, ids, count, sums, start, stop};
    for (int axis = AXES - 1; axis > 0; --axis) {
        part.place[axis] = rest % shape[axis];
        rest /= shape[axis];
    }
    T current = 0;
    u64 from = 0;
    for (u64 x = 0; x < shape[0]; ++x) {
        const T label = labels[x * lines + line];
        if (label == current) continue;
        part.add(static_cast<i64>(current), from, x);
        current = label;
        from = x;
    }
    part.add(static_cast<i64>(current), from, shape[0]);
    part.hand_over();
}

// The number of every voxel's pair of labels; 0 if it is not listed. Pairs are sorted.
template <class A, class B>
__global__ void paint_pairs(const A* first, const B* second, u64 voxels, const i64* firsts,
                            const i64* seconds, const int* numbers, u32 count, int* painted) {
    const u64 at = thread_number();
    if (at >= voxels) return;
    const i64 a = static_cast<i64>(first[at]), b = static_cast<i64>(second[at]);
    u32 low = 0, high = count;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (firsts[middle] < a || (firsts[middle] == a && seconds[middle] < b)) low = middle + 1;
        else high = middle;
    }
    const bool listed = low < count && firsts[low] == a && seconds[low] == b;
    painted[at] = listed ? numbers[low] : 0;
}
