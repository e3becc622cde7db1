// Maximum-weight one-to-one matching on a sparse graph, kept optimal while edges are removed.
//
// The method is primal-dual. Every vertex has a potential >= 0; on every edge the potentials add
// up to at least its weight, on a matched edge to exactly its weight, and an unmatched vertex has
// potential 0. Those conditions prove the matching optimal. Adding one vertex to an optimal
// matching costs one shortest-path search, and losing a matched edge is the same as taking both
// its ends out and adding them again, so a whole threshold sweep is a chain of local searches.
// Weights are integers: sums are exact, and the result does not depend on their order.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "bipartite.hpp"
#include "deadline.hpp"

namespace panmatch {

class Assignment {
public:
    // Stops early, with a matching of the first references alone, if a deadline passes.
    Assignment(const Bipartite& graph, const std::vector<int64_t>& weight,
               const Deadline* deadline = nullptr)
        : graph_(graph), weight_(weight), history_(graph.size()), alive_(graph.size(), true) {
        for (int side : {kRef, kPred}) {
            potential_[side].assign(graph.count(side), 0);
            mate_[side].assign(graph.count(side), kNone);
            parent_[side].assign(graph.count(side), kNone);
            distance_[side].assign(graph.count(side), kFar);
            present_[side].assign(graph.count(side), side == kPred);
        }
        for (int64_t ref = 0; ref < graph.count(kRef) && complete_; ++ref) {
            insert(kRef, ref);
            complete_ = deadline == nullptr || !deadline->passed();
        }
    }

    bool is_complete() const { return complete_; }

    const MatchingHistory& history() const { return history_; }

    // Removes edges by rising score and tells when each edge was matched.
    Intervals sweep(const std::vector<double>& score) {
        std::vector<int64_t> order(graph_.size());
        for (int64_t e = 0; e < graph_.size(); ++e) order[e] = e;
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return score[a] < score[b]; });
        for (int64_t edge : order) {
            if (score[edge] >= 1.0) break;
            history_.move_to(score[edge]);
            remove(edge);
        }
        return history_.finish();
    }

private:
    static constexpr int64_t kNone = -1;
    static constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
    using PerSide = std::array<std::vector<int64_t>, 2>;
    using Item = std::pair<int64_t, int64_t>;  // distance, vertex

    const Bipartite& graph_;
    const std::vector<int64_t>& weight_;
    MatchingHistory history_;
    std::vector<char> alive_;
    bool complete_ = true;
    std::array<std::vector<char>, 2> present_;
    PerSide potential_, mate_, parent_, distance_;
    PerSide touched_;

    void remove(int64_t edge) {
        alive_[edge] = false;
        if (!history_.matched(edge)) return;
        history_.set(edge, false);
        for (int side : {kRef, kPred}) {
            int64_t v = graph_.vertex[side][edge];
            mate_[side][v] = kNone;
            present_[side][v] = false;
        }
        for (int side : {kRef, kPred}) insert(side, graph_.vertex[side][edge]);
    }

    // The smallest feasible potential makes the search short.
    void insert(int side, int64_t v) {
        present_[side][v] = true;
        int64_t lowest = 0;
        for_edges(side, v, [&](int64_t edge, int64_t other) {
            lowest = std::max(lowest, weight_[edge] - potential_[1 - side][other]);
        });
        potential_[side][v] = lowest;
        search(side, v);
    }

    template <typename Visit>
    void for_edges(int side, int64_t v, Visit&& visit) const {
        for (int64_t at = graph_.first[side][v]; at < graph_.first[side][v + 1]; ++at) {
            int64_t edge = graph_.edges[side][at];
            int64_t other = graph_.vertex[1 - side][edge];
            if (alive_[edge] && present_[1 - side][other]) visit(edge, other);
        }
    }

    // Finds the cheapest way to settle the unmatched vertex `start`: leave it alone, end an
    // alternating path at an unmatched vertex, or end one by taking a vertex's partner away.
    void search(int side, int64_t start) {
        int64_t best = potential_[side][start], best_end = start;
        int best_side = side;
        std::priority_queue<Item, std::vector<Item>, std::greater<Item>> queue;
        reach(side, start, 0);
        queue.push({0, start});
        while (!queue.empty() && queue.top().first < best) {
            auto [d, v] = queue.top();
            queue.pop();
            if (d > distance_[side][v]) continue;
            int64_t base = d + potential_[side][v];
            for_edges(side, v, [&](int64_t edge, int64_t other) {
                int64_t far = base + potential_[1 - side][other] - weight_[edge];
                if (far >= best || far >= distance_[1 - side][other]) return;
                reach(1 - side, other, far);
                parent_[1 - side][other] = edge;
                int64_t partner_edge = mate_[1 - side][other];
                if (partner_edge == kNone) {
                    best = far, best_end = other, best_side = 1 - side;
                    return;
                }
                int64_t partner = graph_.vertex[side][partner_edge];
                reach(side, partner, far);
                queue.push({far, partner});
                int64_t ending = far + potential_[side][partner];
                if (ending < best) best = ending, best_end = partner, best_side = side;
            });
        }
        settle(side, best);
        augment(side, start, best_side, best_end);
    }

    void reach(int side, int64_t v, int64_t distance) {
        if (distance_[side][v] == kFar) touched_[side].push_back(v);
        distance_[side][v] = distance;
    }

    void settle(int side, int64_t best) {
        for (int which : {side, 1 - side}) {
            for (int64_t v : touched_[which]) {
                int64_t slack = best - distance_[which][v];
                if (slack > 0) potential_[which][v] += which == side ? -slack : slack;
                distance_[which][v] = kFar;
            }
            touched_[which].clear();
        }
    }

    void augment(int side, int64_t start, int end_side, int64_t end) {
        int other = 1 - side;
        int64_t y = end;
        if (end_side == side) {
            if (end == start) return;
            int64_t lost = mate_[side][end];
            mate_[side][end] = kNone;
            history_.set(lost, false);
            y = graph_.vertex[other][lost];
        }
        while (true) {
            int64_t edge = parent_[other][y];
            int64_t x = graph_.vertex[side][edge];
            int64_t previous = mate_[side][x];
            mate_[side][x] = mate_[other][y] = edge;
            history_.set(edge, true);
            if (x == start) return;
            history_.set(previous, false);
            y = graph_.vertex[other][previous];
        }
    }
};

}  // namespace panmatch
