// Distances between the boundaries of pairs of objects, on a CUDA device.
//
// Every pair has a crop around both objects. Crops lie one after the other in one stretch of memory,
// each in C order: voxel `first[row]` is the first of a row's crop. Squared distances to a boundary
// are settled along all axes but the first, and from each voxel of the other boundary a walk along
// the first axis finds the nearest, as in src/native/nearest_bit.hpp.
//
// R, P: labels of the reference and the prediction. D: squared distances.
#include "lines.cuh"

typedef unsigned char u8;

// Whether a voxel of the image has a face neighbour that does not belong to an object.
template <int AXES, class Inside>
__device__ bool is_boundary(const Inside& inside, u64 at, const u64* place, const u64* shape) {
    if (!inside(at)) return false;
    u64 step = 1;
    for (int axis = AXES - 1; axis >= 0; --axis) {
        if (place[axis] == 0 || !inside(at - step)) return true;
        if (place[axis] + 1 == shape[axis] || !inside(at + step)) return true;
        step *= shape[axis];
    }
    return false;
}

// Bit 0: boundary of the reference; bit 1: of the union of its predictions, whose labels are sorted.
template <class R, class P, int AXES>
__global__ void mark_boundaries(const R* ref, const P* pred, const u64* shape, const u64* first,
                                const u64* start, const u64* length, u32 count, const i64* ref_ids,
                                const u64* pred_first, const i64* pred_ids, u8* marks) {
    const u64 at = thread_number();
    if (at >= first[count]) return;
    const u32 row = stretch_of(first, count, at);
    u64 rest = at - first[row], voxel = 0, step = 1, place[AXES];
    for (int axis = AXES - 1; axis >= 0; --axis) {
        const u64 n = length[row * AXES + axis];
        place[axis] = start[row * AXES + axis] + rest % n;
        rest /= n;
        voxel += place[axis] * step;
        step *= shape[axis];
    }
    const auto in_reference = [&](u64 other) { return static_cast<i64>(ref[other]) == ref_ids[row]; };
    const auto in_prediction = [&](u64 other) {
        const i64 label = static_cast<i64>(pred[other]);
        u64 low = pred_first[row], high = pred_first[row + 1];
        while (high - low > 1) {
            const u64 middle = low + (high - low) / 2;
            if (pred_ids[middle] <= label) low = middle;
            else high = middle;
        }
        return pred_ids[low] == label;
    };
    marks[at] = static_cast<u8>((is_boundary<AXES>(in_reference, voxel, place, shape) ? 1 : 0) |
                                (is_boundary<AXES>(in_prediction, voxel, place, shape) ? 2 : 0));
}

// Along the last axis, where rows are one piece of memory: first a thread per word, then per row, then
// per voxel. Crops have `first_word[count]` words and `first_line[count]` rows.
template <int AXES>
__global__ void mark_crop_sites(const u8* marks, u8 mark, const u64* first, const u64* first_word,
                                const u64* length, u32 count, u32* words) {
    const u64 at = thread_number();
    if (at >= first_word[count]) return;
    const u32 crop = stretch_of(first_word, count, at);
    const u64 n = length[crop * AXES + AXES - 1], local = at - first_word[crop], across = words_of(n);
    const u8* line = marks + first[crop] + local / across * n;
    words[at] = RowSites::word_of([&](u32 x) { return (line[x] & mark) != 0; },
                                  static_cast<u32>(local % across), static_cast<u32>(n));
}

template <int AXES>
__global__ void look_beyond_crops(const u64* first_line, const u64* first_word, const u64* length, u32 count,
                                  u32* words, u32* before, u32* after) {
    const u64 line = thread_number();
    if (line >= first_line[count]) return;
    const u32 crop = stretch_of(first_line, count, line), across = words_of(length[crop * AXES + AXES - 1]);
    const u64 at = first_word[crop] + (line - first_line[crop]) * across;
    RowSites{words + at, before + at, after + at}.look_beyond(across);
}

