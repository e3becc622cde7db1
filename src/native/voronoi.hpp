// The label of the nearest segment at every voxel: Voronoi regions of a label image (D8).
//
// The lower envelope per axis, carrying labels along. Of two segments at the same distance the one
// with the smaller label wins, on every axis and therefore overall. For that, distances must be
// compared exactly: weights are whole numbers, so small that no sum of squares is ever rounded.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "label_columns.hpp"
#include "lines.hpp"
#include "parallel.hpp"
#include "portability.hpp"
#include "strided.hpp"
#include "unfilled.hpp"
#include "walk.hpp"

namespace panmatch {

// Labels in any memory order, row by row in C order.
template <typename T>
class LabelRows {
public:
    LabelRows(const Grid& grid, const Operand& labels) : grid_(grid), labels_(labels) {}

    void copy(int64_t row, T* to) const {
        int64_t n = grid_.shape.back(), step = labels_.stride.back();
        const char* from = labels_.data;
        for (size_t axis = grid_.shape.size() - 1; axis-- > 0; row /= grid_.shape[axis])
            from += row % grid_.shape[axis] * labels_.stride[axis];
        if (step == sizeof(T)) std::memcpy(to, from, n * sizeof(T));
        else
            for (int64_t x = 0; x < n; ++x) std::memcpy(to + x, from + x * step, sizeof(T));
    }

private:
    const Grid& grid_;
    const Operand& labels_;
};

template <typename T, typename D>
class NearestLabel {
public:
    // `regions` receives the label of the nearest segment; 0 everywhere if there is none. It holds the
    // labels, in C order, unless they come from `source`: `fill` then copies each row when it needs it.
    NearestLabel(const Grid& grid, T* regions, int threads, const LabelRows<T>* source = nullptr)
        : grid_(grid), regions_(regions), source_(source), squares_(new D[grid.size()]), threads_(threads),
          open_(grid.shape.size() - 1), step_(steps_of(grid.shape)),
          upwards_(std::min(kShortGap, grid.shape.back())) {
        for (size_t i = 0; i < upwards_.size(); ++i) upwards_[i] = row_square(i + 1);
        downwards_.assign(upwards_.rbegin(), upwards_.rend());
    }

    void fill() {
        if (grid_.size() == 0) return;
        if (open_ == 0) return along_rows();
        --open_;
        with_keys(largest_square(grid_), grid_.shape[open_], [&](auto key) {
            share_planes(grid_, threads_, [&](int64_t row) { fill_row(row); }, maker(key, open_),
                         [&](auto& groups, const ColumnBlock& block) { settle(groups, block, open_ > 0); });
        });
        while (open_ > 0) along_columns(false);
    }

    // Gives back the memory of squares, all threads at the same time: one alone takes 3 % of the
    // time of all the rest, and makes many threads wait. Nothing can be filled after that.
    void release() {
        int64_t n = grid_.size();
        on_threads(threads_, [&](int worker) {
            D *from = &squares_[n * worker / threads_], *to = &squares_[n * (worker + 1) / threads_];
            drop_pages(from, to);
        });
    }

    // Nearest labels of some voxels, and their squared distances.
    struct Found {
        UnfilledVector<T> label;
        UnfilledVector<double> square;

        explicit Found(size_t count = 0) : label(count), square(count) {}
    };

    // Fills only the voxels that `where` marks, and leaves 0 elsewhere.
    void fill_where(const uint8_t* where) {
        if (grid_.size() == 0) return;
        UnfilledVector<int64_t> wanted = outside(where);
        Found found = find(wanted);
        share_rows(grid_, threads_, [&](int64_t row) {
            int64_t n = grid_.shape.back();
            for (int64_t at = row * n; at < (row + 1) * n; ++at)
                if (!where[at]) regions_[at] = 0;
        });
        share_stretches(static_cast<int64_t>(wanted.size()), threads_, [&](int64_t from, int64_t to) {
            for (int64_t i = from; i < to; ++i) regions_[wanted[i]] = found.label[i];
        });
    }

    // Finds those of voxels that `where` marks and that lie on no segment, in C order.
    Found find_where(const uint8_t* where) {
        if (grid_.size() == 0) return Found();
        return find(outside(where));
    }

private:
    static constexpr int64_t kPatience = 1;      // steps per voxel of the image before settling
    static constexpr int64_t kBatch = 1 << 15;   // walks between two looks at the budget
    static constexpr int64_t kSample = 1 << 8;   // walks that tell how long all will be
    static constexpr int64_t kTinyGap = 8;       // steps in a row that are not worth a table
    static constexpr int64_t kShortGap = 1 << 12;  // steps in a row whose squares are in a table
    const Grid& grid_;
    T* regions_;
    const LabelRows<T>* source_;
    std::unique_ptr<D[]> squares_;  // not set to 0 first: each thread touches its own part
    int threads_;
    size_t open_;  // axes 0 … open_ − 1 are not settled yet
    std::vector<int64_t> step_;
    std::vector<D> upwards_, downwards_;  // squares of 1, 2, … steps within a row, and the same backwards

