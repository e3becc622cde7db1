// Pairs of masks that share voxels, and how many: by boxes first, then row by row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "runs.hpp"

namespace panmatch {

// Rows and columns that a mask touches, rows being lines of voxels along the last axis, and how many
// voxels it has.
struct RunBox {
    int64_t row_low, row_high, low, high;  // inclusive
    int64_t voxels;

    bool meets(const RunBox& other) const {
        return row_low <= other.row_high && other.row_low <= row_high && low <= other.high &&
               other.low <= high;
    }
    // At least as many voxels as the masks of two boxes that meet can share.
    int64_t most_shared(const RunBox& other) const {
        int64_t rows = std::min(row_high, other.row_high) - std::max(row_low, other.row_low) + 1;
        int64_t across = std::min(high, other.high) - std::max(low, other.low) + 1;
        return std::min({rows * across, voxels, other.voxels});
    }
};

// The rest of a box whose rows are known, where numbers are so small that float finds the row of a
// voxel exactly: compilers turn this into vector instructions. False if a run goes on in the next row.
template <typename V>
bool measure_quickly(RunSpan<V> runs, int64_t length, RunBox& box) {
    const float size = static_cast<float>(length), inverse = 1 / size;
    const V base = static_cast<V>(box.row_low * length);
    int32_t low = std::numeric_limits<int32_t>::max(), end = 0, voxels = 0;
    for (int64_t i = 0; i < runs.n; ++i) {
        int32_t start = static_cast<int32_t>(runs.start[i] - base);
        int32_t stop = static_cast<int32_t>(runs.stop[i] - base);
        int32_t row = static_cast<int32_t>((static_cast<float>(start) + 0.5f) * inverse);
        int32_t first = static_cast<int32_t>(static_cast<float>(row) * size);
        low = std::min(low, start - first);
        end = std::max(end, stop - first);
        voxels += stop - start;
    }
    box.low = low;
    box.high = end - 1;
    box.voxels = voxels;
    return end <= length;
}

template <typename V>
void measure(RunSpan<V> runs, int64_t length, RunBox& box) {
    box.low = length;
    box.high = -1;
    box.voxels = 0;
    for (int64_t i = 0; i < runs.n; ++i) {
        int64_t base = runs.start[i] / length * length;
        int64_t low = runs.start[i] - base, high = runs.stop[i] - 1 - base;
        bool wraps = high >= length;
        box.low = std::min(box.low, wraps ? 0 : low);
        box.high = std::max(box.high, wraps ? length - 1 : high);
        box.voxels += high - low + 1;
    }
}

template <typename V>
RunBox box_of(RunSpan<V> runs, int64_t length) {
    constexpr int64_t kSmall = 1 << 21;
    RunBox box{runs.start[0] / length, (runs.stop[runs.n - 1] - 1) / length, 0, 0, 0};
    bool small = (box.row_high - box.row_low + 1) * length <= kSmall;
    if (!small || !measure_quickly(runs, length, box)) measure(runs, length, box);
    return box;
}

struct SharedPairs {
    std::vector<int64_t> a, b, voxels;

    void append(const SharedPairs& more) {
        a.insert(a.end(), more.a.begin(), more.a.end());
        b.insert(b.end(), more.b.begin(), more.b.end());
        voxels.insert(voxels.end(), more.voxels.begin(), more.voxels.end());
    }
};

// Pairs that can be left out: those of an IoU below `least`. With a mask of one side that is a crowd,
// the share of the other counts instead. Nothing is left out if `least` is 0.
struct LeastIou {
    double least;
    const uint8_t* crowd;  // by place

    bool leaves_out(int64_t place, const RunBox& a, const RunBox& b) const {
        if (least <= 0) return false;
        int64_t most = a.most_shared(b);
        int64_t all = crowd[place] ? b.voxels : a.voxels + b.voxels - most;
        return static_cast<double>(most) / static_cast<double>(all) < least;
    }
};

// Some masks of one side, at the places begin … end − 1 of a list that names them by `rows`. Without
// one, they are all masks that there are.
template <typename V>
struct MaskList {
    RunView<V> masks;
    const int64_t* rows;
    int64_t begin, end;

    RunSpan<V> at(int64_t place) const {
        return masks.span(rows == nullptr ? place - begin : rows[place]);
    }
};

// All pairs of masks, one of each list, that share voxels, as places in these lists, sorted. Only
// masks whose boxes meet are compared.
template <typename V>
class PairFinder {
public:
    explicit PairFinder(LeastIou wanted) : wanted_(wanted) {}

    // `length` is that of a row of voxels.
    void find(const MaskList<V>& a, const MaskList<V>& b, int64_t length, SharedPairs& found) {
        if (a.begin == a.end || b.begin == b.end) return;
        read_second(b, length);
        for (int64_t i = a.begin; i < a.end; ++i)
            if (a.at(i).n > 0) find_partners(a.at(i), i, b, length, found);
    }

private:
    struct Boxed {
        RunBox box;
        int64_t place;

        bool operator<(const Boxed& other) const {
            return box.row_low != other.box.row_low ? box.row_low < other.box.row_low
                                                    : place < other.place;
        }
    };

    LeastIou wanted_;
    std::vector<Boxed> order_;  // masks of the second side
    int64_t tallest_ = 0;       // of these
    std::vector<std::pair<int64_t, int64_t>> partners_;

    void read_second(const MaskList<V>& masks, int64_t length) {
        order_.clear();
        tallest_ = 0;
        for (int64_t j = masks.begin; j < masks.end; ++j) {
            if (masks.at(j).n == 0) continue;
            order_.push_back({box_of(masks.at(j), length), j});
            tallest_ = std::max(tallest_, order_.back().box.row_high - order_.back().box.row_low);
        }
        std::sort(order_.begin(), order_.end());
    }

    void find_partners(RunSpan<V> mask, int64_t i, const MaskList<V>& others, int64_t length,
                       SharedPairs& found) {
        RunBox box = box_of(mask, length);
        auto at = std::lower_bound(
            order_.begin(), order_.end(), box.row_low - tallest_,
            [](const Boxed& one, int64_t row) { return one.box.row_low < row; });
        partners_.clear();
        for (; at != order_.end() && at->box.row_low <= box.row_high; ++at) {
            if (!box.meets(at->box) || wanted_.leaves_out(i, box, at->box)) continue;
            int64_t shared = mask.shared_with(others.at(at->place));
            if (shared > 0) partners_.emplace_back(at->place, shared);
        }
        std::sort(partners_.begin(), partners_.end());
        for (auto [j, shared] : partners_) {
            found.a.push_back(i);
            found.b.push_back(j);
            found.voxels.push_back(shared);
        }
    }
};

}  // namespace panmatch
