// Connected components of the labels of an image, found from runs of equal labels in its rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "boundaries.hpp"
#include "components.hpp"
#include "parallel.hpp"
#include "unfilled.hpp"

namespace panmatch {

// The components of equal labels of an image in C order. Two voxels are neighbours if their places
// differ by at most 1 along each axis, and along at most `reach` axes.
template <typename T>
class LabelComponents {
public:
    LabelComponents(const T* labels, std::vector<int64_t> shape, int reach)
        : labels_(labels), shape_(std::move(shape)), width_(shape_.back()) {
        for (size_t axis = 0; axis + 1 < shape_.size(); ++axis) rows_ *= shape_[axis];
        std::vector<int> moves(shape_.size() - 1);
        add_neighbours(0, reach, 0, false, moves);
    }

    // Writes numbers from 1 in the order of first voxels to `out`, which is 0, and returns how many
    // there are.
    int64_t number(uint32_t* out, int threads) {
        find_runs(threads);
        DisjointSets sets(runs_.size());
        join_rows(sets, threads);
        std::vector<uint32_t> number(runs_.size());
        uint32_t count = 0;
        for (size_t i = 0; i < runs_.size(); ++i) {
            size_t first = sets.find(i);
            number[i] = first == i ? ++count : number[first];
        }
        share_blocks(threads, [&](int64_t, int64_t from, int64_t to) {
            for (int64_t row = from; row < to; ++row)
                for (size_t i = first_[row]; i < first_[row + 1]; ++i)
                    std::fill(out + row * width_ + runs_[i].start, out + row * width_ + runs_[i].stop, number[i]);
        });
        return count;
    }

private:
    // Voxels start … stop − 1 of a row.
    struct Run {
        int64_t start, stop;
    };

    // An earlier row that has neighbours of the voxels of a row, up to `aside` voxels further along.
    struct Neighbour {
        std::vector<int> moves;  // along each axis but the last
        int64_t rows;            // how many rows further
        int64_t aside;
    };

    static constexpr int64_t kBlocks = 8;  // per thread
    const T* labels_;
    std::vector<int64_t> shape_;
    int64_t width_, rows_ = 1;
    int64_t farthest_ = 0;  // how many rows lie between a row and its first neighbour
    std::vector<Neighbour> neighbours_;
    UnfilledVector<Run> runs_;
    std::vector<size_t> first_;  // of every row, where its runs begin

    // `earlier` says that the moves so far lead to an earlier row; `rows` is how far.
    void add_neighbours(size_t axis, int reach, int64_t rows, bool earlier, std::vector<int>& moves) {
        if (axis + 1 == shape_.size()) {
            if (!earlier) return;
            neighbours_.push_back({moves, rows, reach > 0 ? 1 : 0});
            farthest_ = std::max(farthest_, -rows);
            return;
        }
        for (int move = -1; move <= (earlier ? 1 : 0); ++move) {
            if (move != 0 && reach == 0) continue;
            moves[axis] = move;
            add_neighbours(axis + 1, reach - (move != 0), rows * shape_[axis] + move, earlier || move < 0, moves);
        }
    }

    template <typename Body>
    void share_blocks(int threads, Body&& body) const {
        int64_t blocks = std::min(rows_, threads == 1 ? 1 : kBlocks * threads);
        share_out(blocks, threads, [] { return 0; }, [&](int, int64_t block) {
            body(block, rows_ * block / blocks, rows_ * (block + 1) / blocks);
        });
    }

    void find_runs(int threads) {
        std::vector<std::vector<Run>> parts(std::min(rows_, threads == 1 ? 1 : kBlocks * threads));
        first_.assign(rows_ + 1, 0);
        share_blocks(threads, [&](int64_t block, int64_t from, int64_t to) {
            for (int64_t row = from; row < to; ++row) {
                size_t before = parts[block].size();
                read_row(labels_ + row * width_, parts[block]);
                first_[row + 1] = parts[block].size() - before;
            }
        });
        for (int64_t row = 0; row < rows_; ++row) first_[row + 1] += first_[row];
        runs_ = joined(parts, threads);
    }

    void read_row(const T* labels, std::vector<Run>& runs) const {
        int64_t start = 0;
        auto end_run = [&](int64_t stop) {
            if (labels[start] != 0) runs.push_back({start, stop});
            start = stop;
        };
        each_change(reinterpret_cast<const char*>(labels), static_cast<int>(sizeof(T)), width_, end_run);
        end_run(width_);
    }

    // Every thread joins the rows of one stretch with each other; what crosses the borders of stretches
    // comes after all of them.
    void join_rows(DisjointSets& sets, int threads) const {
        int64_t stretches = std::min<int64_t>(rows_, threads);
        share_out(stretches, threads, [] { return 0; }, [&](int, int64_t i) {
            int64_t from = rows_ * i / stretches;
            join_with(from, rows_ * (i + 1) / stretches, sets, [&](int64_t before) { return before >= from; });
        });
        for (int64_t i = 1; i < stretches; ++i) {
            int64_t from = rows_ * i / stretches, to = rows_ * (i + 1) / stretches;
            join_with(from, std::min(to, from + farthest_), sets, [&](int64_t before) { return before < from; });
        }
    }

    // Joins rows [from, to) with those earlier neighbours that are wanted.
    template <typename Wanted>
    void join_with(int64_t from, int64_t to, DisjointSets& sets, Wanted&& wanted) const {
        std::vector<int64_t> place(shape_.size());
        for (int64_t row = from; row < to; ++row) {
            if (first_[row] == first_[row + 1]) continue;
            int64_t rest = row;
            for (size_t axis = shape_.size() - 1; axis-- > 0; rest /= shape_[axis])
                place[axis] = rest % shape_[axis];
            for (const Neighbour& other : neighbours_) {
                bool exists = wanted(row + other.rows);
                for (size_t axis = 0; axis < other.moves.size(); ++axis) {
                    int64_t there = place[axis] + other.moves[axis];
                    exists = exists && there >= 0 && there < shape_[axis];
                }
                if (exists) join(row, row + other.rows, other.aside, sets);
            }
        }
    }

    // Joins runs of two rows that have the same label and voxels next to each other.
    void join(int64_t row, int64_t before, int64_t aside, DisjointSets& sets) const {
        const T *here = labels_ + row * width_, *there = labels_ + before * width_;
        size_t i = first_[row], j = first_[before];
        while (i < first_[row + 1] && j < first_[before + 1]) {
            const Run &a = runs_[i], &b = runs_[j];
            bool meet = a.start < b.stop + aside && b.start < a.stop + aside;
            if (meet && here[a.start] == there[b.start]) sets.join(i, j);
            // The next run of this row may touch the other one at a corner alone.
            bool corner = aside > 0 && i + 1 < first_[row + 1] && runs_[i + 1].start == b.stop;
            if (corner && here[b.stop] == there[b.start]) sets.join(i + 1, j);
            if (a.stop < b.stop) ++i;
            else ++j;
        }
    }
};

}  // namespace panmatch
