// Exact Euclidean distance of every voxel to the nearest voxel with another label.
//
// All objects of a label image at once: along each axis a line is cut into runs of equal label,
// and within a run only the run itself and the voxels at its two ends matter. Background (0) is at
// distance 0, so for a mask this is the usual distance transform.
#pragma once

#include <cstdint>
#include <vector>

#include "envelope.hpp"
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
        size_t axes = grid_.shape.size();
        along_rows(out, threads, axes == 1);
        for (size_t axis = axes - 1; axis-- > 0;) along_columns(axis, out, threads, axis == 0);
    }

    // The steps of `fill`: squared distances within rows, then within planes, and so on, from the
    // last axis to the first; with `root` distances instead of their squares.
    void along_rows(D* out, int threads, bool root = false) const {
        int64_t n = grid_.shape.back();
        share_rows(grid_, threads, [&](int64_t row) {
            const T* labels = labels_ + offset_of(row, 0, grid_.shape.size() - 1);
            each_run(labels, n, [&](int64_t from, int64_t to) {
                fill_run(labels[from] != 0, from, to, root, out + row * n);
            });
        });
    }

    void along_columns(size_t axis, D* out, int threads, bool root = false) const {
        int64_t n = grid_.shape[axis];
        auto make = [&] {
            return Columns{Envelope<false>(grid_.weight[axis], n),
                           std::vector<double>(n * kColumnsAtOnce), std::vector<T>(n * kColumnsAtOnce)};
        };
        share_columns(grid_, axis, threads, make, [&](Columns& columns, const ColumnBlock& block) {
            const T* labels = labels_ + offset_of(block.slab, 0, axis) +
                              offset_of(block.line, axis + 1, grid_.shape.size() - 1) + block.at;
            for (int64_t x = 0; x < n; ++x)
                for (int64_t c = 0; c < block.count; ++c)
                    columns.label[c * n + x] = labels[x * stride_[axis] + c];
            block.each([&](int64_t at, int64_t place) { columns.height[place] = out[at]; });
            for (int64_t c = 0; c < block.count; ++c)
                column(columns.envelope, &columns.label[c * n], &columns.height[c * n], n);
            block.each([&](int64_t at, int64_t place) {
                double square = columns.height[place];
                out[at] = static_cast<D>(root ? grid_.unit.length(square) : square);
            });
        });
    }

private:
    const Grid& grid_;
    const T* labels_;
    const std::vector<int64_t>& stride_;
    bool border_;

    struct Columns {
        Envelope<false> envelope;
        std::vector<double> height;
        std::vector<T> label;
    };

    // Offset of the labels at a position counted in C order over the axes in [first, last).
    int64_t offset_of(int64_t index, size_t first, size_t last) const {
        int64_t offset = 0;
        for (size_t axis = last; axis-- > first;) {
            offset += index % grid_.shape[axis] * stride_[axis];
            index /= grid_.shape[axis];
        }
        return offset;
    }

    template <typename Visit>
    static void each_run(const T* labels, int64_t n, Visit&& visit) {
        for (int64_t from = 0, to; from < n; from = to) {
            to = from + 1;
            while (to < n && labels[to] == labels[from]) ++to;
            visit(from, to);
        }
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

    void column(Envelope<false>& envelope, const T* label, double* height, int64_t n) const {
        each_run(label, n, [&](int64_t from, int64_t to) {
            if (label[from] == 0) return;
            envelope.begin(from, to - 1);
            if (border_ || from > 0) envelope.add(from - 1, 0);
            for (int64_t x = from; x < to; ++x)
                if (height[x] < kInfinity) envelope.add(x, height[x]);
            if (border_ || to < n) envelope.add(to, 0);
            envelope.read([&](int64_t x, double cost, int64_t) { height[x] = cost; });
        });
    }
};

}  // namespace panmatch
