// The bipartite graph as adjacency lists, and how a matching changes as the threshold rises.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace panmatch {

constexpr int kRef = 0, kPred = 1;

// Edges are numbered; the list of every vertex keeps that order.
struct Bipartite {
    std::array<std::vector<int64_t>, 2> vertex;  // the edge's end on each side
    std::array<std::vector<int64_t>, 2> first;   // where a vertex's list begins
    std::array<std::vector<int64_t>, 2> edges;   // the lists, one after another
    std::array<std::vector<int64_t>, 2> place;   // where in `edges` an edge stands

    Bipartite(std::vector<int64_t> refs, std::vector<int64_t> preds, int64_t n_ref, int64_t n_pred)
        : vertex{std::move(refs), std::move(preds)} {
        build(kRef, n_ref);
        build(kPred, n_pred);
    }

    int64_t size() const { return static_cast<int64_t>(vertex[0].size()); }
    int64_t count(int side) const { return static_cast<int64_t>(first[side].size()) - 1; }

    // The edge after `edge` in the list of its end on `side`, or -1.
    int64_t next(int side, int64_t edge) const {
        int64_t at = place[side][edge] + 1;
        return at < first[side][vertex[side][edge] + 1] ? edges[side][at] : -1;
    }

private:
    void build(int side, int64_t n) {
        first[side].assign(n + 1, 0);
        for (int64_t v : vertex[side]) ++first[side][v + 1];
        for (int64_t v = 0; v < n; ++v) first[side][v + 1] += first[side][v];
        std::vector<int64_t> fill(first[side].begin(), first[side].end() - 1);
        edges[side].resize(size());
        place[side].resize(size());
        for (int64_t e = 0; e < size(); ++e) {
            int64_t at = fill[vertex[side][e]]++;
            edges[side][at] = e;
            place[side][e] = at;
        }
    }
};

// Edge `edge` belongs to the matching for every threshold in [start, stop).
struct Intervals {
    std::vector<int64_t> edge;
    std::vector<double> start, stop;
};

// Records which edges are matched while the threshold moves up.
class MatchingHistory {
public:
    explicit MatchingHistory(int64_t edges) : matched_(edges, false), since_(edges, 0.0) {}

    void move_to(double threshold) { threshold_ = threshold; }
    bool matched(int64_t edge) const { return matched_[edge]; }
    const std::vector<char>& matched() const { return matched_; }

    void set(int64_t edge, bool value) {
        if (matched_[edge] == value) return;
        matched_[edge] = value;
        if (value) since_[edge] = threshold_;
        else close(edge);
    }

    Intervals finish() {
        move_to(1.0);
        for (size_t edge = 0; edge < matched_.size(); ++edge)
            if (matched_[edge]) close(static_cast<int64_t>(edge));
        return std::move(closed_);
    }

private:
    double threshold_ = 0.0;
    std::vector<char> matched_;
    std::vector<double> since_;
    Intervals closed_;

    void close(int64_t edge) {
        if (since_[edge] == threshold_) return;
        closed_.edge.push_back(edge);
        closed_.start.push_back(since_[edge]);
        closed_.stop.push_back(threshold_);
    }
};

}  // namespace panmatch
