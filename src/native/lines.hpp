// Walking over the lines of an array along any axis, a few neighbouring ones at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace panmatch {

// What a step of length 1 on a grid is, as a fraction: 3 steps of 1/10 are 3/10, and not three times
// a rounded tenth.
struct Unit {
    double numerator = 1, denominator = 1;

    double length(double square) const {
        double root = std::sqrt(square);
        return numerator == denominator ? root : root * numerator / denominator;
    }
};

struct Grid {
    std::vector<int64_t> shape;
    std::vector<double> weight;  // squared steps per axis
    Unit unit = {};

    int64_t size() const {
        int64_t n = 1;
        for (int64_t length : shape) n *= length;
        return n;
    }
};

// Neighbouring columns along one axis of an array in C order.
struct ColumnBlock {
    int64_t start;         // position of the first voxel of the first column
    int64_t step;          // from one voxel of a column to the next
    int64_t length, count;  // voxels per column, columns
    int64_t slab, line, at;  // position along the axes before, the axes after, and the last axis

    // Calls visit(position in C order, place in a buffer of whole columns) for every voxel, in an
    // order that is kind to both.
    template <typename Visit>
    void each(Visit&& visit) const {
        for (int64_t x = 0; x < length; ++x)
            for (int64_t c = 0; c < count; ++c) visit(start + x * step + c, c * length + x);
    }
};

constexpr int64_t kColumnsAtOnce = 16;

// Shares out all columns along `axis` (not the last one): body(state, block).
template <typename Make, typename Body>
void share_columns(const Grid& grid, size_t axis, int threads, Make&& make, Body&& body) {
    int64_t n = grid.shape[axis], inner = 1, width = grid.shape.back();
    for (size_t a = axis + 1; a < grid.shape.size(); ++a) inner *= grid.shape[a];
    int64_t lines = inner / width, blocks = (width + kColumnsAtOnce - 1) / kColumnsAtOnce;
    int64_t units = grid.size() / (n * width) * blocks;
    share_out(units, threads, make, [&](auto& state, int64_t unit) {
        int64_t at = unit % blocks * kColumnsAtOnce, line = unit / blocks % lines;
        int64_t slab = unit / blocks / lines;
        body(state, ColumnBlock{slab * n * inner + line * width + at, inner, n,
                                std::min(kColumnsAtOnce, width - at), slab, line, at});
    });
}

// Shares out all rows, that is, the lines along the last axis: body(row).
template <typename Body>
void share_rows(const Grid& grid, int threads, Body&& body) {
    constexpr int64_t kRows = 64;
    int64_t rows = grid.size() / grid.shape.back();
    share_out((rows + kRows - 1) / kRows, threads, [] { return 0; }, [&](int, int64_t block) {
        for (int64_t row = block * kRows; row < std::min(rows, (block + 1) * kRows); ++row) body(row);
    });
}

// True if every squared distance within the grid is a whole number of at most 24 bits: float then
// computes what double would.
inline bool exact_in_float(const Grid& grid) {
    double sum = 0;
    for (size_t axis = 0; axis < grid.shape.size(); ++axis) {
        double n = static_cast<double>(grid.shape[axis] + 1);
        if (grid.weight[axis] != std::floor(grid.weight[axis])) return false;
        sum += grid.weight[axis] * n * n;
    }
    return sum < static_cast<double>(1 << 24);
}

}  // namespace panmatch
