// Distances between the boundaries of two objects, each on the tight crop around both.
//
// A boundary voxel is a voxel of the object with a face neighbour outside it; beyond the image is
// outside. Distances run between voxel centres. Masks have one bit per voxel: boundaries, and the
// voxels of one boundary that have the other within a few steps, are found 64 voxels at a time, and
// counted. What is left is far from the other boundary, and each voxel looks for it alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bit_mask.hpp"
#include "nearest_bit.hpp"
#include "shells.hpp"
#include "sorting.hpp"
#include "strided.hpp"

namespace panmatch {

// Objects to compare, one after the other: labels sorted, boxes as start and stop per axis.
struct ObjectPairs {
    const int64_t* ref_label;
    const int64_t* pred_first;  // n + 1 positions in pred_label
    const int64_t* pred_label;
    const int64_t* box;
    int64_t count;
};

struct SurfaceDistances {
    UnfilledVector<double> from_ref, from_pred;  // each sorted
};

class SurfaceMeter {
public:
    SurfaceMeter(Operand reference, Operand prediction, std::vector<double> weight, Unit unit)
        : reference_(std::move(reference)), prediction_(std::move(prediction)),
          weight_(std::move(weight)), unit_(unit), shells_(weight_) {}

    // Objects with more than their share of the voxels are shared out themselves, and the others
    // among the threads, the largest first.
    std::vector<SurfaceDistances> measure(const ObjectPairs& pairs, int threads) const {
        std::vector<SurfaceDistances> found(pairs.count);
        std::vector<int64_t> size(pairs.count), order(pairs.count);
        for (int64_t i = 0; i < pairs.count; ++i) size[i] = grid_of(pairs, i).size();
        std::iota(order.begin(), order.end(), int64_t{0});
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return size[a] > size[b]; });
        int64_t large = 0, left = std::accumulate(size.begin(), size.end(), int64_t{0});
        Scratch scratch;
        for (; large < pairs.count && size[order[large]] > left / threads; ++large) {
            found[order[large]] = one(pairs, order[large], scratch, threads);
            left -= size[order[large]];
        }
        share_out(pairs.count - large, threads, [] { return Scratch{}; }, [&](Scratch& own, int64_t i) {
            found[order[large + i]] = one(pairs, order[large + i], own, 1);
        });
        return found;
    }

