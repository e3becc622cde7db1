// Distances between the boundaries of two objects, each on the tight crop around both.
//
// A boundary voxel is a voxel of the object with a face neighbour outside it; beyond the image is
// outside. Distances run between voxel centres. Masks have one bit per voxel: boundaries, and the
// voxels of one boundary that have the other within a few steps, are found 64 voxels at a time, and
// counted. What is left is far from the other boundary, and each voxel looks for it alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bit_mask.hpp"
#include "nearest_bit.hpp"
#include "shells.hpp"
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
    std::vector<double> from_ref, from_pred;  // each sorted
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
    };

    // What a block of rows adds to the distances from one boundary to the other: how many voxels
    // have it in each shell, and where the others are.
    struct Reached {
        std::vector<int64_t> count, left;
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
        std::vector<Reached> parts[2];
        int64_t blocks = blocks_of(layout, threads);
        for (auto& side : parts) side.resize(blocks);
        share_out(blocks, threads, [] { return 0; }, [&](int, int64_t block) {
            int64_t first = layout.rows * block / blocks, last = layout.rows * (block + 1) / blocks;
            for (int side : {0, 1})
                parts[side][block] = reach(layout, words, scratch.boundary[side],
                                           scratch.boundary[1 - side], first, last);
        });
        return {distances(grid, layout, parts[0], scratch.boundary[1], threads),
                distances(grid, layout, parts[1], scratch.boundary[0], threads)};
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
        for (int side : {0, 1}) {
            scratch.object[side].clear(layout);
            scratch.boundary[side].clear(layout);
        }
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

    Reached reach(const BitLayout& layout, const std::vector<int64_t>& words, const BitMask& from,
                  const BitMask& to, int64_t first, int64_t last) const {
        Reached found{std::vector<int64_t>(shells_.count(), 0), {}};
        std::vector<int64_t> place(layout.shape.size());
        for (int64_t row = first; row < last; ++row) {
            int64_t begin = layout.row(row, place.data());
            for (int64_t w = 0; w < layout.words; ++w) {
                uint64_t left = from.bits[begin + w];
                for (size_t shell = 0; left != 0 && shell < shells_.count(); ++shell) {
                    uint64_t hits = left & shells_.reached(shell, &to.bits[begin + w], words);
                    found.count[shell] += count_bits(hits);
                    left ^= hits;
                }
                for (; left != 0; left &= left - 1)
                    found.left.push_back(row * layout.shape.back() + w * kWord + lowest_bit(left));
            }
        }
        return found;
    }

    std::vector<double> distances(const Grid& grid, const BitLayout& layout,
                                  const std::vector<Reached>& parts, const BitMask& to,
                                  int threads) const {
        std::vector<double> found;
        for (size_t shell = 0; shell < shells_.count(); ++shell) {
            int64_t count = 0;
            for (const Reached& part : parts) count += part.count[shell];
            found.insert(found.end(), count, grid.unit.length(shells_.cost(shell)));
        }
        std::vector<int64_t> left;
        for (const Reached& part : parts) left.insert(left.end(), part.left.begin(), part.left.end());
        if (left.empty()) return found;
        std::vector<double> squares = exact_in_float(grid)
                                          ? NearestBit<float>(grid, layout, to, threads).squares(left)
                                          : NearestBit<double>(grid, layout, to, threads).squares(left);
        std::sort(squares.begin(), squares.end());
        for (double square : squares) found.push_back(grid.unit.length(square));
        return found;
    }
};

}  // namespace panmatch
