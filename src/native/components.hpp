// Connected components of a graph.
#pragma once

#include <cstdint>
#include <numeric>
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

}  // namespace panmatch
