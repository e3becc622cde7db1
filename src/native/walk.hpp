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

// Walks over the first axes of a grid, `open` of them; `step` is how far apart neighbours lie.
class Walk {
public:
    Walk(const Grid& grid, const std::vector<int64_t>& step, size_t open)
        : grid_(grid), step_(step), open_(open), place_(open) {}

    // Visits voxels around `at`, whose index along the open axes is `place`, nearer ones first along
    // each axis, for as long as found.may_improve(cost), the cost being the squared distance so
    // far; calls found.see(voxel, cost) for each.
    template <typename Found>
    void outwards(const int64_t* place, int64_t at, Found& found) {
        std::copy(place, place + open_, place_.begin());
        along(0, at, 0, found);
    }

    // The same for a voxel of an array in C order.
    template <typename Found>
    void outwards(int64_t at, Found& found) {
        for (size_t axis = 0; axis < open_; ++axis) place_[axis] = at / step_[axis] % grid_.shape[axis];
        along(0, at, 0, found);
    }

private:
    const Grid& grid_;
    const std::vector<int64_t>& step_;
    size_t open_;
    std::vector<int64_t> place_;

    template <typename Found>
    void along(size_t axis, int64_t at, double base, Found& found) const {
        if (axis == open_) return found.see(at, base);
        int64_t before = place_[axis], after = grid_.shape[axis] - 1 - before, step = step_[axis];
        along(axis + 1, at, base, found);
        for (int64_t d = 1; d <= std::max(before, after); ++d) {
            double cost = base + grid_.weight[axis] * static_cast<double>(d * d);
            if (!found.may_improve(cost)) return;
            if (d <= before) along(axis + 1, at - d * step, cost, found);
            if (d <= after) along(axis + 1, at + d * step, cost, found);
        }
    }
};

}  // namespace panmatch
