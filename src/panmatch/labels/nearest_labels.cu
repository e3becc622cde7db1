// The label of the nearest segment at every voxel, on a CUDA device (D8): one axis after the other,
// as in src/native/voronoi.hpp. Weights are whole numbers, so small that no sum of squares is ever
// rounded, and of two segments at the same distance the one with the smaller label wins.
//
// T: labels of the image. L: the same as unsigned numbers. D: squared distances.
#include "lines.cuh"

// Along the last axis, where a line is one piece of memory: first a thread per word, then per row, then
// per voxel.
template <class T>
__global__ void mark_sites(const T* labels, u64 rows, u32 length, u32* words) {
    const u64 at = thread_number(), count = words_of(length);
    if (at >= rows * count) return;
    const T* line = labels + at / count * length;
    words[at] = RowSites::word_of([&](u32 x) { return line[x] != 0; }, static_cast<u32>(at % count), length);
}

__global__ void look_beyond(u64 rows, u32 length, u32* words, u32* before, u32* after) {
    const u64 row = thread_number(), count = words_of(length), first = row * count;
    if (row >= rows) return;
    RowSites{words + first, before + first, after + first}.look_beyond(static_cast<u32>(count));
}

template <class T, class L, class D>
__global__ void settle_rows(const T* labels, u64 rows, u32 length, double weight, u32* words, u32* before,
                            u32* after, L* nearest, D* square) {
    const u64 at = thread_number();
    if (at >= rows * length) return;
    const u64 row = at / length, first = row * words_of(length);
    const T* line = labels + row * length;
    const u32 x = static_cast<u32>(at - row * length);
    const u32 site = nearest_in_row(RowSites{words + first, before + first, after + first}, x, [&](u32 left, u32 right) {
        return static_cast<L>(line[right]) < static_cast<L>(line[left]);
    });
    nearest[at] = site == NOWHERE ? L(0) : static_cast<L>(line[site]);
    square[at] = site == NOWHERE ? Stored<D>::nothing()
                                 : Stored<D>::square_of(site < x ? x - site : site - x, weight);
}

// Along any other axis. Lines begin side by side, `step` of them at a time.
template <class L, class D>
__global__ void find_sites(const L* label, const D* height, u64 lines, u32 length, u64 step, double weight,
                           u32 stride, D* nearest) {
    const u64 line = thread_number() % lines, x = Line<true, D, L>::point(thread_number() / lines, stride);
    if (x >= length) return;
    const u64 first = line / step * step * length + line % step;
    Line<true, D, L>{height + first, label + first, length, step, weight}.find(
        static_cast<u32>(x), stride, nearest + first);
}

// `square` holds the places of the nearest sites.
template <class L, class D>
__global__ void settle_lines(const L* label, const D* height, u64 voxels, u32 length, u64 step, double weight,
                             L* nearest, D* square) {
    const u64 at = thread_number();
    if (at >= voxels) return;
    const u32 x = static_cast<u32>(at / step % length), site = Stored<D>::place(square[at]);
    const u64 first = at - x * step;
    nearest[at] = site == NOWHERE ? L(0) : label[first + site * step];
    if (site == NOWHERE) return;
    square[at] = Line<true, D, L>{height + first, label + first, length, step, weight}.cost(x, site);
}