    struct Nearest {
        const NearestLabel& all;
        double square = kInfinity;
        T label = 0;
        int64_t steps = 0;

        // At equal cost a smaller label may still win.
        bool may_improve(double cost) const { return cost <= square; }
        void see(int64_t at, double base) {
            ++steps;
            double here = base + all.squares_[at];
            if (here > square || (here == square && all.regions_[at] >= label)) return;
            square = here;
            label = all.regions_[at];
        }
    };

    UnfilledVector<int64_t> outside(const uint8_t* where) const {
        constexpr int64_t kVoxels = int64_t{1} << 18;
        int64_t n = grid_.size(), blocks = (n + kVoxels - 1) / kVoxels;
        std::vector<std::vector<int64_t>> parts(blocks);
        share_out(blocks, threads_, [] { return 0; }, [&](int, int64_t block) {
            for (int64_t at = block * kVoxels; at < std::min(n, (block + 1) * kVoxels); ++at)
                if (where[at] && regions_[at] == 0) parts[block].push_back(at);
        });
        return joined(parts, threads_);
    }

    // Within rows all distances are known; from each wanted voxel a walk over the other axes goes
    // outwards until no segment can be nearer. Where walks are long, one more axis is settled for
    // all voxels at once: some walks tell so beforehand, and all of them are watched.
    Found find(const UnfilledVector<int64_t>& wanted) {
        along_rows();
        while (open_ > 0 && steps_expected(wanted) > kPatience * grid_.size()) along_columns(true);
        Found found(wanted.size());
        int64_t count = static_cast<int64_t>(wanted.size()), budget = kPatience * grid_.size();
        for (int64_t from = 0; from < count; from += kBatch) {
            budget -= walk_all(wanted.data() + from, std::min(kBatch, count - from), from, found);
            if (budget >= 0 || open_ == 0) continue;
            along_columns(true);
            budget = kPatience * grid_.size();
        }
        return found;
    }

    // How many steps walks from all voxels take, judged by some of them.
    int64_t steps_expected(const UnfilledVector<int64_t>& wanted) const {
        int64_t count = static_cast<int64_t>(wanted.size()), some = std::min(count, kSample);
        if (some == 0) return 0;
        std::vector<int64_t> sample(some);
        for (int64_t i = 0; i < some; ++i) sample[i] = wanted[i * count / some];
        Found found(some);
        return walk_all(sample.data(), some, 0, found) * count / some;
    }

    // Walks from `count` voxels, and returns how many steps that took.
    int64_t walk_all(const int64_t* wanted, int64_t count, int64_t from, Found& found) const {
        constexpr int64_t kShare = 256;
        std::atomic<int64_t> steps{0};
        share_out((count + kShare - 1) / kShare, threads_, [] { return 0; }, [&](int, int64_t share) {
            int64_t taken = 0;
            Walk walk(grid_, step_, open_);
            for (int64_t i = share * kShare; i < std::min(count, (share + 1) * kShare); ++i) {
                Nearest best{*this};
                walk.outwards(wanted[i], best);
                found.label[from + i] = best.label;
                found.square[from + i] = best.square;
                taken += best.steps;
            }
            steps += taken;
        });
        return steps;
    }

    void along_rows() {
        share_rows(grid_, threads_, [&](int64_t row) { fill_row(row); });
    }

    D row_square(int64_t steps) const {
        return static_cast<D>(grid_.weight.back() * static_cast<double>(steps * steps));
    }

    // The squares of 1 … count steps.
    void count_up(int64_t count, D* square) const {
        int64_t known = std::min(count, static_cast<int64_t>(upwards_.size()));
        std::copy_n(upwards_.begin(), known, square);
        for (int64_t i = known; i < count; ++i) square[i] = row_square(i + 1);
    }

    // The squares of count … 1 steps.
    void count_down(int64_t count, D* square) const {
        int64_t known = std::min(count, static_cast<int64_t>(downwards_.size()));
        for (int64_t i = 0; i < count - known; ++i) square[i] = row_square(count - i);
        std::copy_n(downwards_.end() - known, known, square + count - known);
    }

    void fill_row(int64_t row) const {
        int64_t n = grid_.shape.back();
        T* label = regions_ + row * n;
        D* square = &squares_[row * n];
        if (source_ != nullptr) source_->copy(row, label);
        for (int64_t left = -1; left < n;) {
            int64_t right = next_segment(label, left + 1, n);
            if (right > left + 1) fill_gap(label, square, left, right, n);
            if (right < n) square[right] = 0;
            left = right;
        }
    }

