// Walking over the lines of an array along any axis, a few neighbouring ones at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lanes.hpp"
#include "parallel.hpp"
#include "portability.hpp"

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

constexpr int64_t kColumnsAtOnce = 64;  // whole cache lines, so that threads do not share any

// Neighbouring columns along one axis of an array in C order.
struct ColumnBlock {
    int64_t start;         // position of the first voxel of the first column
    int64_t step;          // from one voxel of a column to the next
    int64_t length, count;  // voxels per column, columns
    int64_t slab, line, at;  // position along the axes before, the axes after, and the last axis

    // Calls visit(place in the columns, position in C order, first column, number of columns) for
    // the voxels that groups of columns have at each place.
    template <typename Visit>
    void each_group(Visit&& visit) const {
        for (int64_t x = 0; x < length; ++x)
            for (int64_t c = 0; c < count; c += kLanes)
                visit(x, start + x * step + c, c, std::min(kLanes, count - c));
    }
};

// How many groups a block has at most.
inline size_t groups_across(const Grid& grid) {
    return static_cast<size_t>((std::min(kColumnsAtOnce, grid.shape.back()) + kLanes - 1) / kLanes);
}

// Asks for the voxels that are read some steps later: the processor does not foresee such strides.
template <typename T>
void prefetch_lanes(const T* at, const ColumnBlock& block, int64_t x) {
    constexpr int64_t kAhead = 8;
    if (x + kAhead < block.length) prefetch(reinterpret_cast<const char*>(at + kAhead * block.step));
}

// All columns along an axis (not the last one), in blocks. A slab is what the axes before cut out.
class ColumnBlocks {
public:
    ColumnBlocks(const Grid& grid, size_t axis) : length_(grid.shape[axis]), width_(grid.shape.back()) {
        for (size_t a = axis + 1; a < grid.shape.size(); ++a) inner_ *= grid.shape[a];
        across_ = (width_ + kColumnsAtOnce - 1) / kColumnsAtOnce;
        per_slab = inner_ / width_ * across_;
        slabs = grid.size() / (length_ * inner_);
    }

    ColumnBlock at(int64_t number) const {
        int64_t at = number % across_ * kColumnsAtOnce, line = number % per_slab / across_;
        int64_t slab = number / per_slab;
        return {slab * length_ * inner_ + line * width_ + at, inner_, length_,
                std::min(kColumnsAtOnce, width_ - at), slab, line, at};
    }

    int64_t per_slab, slabs;

private:
    int64_t length_, width_, inner_ = 1, across_;
};

// Shares out all columns along `axis` (not the last one): body(state, block).
template <typename Make, typename Body>
void share_columns(const Grid& grid, size_t axis, int threads, Make&& make, Body&& body) {
    ColumnBlocks blocks(grid, axis);
    share_out(blocks.slabs * blocks.per_slab, threads, make,
              [&](auto& state, int64_t number) { body(state, blocks.at(number)); });
}

// Shares out all rows, that is, the lines along the last axis: body(row).
template <typename Body>
void share_rows(const Grid& grid, int threads, Body&& body) {
    constexpr int64_t kRows = 64;
    int64_t rows = grid.size() / grid.shape.back();
    share_apart((rows + kRows - 1) / kRows, threads, [] { return 0; }, [&](int, int64_t block) {
        for (int64_t row = block * kRows; row < std::min(rows, (block + 1) * kRows); ++row) body(row);
    });
}

// All rows, then all columns along the last axis but one. Where there are planes enough for all
// threads, one plane after the other, while it is in the cache.
template <typename Row, typename Make, typename Body>
void share_planes(const Grid& grid, int threads, Row&& row, Make&& make, Body&& body) {
    constexpr int64_t kPlanes = 4;  // per thread
    size_t axis = grid.shape.size() - 2;
    ColumnBlocks blocks(grid, axis);
    if (blocks.slabs < kPlanes * threads) {
        share_rows(grid, threads, row);
        share_columns(grid, axis, threads, make, body);
        return;
    }
    share_apart(blocks.slabs, threads, make, [&](auto& state, int64_t slab) {
        int64_t rows = grid.shape[axis];
        for (int64_t i = slab * rows; i < (slab + 1) * rows; ++i) row(i);
        for (int64_t i = 0; i < blocks.per_slab; ++i) body(state, blocks.at(slab * blocks.per_slab + i));
    });
}

// The largest squared distance within the grid, give or take a voxel on either side; infinity if
// some are not whole numbers.
inline double largest_square(const Grid& grid) {
    double sum = 0;
    for (size_t axis = 0; axis < grid.shape.size(); ++axis) {
        double n = static_cast<double>(grid.shape[axis] + 1);
        if (grid.weight[axis] != std::floor(grid.weight[axis])) return std::numeric_limits<double>::infinity();
        sum += grid.weight[axis] * n * n;
    }
    return sum;
}

// True if every squared distance within the grid is a whole number of at most 24 bits: float then
// computes what double would.
inline bool exact_in_float(const Grid& grid) { return largest_square(grid) < static_cast<double>(1 << 24); }

inline bool exact_in_double(const Grid& grid) {
    return largest_square(grid) <= static_cast<double>(int64_t{1} << 53);
}

}  // namespace panmatch
