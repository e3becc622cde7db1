// The squared distances of some voxels to the nearest voxel of a mask, all of them far from it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "bit_mask.hpp"
#include "distance.hpp"
#include "unfilled.hpp"
#include "walk.hpp"

namespace panmatch {

// From every voxel a walk over the rows around it goes outwards until no voxel of the mask can be
// nearer. Where walks are long, all axes but the first are settled for all voxels of the grid at
// once, and the walks run along the first alone. Some walks tell beforehand, so that the choice does
// not depend on the number of threads.
template <typename D>
class NearestBit {
public:
    using Positions = UnfilledVector<int64_t>;

    NearestBit(const Grid& grid, const BitLayout& layout, int threads)
        : grid_(grid), layout_(layout), threads_(threads) {}

    // Squared distances to a mask of the voxels at `positions`, counted in C order.
    UnfilledVector<double> squares(const Positions& positions, const BitMask& mask) {
        UnfilledVector<double> found(positions.size());
        if (positions.empty()) return found;
        if (steps_expected(positions, mask) <= kPatience * grid_.size()) {
            walk_rows(positions, mask, found);
            return found;
        }
        settle(mask);
        walk_first_axis(positions, found);
        return found;
    }

private:
    static constexpr int64_t kPatience = 3;     // steps per voxel of the grid before settling
    static constexpr int64_t kSample = 1 << 9;  // walks that tell how long all will be
    static constexpr int64_t kShare = 256;      // walks that a thread takes at once
    const Grid& grid_;
    const BitLayout& layout_;
    int threads_;
    UnfilledVector<D> settled_;  // squared distances to a mask, along all axes but the first
    UnfilledVector<uint8_t> background_;

    // The nearest bit of the rows seen so far, from place x along the row.
    struct InRows {
        const uint64_t* bits;
        int64_t words, x;
        double weight, square = kInfinity;
        int64_t steps = 0;

        bool may_improve(double cost) const { return cost < square; }

        void see(int64_t row, double base) {
            ++steps;
            const uint64_t* word = bits + row;
            int64_t at = x / kWord, bit = x % kWord;
            if (uint64_t right = word[at] >> bit) {
                offer(base, lowest_bit(right));
            } else {
                for (int64_t w = at + 1; w < words && may_improve(cost(base, w * kWord - x)); ++w)
                    if (word[w] != 0) {
                        offer(base, w * kWord - x + lowest_bit(word[w]));
                        break;
                    }
            }
            if (uint64_t left = word[at] << (kWord - 1 - bit)) {
                offer(base, kWord - 1 - highest_bit(left));
            } else {
                for (int64_t w = at - 1; w >= 0 && may_improve(cost(base, x - w * kWord - kWord + 1)); --w)
                    if (word[w] != 0) {
                        offer(base, x - w * kWord - highest_bit(word[w]));
                        break;
                    }
            }
        }

        double cost(double base, int64_t gap) const { return base + weight * static_cast<double>(gap * gap); }
        void offer(double base, int64_t gap) { square = std::min(square, cost(base, gap)); }
    };

    // The nearest of the voxels seen so far, all axes but the first being settled.
    struct Settled {
        const D* squares;
        double square = kInfinity;

        bool may_improve(double cost) const { return cost < square; }
        void see(int64_t at, double base) {
            square = std::min(square, base + static_cast<double>(squares[at]));
        }
    };

    int64_t steps_expected(const Positions& positions, const BitMask& mask) const {
        int64_t count = static_cast<int64_t>(positions.size()), some = std::min(count, kSample);
        Positions sample(some);
        for (int64_t i = 0; i < some; ++i) sample[i] = positions[i * count / some];
        UnfilledVector<double> found(some);
        return walk_rows(sample, mask, found) * count / some;
    }

    // Walks from all positions, and returns how many rows were seen.
    int64_t walk_rows(const Positions& positions, const BitMask& mask, UnfilledVector<double>& found) const {
        size_t open = grid_.shape.size() - 1;
        std::atomic<int64_t> steps{0};
        share_walks(positions, [&](int64_t first, int64_t last) {
            Walk walk(grid_, layout_.step, open);
            std::vector<int64_t> place(open);
            int64_t taken = 0;
            for (int64_t i = first; i < last; ++i) {
                int64_t n = grid_.shape.back(), row = layout_.row(positions[i] / n, place.data());
                InRows best{mask.bits.data(), layout_.words, positions[i] % n, grid_.weight.back()};
                walk.outwards(place.data(), row, best);
                found[i] = best.square;
                taken += best.steps;
            }
            steps += taken;
        });
        return steps;
    }

    void settle(const BitMask& mask) {
        settled_.resize(grid_.size());
        background_.resize(grid_.size());
        int64_t n = grid_.shape.back();
        share_rows(grid_, threads_, [&](int64_t row) {
            std::vector<int64_t> place(grid_.shape.size());
            const uint64_t* word = mask.bits.data() + layout_.row(row, place.data());
            for (int64_t x = 0; x < n; ++x)
                background_[row * n + x] = static_cast<uint8_t>(~(word[x / kWord] >> (x % kWord)) & 1);
        });
        std::vector<int64_t> step = steps_of(grid_.shape);
        EdgeDistance<uint8_t, D> transform(grid_, background_.data(), step, false);
        transform.along_rows(settled_.data(), threads_);
        for (size_t axis = grid_.shape.size() - 1; axis-- > 1;)
            transform.along_columns(axis, settled_.data(), threads_);
    }

    void walk_first_axis(const Positions& positions, UnfilledVector<double>& found) const {
        std::vector<int64_t> step = steps_of(grid_.shape);
        share_walks(positions, [&](int64_t first, int64_t last) {
            Walk walk(grid_, step, std::min<size_t>(1, grid_.shape.size() - 1));
            for (int64_t i = first; i < last; ++i) {
                Settled best{settled_.data()};
                walk.outwards(positions[i], best);
                found[i] = best.square;
            }
        });
    }

    template <typename Body>
    void share_walks(const Positions& positions, Body&& body) const {
        int64_t count = static_cast<int64_t>(positions.size());
        share_out((count + kShare - 1) / kShare, threads_, [] { return 0; }, [&](int, int64_t share) {
            body(share * kShare, std::min(count, (share + 1) * kShare));
        });
    }
};

}  // namespace panmatch
