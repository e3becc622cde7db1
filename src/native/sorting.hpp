// Sorting with several threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "parallel.hpp"
#include "unfilled.hpp"

namespace panmatch {

// Writes the numbers [from, to) of what merging two sorted stretches gives, `a` coming first where
// they are equal.
template <typename T>
void merge_piece(const T* a, int64_t na, const T* b, int64_t nb, int64_t from, int64_t to, T* out) {
    // How many of the first `count` numbers come from a.
    auto taken = [&](int64_t count) {
        int64_t low = std::max<int64_t>(0, count - nb), high = std::min(count, na);
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (a[middle] <= b[count - middle - 1]) low = middle + 1;
            else high = middle;
        }
        return low;
    };
    int64_t first = taken(from), last = taken(to);
    std::merge(a + first, a + last, b + from - first, b + to - last, out + from);
}

// Each thread sorts a part. Parts are then merged two by two, every pair by as many threads as there are
// for it.
template <typename T>
void sort_shared(UnfilledVector<T>& values, int threads) {
    constexpr int64_t kFew = 1 << 15;  // numbers that are not worth a thread
    int64_t n = static_cast<int64_t>(values.size()), parts = 1;
    while (2 * parts <= threads && n / (2 * parts) >= kFew) parts *= 2;
    auto nothing = [] { return 0; };
    share_out(parts, threads, nothing, [&](int, int64_t part) {
        std::sort(values.begin() + n * part / parts, values.begin() + n * (part + 1) / parts);
    });
    UnfilledVector<T> merged(parts > 1 ? n : 0);
    for (; parts > 1; parts /= 2) {
        int64_t pairs = parts / 2, pieces = std::max<int64_t>(1, threads / pairs);
        share_out(pairs * pieces, threads, nothing, [&](int, int64_t i) {
            int64_t pair = i / pieces, piece = i % pieces;
            int64_t begin = n * (2 * pair) / parts, middle = n * (2 * pair + 1) / parts;
            int64_t end = n * (2 * pair + 2) / parts, length = end - begin;
            merge_piece(&values[begin], middle - begin, values.data() + middle, end - middle,
                        length * piece / pieces, length * (piece + 1) / pieces, &merged[begin]);
        });
        values.swap(merged);
    }
}

}  // namespace panmatch