    // First voxel by voxel, then many at a time.
    static int64_t next_segment(const T* label, int64_t from, int64_t n) {
        constexpr int64_t kMany = 8;
        for (int64_t soon = std::min(n, from + kMany); from < soon; ++from)
            if (label[from] != 0) return from;
        for (; from + kMany <= n; from += kMany) {
            T any = 0;
            for (int64_t i = 0; i < kMany; ++i) any = static_cast<T>(any | label[from + i]);
            if (any != 0) break;
        }
        while (from < n && label[from] == 0) ++from;
        return from;
    }

    // Between a segment at `left` and one at `right`; −1 and n stand for none.
    void fill_gap(T* label, D* square, int64_t left, int64_t right, int64_t n) const {
        if (left >= 0 && right < n && right - left <= kTinyGap) return fill_tiny_gap(label, square, left, right);
        if (left < 0 && right == n) std::fill_n(square, n, static_cast<D>(kInfinity));
        int64_t middle = left < 0 ? 0 : right == n ? n : (left + right) / 2 + 1;
        if (left >= 0) {
            count_up(middle - left - 1, square + left + 1);
            std::fill(label + left + 1, label + middle, label[left]);
        }
        if (right < n) {
            count_down(right - middle, square + middle);
            std::fill(label + middle, label + right, label[right]);
        }
        bool tie = left >= 0 && right < n && (left + right) % 2 == 0;
        if (tie) label[middle - 1] = std::min(label[left], label[right]);
    }

    // Voxel by voxel, between two segments.
    void fill_tiny_gap(T* label, D* square, int64_t left, int64_t right) const {
        T of_left = label[left], of_right = label[right], of_both = std::min(of_left, of_right);
        for (int64_t x = left + 1; x < right; ++x) {
            int64_t to_left = x - left, to_right = right - x;
            square[x] = upwards_[std::min(to_left, to_right) - 1];
            label[x] = to_left == to_right ? of_both : to_left < to_right ? of_left : of_right;
        }
    }

    // Settles one more axis. Squared distances after the first axis are for walks only.
    void along_columns(bool keep_squares) {
        --open_;
        if (grid_.shape[open_] == 1) return;
        with_keys(largest_square(grid_), grid_.shape[open_], [&](auto key) {
            share_columns(grid_, open_, threads_, maker(key, open_), [&](auto& groups, const ColumnBlock& block) {
                settle(groups, block, keep_squares || open_ > 0);
            });
        });
    }

    template <typename K>
    auto maker(K, size_t axis) const {
        return [this, axis] {
            LabelColumns<T, K> group(grid_.weight[axis], grid_.shape[axis], largest_square(grid_));
            return std::vector<LabelColumns<T, K>>(groups_across(grid_), group);
        };
    }

    template <typename Groups>
    void settle(Groups& groups, const ColumnBlock& block, bool keep_squares) {
        block.each_group([&](int64_t x, int64_t at, int64_t c, int64_t count) {
            prefetch_lanes(&squares_[at], block, x);
            prefetch_lanes(regions_ + at, block, x);
            groups[c / kLanes].read(x, &squares_[at], regions_ + at, count);
        });
        for (int64_t c = 0; c < block.count; c += kLanes)
            groups[c / kLanes].settle(std::min(kLanes, block.count - c));
        block.each_group([&](int64_t x, int64_t at, int64_t c, int64_t count) {
            groups[c / kLanes].write(x, keep_squares ? &squares_[at] : nullptr, regions_ + at, count);
        });
    }
};

template <typename T, typename D>
void fill_regions_in(const Grid& grid, const LabelRows<T>& labels, T* regions, const uint8_t* where, int threads) {
    NearestLabel<T, D> nearest(grid, regions, threads, where == nullptr ? &labels : nullptr);
    if (where == nullptr) {
        nearest.fill();
    } else {
        share_rows(grid, threads, [&](int64_t row) { labels.copy(row, regions + row * grid.shape.back()); });
        nearest.fill_where(where);
    }
    if (threads > 1) nearest.release();
}

// `regions` need not hold anything; they get the labels of the nearest segments, with `where` only at
// the voxels that it marks.
template <typename T>
void fill_regions(const Grid& grid, const Operand& labels, T* regions, const uint8_t* where, int threads) {
    if (grid.size() == 0) return;
    LabelRows<T> rows(grid, labels);
    if (exact_in_float(grid)) return fill_regions_in<T, float>(grid, rows, regions, where, threads);
    fill_regions_in<T, double>(grid, rows, regions, where, threads);
}

}  // namespace panmatch
