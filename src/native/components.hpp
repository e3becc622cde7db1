// Connected components: of a graph, and of the labels of an image.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace panmatch {

// Sets of the numbers 0 … n − 1, each known by its smallest member.
class DisjointSets {
public:
    explicit DisjointSets(size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), size_t{0}); }

    size_t find(size_t i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }

    void join(size_t a, size_t b) {
        a = find(a);
        b = find(b);
        if (a < b) parent_[b] = a;
        else parent_[a] = b;
    }

private:
    std::vector<size_t> parent_;
};

// The component of every vertex of a graph, numbered from 0 in the order of their first vertex.
inline std::vector<int64_t> vertex_components(const std::vector<int64_t>& start,
                                              const std::vector<int64_t>& stop, int64_t n) {
    DisjointSets sets(static_cast<size_t>(n));
    for (size_t e = 0; e < start.size(); ++e) sets.join(start[e], stop[e]);
    std::vector<int64_t> number(static_cast<size_t>(n));
    int64_t count = 0;
    for (size_t v = 0; v < number.size(); ++v) {
        size_t first = sets.find(v);
        number[v] = first == v ? count++ : number[first];
    }
    return number;
}

// The components of equal labels of an image in C order. Two voxels are neighbours if their places
// differ by at most 1 along each axis, and along at most `reach` axes.
template <typename T>
class LabelComponents {
public:
    LabelComponents(const T* labels, std::vector<int64_t> shape, int reach)
        : labels_(labels), shape_(std::move(shape)), reach_(reach) {}

    // Numbered from 1 in the order of their first voxels; 0 on the background.
    std::vector<uint32_t> numbers() const {
        int64_t width = shape_.back(), rows = 1;
        for (size_t axis = 0; axis + 1 < shape_.size(); ++axis) rows *= shape_[axis];
        DisjointSets sets(static_cast<size_t>(rows * width));
        for (int64_t row = 0; row < rows; ++row) join_row(row, width, sets);
        std::vector<uint32_t> number(static_cast<size_t>(rows * width));
        uint32_t count = 0;
        for (size_t i = 0; i < number.size(); ++i) {
            if (labels_[i] == 0) continue;
            size_t first = sets.find(i);
            number[i] = first == i ? ++count : number[first];
        }
        return number;
    }

private:
    const T* labels_;
    std::vector<int64_t> shape_;
    int reach_;

    struct Earlier {
        int64_t row;
        int aside;  // how far along the last axis
    };

    // The rows before this one that have neighbours of its voxels.
    std::vector<Earlier> earlier_rows(int64_t row) const {
        std::vector<Earlier> found{{0, 0}};
        std::vector<int> used{0};
        int64_t step = 1, rest = row;
        for (size_t axis = shape_.size() - 1; axis-- > 0; step *= shape_[axis]) {
            int64_t at = rest % shape_[axis];
            rest /= shape_[axis];
            size_t n = found.size();
            for (size_t i = 0; i < n; ++i) {
                for (int move : {-1, 1}) {
                    if (used[i] == reach_ || at + move < 0 || at + move >= shape_[axis]) continue;
                    found.push_back({found[i].row + move * step, 0});
                    used.push_back(used[i] + 1);
                }
            }
        }
        std::vector<Earlier> kept;
        for (size_t i = 0; i < found.size(); ++i)
            if (found[i].row < 0) kept.push_back({found[i].row, used[i] < reach_ ? 1 : 0});
        return kept;
    }

    void join_row(int64_t row, int64_t width, DisjointSets& sets) const {
        auto earlier = earlier_rows(row);
        const T* here = labels_ + row * width;
        for (int64_t x = 0; x < width; ++x) {
            if (here[x] == 0) continue;
            size_t i = static_cast<size_t>(row * width + x);
            bool follows = x > 0 && here[x - 1] == here[x];
            if (follows) sets.join(i, i - 1);
            for (const Earlier& other : earlier) {
                const T* there = here + other.row * width;
                for (int64_t y = x - other.aside; y <= x + other.aside; ++y) {
                    if (y < 0 || y >= width || there[y] != here[x]) continue;
                    // The voxel on the left has joined the others already.
                    if (follows && y < x + other.aside) continue;
                    sets.join(i, static_cast<size_t>((row + other.row) * width + y));
                }
            }
        }
    }
};

}  // namespace panmatch
