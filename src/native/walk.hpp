// Walking outwards from a voxel, over the axes along which nothing is known yet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lines.hpp"

namespace panmatch {

// Steps in memory along every axis of an array in C order.
inline std::vector<int64_t> steps_of(const std::vector<int64_t>& shape) {
    std::vector<int64_t> step(shape.size(), 1);
    for (size_t axis = shape.size() - 1; axis-- > 0;) step[axis] = step[axis + 1] * shape[axis + 1];
    return step;
}

// Visits voxels around `at` along the axes in [axis, open), nearer ones first along each, for as
// long as found.may_improve(cost), the cost being the squared distance so far; calls
// found.see(voxel, cost) for each.
template <typename Found>
void walk_outwards(const Grid& grid, const std::vector<int64_t>& step, size_t axis, size_t open,
                   int64_t at, double base, Found& found) {
    if (axis == open) return found.see(at, base);
    int64_t before = at / step[axis] % grid.shape[axis], after = grid.shape[axis] - 1 - before;
    walk_outwards(grid, step, axis + 1, open, at, base, found);
    for (int64_t d = 1; d <= std::max(before, after); ++d) {
        double cost = base + grid.weight[axis] * static_cast<double>(d * d);
        if (!found.may_improve(cost)) return;
        if (d <= before) walk_outwards(grid, step, axis + 1, open, at - d * step[axis], cost, found);
        if (d <= after) walk_outwards(grid, step, axis + 1, open, at + d * step[axis], cost, found);
    }
}

}  // namespace panmatch
