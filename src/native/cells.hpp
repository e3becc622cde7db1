// The label of the nearest segment at every voxel: Voronoi cells of a label image (D8).
//
// The lower envelope per axis, carrying labels along. Of two segments at the same distance the one
// with the smaller label wins, on every axis and therefore overall. For that, distances must be
// compared exactly: weights are rounded to a lattice on which no sum of squares is ever rounded.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "envelope.hpp"
#include "lines.hpp"

namespace panmatch {

// Returns the grid with weights relative to the smallest one: only ratios matter for who is nearest.
inline Grid relative(Grid grid) {
    double smallest = *std::min_element(grid.weight.begin(), grid.weight.end());
    for (double& weight : grid.weight) weight /= smallest;
    return grid;
}

// Returns the grid with weights rounded so that all squared distances are exact in double.
inline Grid on_lattice(Grid grid) {
    double sum = 0;
    for (size_t axis = 0; axis < grid.shape.size(); ++axis)
        sum += grid.weight[axis] * std::pow(static_cast<double>(grid.shape[axis] + 1), 2);
    double unit = std::ldexp(1.0, std::ilogb(sum) - 50);
    for (double& weight : grid.weight) weight = std::max(1.0, std::rint(weight / unit)) * unit;
    return grid;
}

template <typename T, typename D>
class NearestLabel {
public:
    // `cells` holds the labels, in C order, and receives the label of the nearest segment; 0
    // everywhere if there is none.
    NearestLabel(const Grid& grid, T* cells) : grid_(grid), cells_(cells), squares_(new D[grid.size()]) {}

    void fill(int threads) {
        if (grid_.size() == 0) return;
        int64_t n = grid_.shape.back();
        share_rows(grid_, threads, [&](int64_t row) { fill_row(cells_ + row * n, &squares_[row * n]); });
        for (size_t axis = grid_.shape.size() - 1; axis-- > 0;) along_columns(axis, threads);
    }

private:
    const Grid& grid_;
    T* cells_;
    std::unique_ptr<D[]> squares_;  // not set to 0 first: each thread touches its own part

    struct Columns {
        Envelope<true> envelope;
        std::vector<double> height;
        std::vector<T> label;
    };

    void fill_row(T* label, D* square) const {
        int64_t n = grid_.shape.back(), left = -1;
        for (int64_t right = 0; right <= n; ++right) {
            if (right < n && label[right] == 0) continue;
            if (right < n) square[right] = 0;
            fill_gap(label, square, left, right, n);
            left = right;
        }
    }

    // Between a segment at `left` and one at `right`; −1 and n stand for none.
    void fill_gap(T* label, D* square, int64_t left, int64_t right, int64_t n) const {
        for (int64_t x = left + 1; x < right; ++x) {
            int64_t to_left = left < 0 ? n : x - left, to_right = right == n ? n : right - x;
            int64_t steps = std::min(to_left, to_right);
            if (steps == n) {
                square[x] = static_cast<D>(kInfinity);
                continue;
            }
            square[x] = static_cast<D>(grid_.weight.back() * static_cast<double>(steps * steps));
            if (to_left == to_right) label[x] = std::min(label[left], label[right]);
            else label[x] = to_left < to_right ? label[left] : label[right];
        }
    }

    void along_columns(size_t axis, int threads) {
        int64_t n = grid_.shape[axis];
        auto make = [&] {
            return Columns{Envelope<true>(grid_.weight[axis], n),
                           std::vector<double>(n * kColumnsAtOnce), std::vector<T>(n * kColumnsAtOnce)};
        };
        share_columns(grid_, axis, threads, make, [&](Columns& columns, const ColumnBlock& block) {
            block.each([&](int64_t at, int64_t place) {
                columns.height[place] = squares_[at];
                columns.label[place] = cells_[at];
            });
            for (int64_t c = 0; c < block.count; ++c)
                column(columns.envelope, &columns.label[c * n], &columns.height[c * n], n);
            block.each([&](int64_t at, int64_t place) {
                squares_[at] = static_cast<D>(columns.height[place]);
                cells_[at] = columns.label[place];
            });
        });
    }

    static void column(Envelope<true>& envelope, T* label, double* height, int64_t n) {
        envelope.begin(0, n - 1);
        for (int64_t x = 0; x < n; ++x)
            if (height[x] < kInfinity) envelope.add(x, height[x], static_cast<int64_t>(label[x]));
        envelope.read([&](int64_t x, double cost, int64_t nearest) {
            height[x] = cost;
            label[x] = static_cast<T>(nearest);
        });
    }
};

template <typename T>
void fill_cells(const Grid& grid, T* cells, int threads) {
    Grid ratios = relative(grid);
    if (exact_in_float(ratios)) return NearestLabel<T, float>(ratios, cells).fill(threads);
    NearestLabel<T, double>(on_lattice(grid), cells).fill(threads);
}

}  // namespace panmatch
