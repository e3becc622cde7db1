// Exact Euclidean distance of every voxel to the nearest voxel with another label.
//
// All objects of a label image at once: along each axis a line is cut into runs of equal label,
// and within a run only the run itself and the voxels at its two ends matter. Background (0) is at
// distance 0, so for a mask this is the usual distance transform.
#pragma once

#include <cstdint>
#include <vector>

#include "edge_columns.hpp"
#include "lines.hpp"

namespace panmatch {

// T: unsigned labels. D: how squared distances are kept between axes; float only if it holds all
// of them exactly.
template <typename T, typename D>
class EdgeDistance {
public:
    // Labels are read at labels[Σ index · stride], the last axis being contiguous. With `border`
    // everything beyond the image counts as another label.
    EdgeDistance(const Grid& grid, const T* labels, const std::vector<int64_t>& stride, bool border)
        : grid_(grid), labels_(labels), stride_(stride), border_(border) {}

    // Fills `out`, in C order, with distances.
    void fill(D* out, int threads) const {
        if (grid_.size() == 0) return;
        size_t axes = grid_.shape.size(), axis = axes - 2;
        if (axes == 1) return share_rows(grid_, threads, [&](int64_t row) { fill_row(row, out, true); });
        with_keys(largest_square(grid_), grid_.shape[axis], [&](auto key) {
            share_planes(grid_, threads, [&](int64_t row) { fill_row(row, out, false); }, maker(key, axis),
                         [&](auto& groups, const ColumnBlock& block) { settle(axis, groups, block, out, axis == 0); });
        });
        while (axis-- > 0) settle_columns(axis, out, threads, axis == 0);
    }

    // The steps of `fill`: squared distances within rows, then within planes, and so on, from the
    // last axis to the first.
    void along_rows(D* out, int threads) const {
        share_rows(grid_, threads, [&](int64_t row) { fill_row(row, out, false); });
    }

    void along_columns(size_t axis, D* out, int threads) const {
        settle_columns(axis, out, threads, false);
    }

private:
    const Grid& grid_;
    const T* labels_;
    const std::vector<int64_t>& stride_;
    bool border_;

    // Offset of the labels at a position counted in C order over the axes in [first, last).
    int64_t offset_of(int64_t index, size_t first, size_t last) const {
        int64_t offset = 0;
        for (size_t axis = last; axis-- > first;) {
            offset += index % grid_.shape[axis] * stride_[axis];
            index /= grid_.shape[axis];
        }
        return offset;
    }

    void fill_run(bool object, int64_t from, int64_t to, bool root, D* out) const {
        if (!object) {
            std::fill(out + from, out + to, D(0));
            return;
        }
        bool left = border_ || from > 0, right = border_ || to < grid_.shape.back();
        if (!left && !right) {
            std::fill(out + from, out + to, static_cast<D>(kInfinity));
            return;
        }
        for (int64_t x = from; x < to; ++x) {
            int64_t steps = left ? x - from + 1 : to - x;
            if (right) steps = std::min(steps, to - x);
            double square = grid_.weight.back() * static_cast<double>(steps * steps);
            out[x] = static_cast<D>(root ? grid_.unit.length(square) : square);
        }
    }

    void fill_row(int64_t row, D* out, bool root) const {
        const T* labels = labels_ + offset_of(row, 0, grid_.shape.size() - 1);
        int64_t n = grid_.shape.back();
        each_run(n, [&](int64_t x) { return labels[x]; }, [&](int64_t from, int64_t to) {
            fill_run(labels[from] != 0, from, to, root, out + row * n);
        });
    }

    // The last axis to be settled takes roots.
    void settle_columns(size_t axis, D* out, int threads, bool root) const {
        int64_t n = grid_.shape.back();
        if (grid_.shape[axis] == 1 && !border_) {
            if (root) share_rows(grid_, threads, [&](int64_t row) { take_roots(out + row * n, n); });
            return;
        }
        with_keys(largest_square(grid_), grid_.shape[axis], [&](auto key) {
            share_columns(grid_, axis, threads, maker(key, axis), [&](auto& groups, const ColumnBlock& block) {
                settle(axis, groups, block, out, root);
            });
        });
    }

    template <typename K>
    auto maker(K, size_t axis) const {
        double most = exact_in_double(grid_) ? largest_square(grid_) : kInfinity;
        EdgeColumns<T, K> group(grid_.weight[axis], grid_.shape[axis], border_, most);
        size_t count = groups_across(grid_);
        return [group, count] { return std::vector<EdgeColumns<T, K>>(count, group); };
    }

    template <typename Groups>
    void settle(size_t axis, Groups& groups, const ColumnBlock& block, D* out, bool root) const {
        const T* labels = labels_ + offset_of(block.slab, 0, axis) +
                          offset_of(block.line, axis + 1, grid_.shape.size() - 1) + block.at;
        block.each_group([&](int64_t x, int64_t at, int64_t c, int64_t count) {
            prefetch_lanes(out + at, block, x);
            groups[c / kLanes].read(x, out + at, labels + x * stride_[axis] + c, count);
        });
        for (int64_t c = 0; c < block.count; c += kLanes)
            groups[c / kLanes].settle(std::min(kLanes, block.count - c));
        block.each_group([&](int64_t x, int64_t at, int64_t c, int64_t count) {
            bool changed = groups[c / kLanes].write(x, out + at, count);
            if (root && changed) take_roots(out + at, count);
        });
    }

    void take_roots(D* values, int64_t count) const {
        for (int64_t i = 0; i < count; ++i)
            values[i] = static_cast<D>(grid_.unit.length(static_cast<double>(values[i])));
    }
};

}  // namespace panmatch