template <class D, int AXES>
__global__ void settle_crop_rows(const u64* first, const u64* first_word, const u64* length, u32 count,
                                 double weight, u32* words, u32* before, u32* after, D* square) {
    const u64 at = thread_number();
    if (at >= first[count]) return;
    const u32 crop = stretch_of(first, count, at);
    const u64 n = length[crop * AXES + AXES - 1], local = at - first[crop], row = local / n;
    const u32 x = static_cast<u32>(local - row * n);
    const u64 word = first_word[crop] + row * words_of(n);
    const u32 site = nearest_in_row(RowSites{words + word, before + word, after + word}, x,
                                    [](u32, u32) { return false; });
    square[at] = site == NOWHERE ? Stored<D>::nothing()
                                 : Stored<D>::square_of(site < x ? x - site : site - x, weight);
}

// From one point to the next along an axis of a crop.
template <int AXES>
__device__ u64 step_along(u32 axis, const u64* length, u32 crop) {
    u64 step = 1;
    for (u32 later = axis + 1; later < AXES; ++later) step *= length[crop * AXES + later];
    return step;
}

// Along another axis, after all later ones.
template <class D, int AXES>
__global__ void find_crop_sites(const D* height, const u64* first, const u64* first_line, const u64* length,
                                u32 count, u32 axis, double weight, u32 stride, D* nearest) {
    const u64 lines = first_line[count], line = thread_number() % lines;
    const u64 x = Line<false, D, u8>::point(thread_number() / lines, stride);
    const u32 crop = stretch_of(first_line, count, line);
    const u64 n = length[crop * AXES + axis], local = line - first_line[crop];
    if (x >= n) return;
    const u64 step = step_along<AXES>(axis, length, crop);
    const u64 at = first[crop] + local / step * step * n + local % step;
    Line<false, D, u8>{height + at, nullptr, static_cast<u32>(n), step, weight}.find(
        static_cast<u32>(x), stride, nearest + at);
}

// `square` holds the places of the nearest sites.
template <class D, int AXES>
__global__ void settle_crop_lines(const D* height, const u64* first, const u64* length, u32 count, u32 axis,
                                  double weight, D* square) {
    const u64 at = thread_number();
    if (at >= first[count]) return;
    const u32 crop = stretch_of(first, count, at), site = Stored<D>::place(square[at]);
    if (site == NOWHERE) return;
    const u64 n = length[crop * AXES + axis], step = step_along<AXES>(axis, length, crop);
    const u32 x = static_cast<u32>((at - first[crop]) / step % n);
    square[at] = Line<false, D, u8>{height + at - x * step, nullptr, static_cast<u32>(n), step, weight}.cost(x, site);
}

// From every voxel of one boundary, the squared distance to the nearest of the other.
template <class D, int AXES>
__global__ void walk_first_axis(const D* square, const i64* voxels, u64 number, const u64* first,
                                const u64* length, u32 count, double weight, double* nearest, u32* rows) {
    const u64 i = thread_number();
    if (i >= number) return;
    const u64 at = static_cast<u64>(voxels[i]);
    const u32 row = stretch_of(first, count, at);
    double best = Stored<D>::is_nothing(square[at]) ? -1 : static_cast<double>(square[at]);
    if (AXES > 1) {
        u64 step = 1;
        for (int axis = 1; axis < AXES; ++axis) step *= length[row * AXES + axis];
        const u64 n = length[row * AXES], x = (at - first[row]) / step;
        for (u64 d = 1; d <= x || x + d < n; ++d) {
            const double cost = weight * (static_cast<double>(d) * static_cast<double>(d));
            if (best >= 0 && cost >= best) break;
            const auto see = [&](D other) {
                if (Stored<D>::is_nothing(other)) return;
                const double found = cost + static_cast<double>(other);
                if (best < 0 || found < best) best = found;
            };
            if (d <= x) see(square[at - d * step]);
            if (x + d < n) see(square[at + d * step]);
        }
    }
    nearest[i] = best;
    rows[i] = row;
}