private:
    static constexpr int64_t kBlocks = 8;  // blocks of rows per thread
    Operand reference_, prediction_;
    std::vector<double> weight_;
    Unit unit_;
    Shells shells_;

    struct Scratch {
        BitMask object[2], boundary[2];  // of the reference and the prediction

        std::array<BitMask*, 4> all() { return {object, object + 1, boundary, boundary + 1}; }
    };

    // Of the voxels of one boundary, in one block of rows after the other: how many have the other
    // boundary in each shell, and where those are that have it in none.
    struct Reached {
        std::vector<std::vector<int64_t>> count, left;
    };

    Grid grid_of(const ObjectPairs& pairs, int64_t i) const {
        Grid grid{std::vector<int64_t>(weight_.size()), weight_, unit_};
        const int64_t* side = pairs.box + i * static_cast<int64_t>(weight_.size()) * 2;
        for (size_t axis = 0; axis < weight_.size(); ++axis)
            grid.shape[axis] = side[2 * axis + 1] - side[2 * axis];
        return grid;
    }

    SurfaceDistances one(const ObjectPairs& pairs, int64_t i, Scratch& scratch, int threads) const {
        Grid grid = grid_of(pairs, i);
        BitLayout layout(grid.shape, Shells::margin(grid.shape.size()));
        find_boundaries(pairs, i, layout, scratch, threads);
        std::vector<int64_t> words = shells_.words_away(layout);
        int64_t blocks = blocks_of(layout, threads);
        std::vector<std::vector<int64_t>> none(blocks);
        Reached reached[2] = {{none, none}, {none, none}};
        share_out(blocks, threads, [] { return 0; }, [&](int, int64_t block) {
            int64_t first = layout.rows * block / blocks, last = layout.rows * (block + 1) / blocks;
            for (int side : {0, 1})
                reach(layout, words, scratch.boundary[side], scratch.boundary[1 - side], first, last,
                      reached[side].count[block], reached[side].left[block]);
        });
        if (exact_in_float(grid)) return listed<float>(grid, layout, reached, scratch, threads);
        return listed<double>(grid, layout, reached, scratch, threads);
    }

    template <typename D>
    SurfaceDistances listed(const Grid& grid, const BitLayout& layout, const Reached* reached,
                            const Scratch& scratch, int threads) const {
        NearestBit<D> nearest(grid, layout, threads);
        return {distances(grid, reached[0], scratch.boundary[1], nearest, threads),
                distances(grid, reached[1], scratch.boundary[0], nearest, threads)};
    }

    static int64_t blocks_of(const BitLayout& layout, int threads) {
        return threads == 1 ? 1 : std::min(layout.rows, kBlocks * threads);
    }

    void find_boundaries(const ObjectPairs& pairs, int64_t i, const BitLayout& layout,
                         Scratch& scratch, int threads) const {
        std::vector<int64_t> start(weight_.size());
        for (size_t axis = 0; axis < start.size(); ++axis)
            start[axis] = pairs.box[(i * static_cast<int64_t>(start.size()) + static_cast<int64_t>(axis)) * 2];
        const int64_t* labels[2] = {pairs.ref_label + i, pairs.pred_label + pairs.pred_first[i]};
        int64_t counts[2] = {1, pairs.pred_first[i + 1] - pairs.pred_first[i]};
        int64_t blocks = blocks_of(layout, threads);
        for (BitMask* mask : scratch.all()) mask->make_room(layout);
        on_threads(threads, [&](int worker) {
            for (BitMask* mask : scratch.all()) mask->clear(worker, threads);
        });
        auto share_blocks = [&](auto&& body) {
            share_out(2 * blocks, threads, [] { return 0; }, [&](int, int64_t unit) {
                int64_t block = unit / 2;
                body(unit % 2, layout.rows * block / blocks, layout.rows * (block + 1) / blocks);
            });
        };
        share_blocks([&](int64_t side, int64_t first, int64_t last) {
            scratch.object[side].cut(layout, side == 0 ? reference_ : prediction_, start.data(),
                                     labels[side], counts[side], first, last);
        });
        share_blocks([&](int64_t side, int64_t first, int64_t last) {
            scratch.boundary[side].mark_boundary(layout, scratch.object[side], first, last);
        });
    }

    void reach(const BitLayout& layout, const std::vector<int64_t>& words, const BitMask& from,
               const BitMask& to, int64_t first, int64_t last, std::vector<int64_t>& counts,
               std::vector<int64_t>& others) const {
        counts.assign(shells_.count(), 0);
        std::vector<int64_t> place(layout.shape.size());
        for (int64_t row = first; row < last; ++row) {
            int64_t begin = layout.row(row, place.data());
            for (int64_t w = 0; w < layout.words; ++w) {
                uint64_t left = from.bits[begin + w];
                for (size_t shell = 0; left != 0 && shell < shells_.count(); ++shell) {
                    uint64_t hits = left & shells_.reached(shell, &to.bits[begin + w], words);
                    counts[shell] += count_bits(hits);
                    left ^= hits;
                }
                for (; left != 0; left &= left - 1)
                    others.push_back(row * layout.shape.back() + w * kWord + lowest_bit(left));
            }
        }
    }

    // Sorted: first those of all shells, then those of voxels that look for the other boundary alone.
    template <typename D>
    UnfilledVector<double> distances(const Grid& grid, const Reached& reached, const BitMask& to,
                                     NearestBit<D>& nearest, int threads) const {
        UnfilledVector<double> squares = nearest.squares(joined(reached.left, threads), to);
        sort_shared(squares, threads);
        UnfilledVector<double> found;
        for (size_t shell = 0; shell < shells_.count(); ++shell) {
            int64_t count = 0;
            for (const auto& part : reached.count) count += part[shell];
            found.insert(found.end(), count, grid.unit.length(shells_.cost(shell)));
        }
        int64_t n = static_cast<int64_t>(squares.size()), before = static_cast<int64_t>(found.size());
        found.resize(before + n);
        share_stretches(n, threads, [&](int64_t first, int64_t last) {
            for (int64_t i = first; i < last; ++i) found[before + i] = grid.unit.length(squares[i]);
        });
        return found;
    }
};

}  // namespace panmatch
