// Better choices of pieces by small steps (D6, D8).
//
// A piece has one reference, which may take it or leave it, and the first piece that is taken of a
// prediction saves its false positive. A step takes or leaves a piece, or takes one and leaves
// another one of the same prediction. Steps that add to the total are made until there are none.
// Then a few pieces are moved at random, and the outcome is kept unless the total fell.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "deadline.hpp"
#include "packing.hpp"

namespace panmatch {

class PieceSearch {
public:
    // `chosen` is any feasible choice of edges. Only references that are `active` take part.
    PieceSearch(const PackProblem& problem, const std::vector<uint8_t>& chosen,
                const std::vector<uint8_t>& active, const Deadline& deadline)
        : problem_(problem), deadline_(deadline), ref_edges_(problem.ref_size.size()),
          pred_edges_(problem.n_pred), taken_(chosen.size(), false), matched_(problem.n_pred, 0),
          sums_(problem.ref_size.size()), waiting_(problem.n_pred, false) {
        for (size_t e = 0; e < problem.ref.size(); ++e) {
            if (chosen[e]) toggle(static_cast<int64_t>(e));
            if (!active[problem.ref[e]]) continue;
            movable_.push_back(static_cast<int64_t>(e));
            ref_edges_[problem.ref[e]].push_back(static_cast<int64_t>(e));
            pred_edges_[problem.pred[e]].push_back(static_cast<int64_t>(e));
        }
    }

    void run(int64_t kicks) {
        for (int64_t edge : movable_) wait(problem_.pred[edge]);
        settle();
        if (movable_.empty()) return;
        auto best = taken_;
        double best_total = total();
        int64_t patience = kLeastPatience + 2 * static_cast<int64_t>(movable_.size()), last = 0;
        for (int64_t kick = 0; kick < kicks && kick - last < patience; ++kick) {
            if (deadline_.passed()) break;
            for (int times = 0; times < 3; ++times) disturb();
            settle();
            double reached = total();
            if (reached > best_total + kLeast) last = kick;
            if (reached >= best_total) best = taken_, best_total = reached;
            else restore(best);
        }
        restore(best);
    }

    std::vector<uint8_t> chosen() const { return {taken_.begin(), taken_.end()}; }

private:
    static constexpr int64_t kNone = -1, kLeastPatience = 50;
    static constexpr double kLeast = 1e-13;

    struct Sums {
        double intersection = 0, excess = 0;
        int64_t passing = 0, members = 0;
    };

    const PackProblem& problem_;
    const Deadline& deadline_;
    std::vector<std::vector<int64_t>> ref_edges_, pred_edges_;
    std::vector<char> taken_;       // per edge
    std::vector<int64_t> matched_;  // per prediction: pieces that are taken
    std::vector<Sums> sums_;
    std::vector<char> waiting_;
    std::deque<int64_t> queue_;
    std::vector<int64_t> movable_;
    std::minstd_rand random_{1};

    double worth(int64_t ref, const Sums& s) const {
        if (s.members == 0) return 0.0;
        if (s.passing == 0) return -INFINITY;
        return s.intersection / (problem_.ref_size[ref] + s.excess) - problem_.price + kPairBonus;
    }

    double saving(int64_t pred, int64_t pieces) const {
        bool counted = problem_.counted[pred_edges_[pred][0]] != 0;
        return counted && pieces > 0 ? problem_.price : 0.0;
    }

    double total() const {
        double sum = 0;
        for (size_t r = 0; r < sums_.size(); ++r) sum += worth(static_cast<int64_t>(r), sums_[r]);
        for (size_t p = 0; p < matched_.size(); ++p)
            if (!pred_edges_[p].empty()) sum += saving(static_cast<int64_t>(p), matched_[p]);
        return sum;
    }

    Sums toggled(int64_t edge) const {
        Sums s = sums_[problem_.ref[edge]];
        int by = taken_[edge] ? -1 : 1;
        if (s.members + by == 0) return {};
        s.intersection += by * problem_.intersection[edge];
        s.excess += by * problem_.excess[edge];
        s.passing += by * (problem_.passes[edge] != 0);
        s.members += by;
        return s;
    }

    void toggle(int64_t edge) {
        sums_[problem_.ref[edge]] = toggled(edge);
        matched_[problem_.pred[edge]] += taken_[edge] ? -1 : 1;
        taken_[edge] = !taken_[edge];
    }

    // What toggling an edge adds to its reference.
    double gain(int64_t edge) const {
        int64_t ref = problem_.ref[edge];
        return worth(ref, toggled(edge)) - worth(ref, sums_[ref]);
    }

    void wait(int64_t pred) {
        if (waiting_[pred]) return;
        waiting_[pred] = true;
        queue_.push_back(pred);
    }

    void move(int64_t edge) {
        toggle(edge);
        for (int64_t other : ref_edges_[problem_.ref[edge]]) wait(problem_.pred[other]);
    }

    void settle() {
        while (!queue_.empty() && !deadline_.passed()) {
            int64_t pred = queue_.front();
            queue_.pop_front();
            waiting_[pred] = false;
            step(pred);
        }
    }

    // Makes the step that adds most.
    void step(int64_t pred) {
        double most = kLeast;
        int64_t first = kNone, second = kNone;
        int64_t pieces = matched_[pred];
        for (int64_t edge : pred_edges_[pred]) {
            double one = gain(edge);
            int64_t after = pieces + (taken_[edge] ? -1 : 1);
            double alone = one + saving(pred, after) - saving(pred, pieces);
            if (alone > most) most = alone, first = edge, second = kNone;
            if (taken_[edge]) continue;
            for (int64_t other : pred_edges_[pred]) {
                if (!taken_[other]) continue;
                double both = one + gain(other);
                if (both > most) most = both, first = edge, second = other;
            }
        }
        if (first != kNone) move(first);
        if (second != kNone) move(second);
    }

    // Toggles a random piece. A reference that loses what lets it be matched loses everything.
    void disturb() {
        int64_t edge = movable_[random_() % movable_.size()];
        int64_t ref = problem_.ref[edge];
        Sums after = toggled(edge);
        if (worth(ref, after) > -INFINITY) return move(edge);
        if (!taken_[edge]) return;
        for (int64_t other : ref_edges_[ref])
            if (taken_[other]) move(other);
    }

    void restore(const std::vector<char>& taken) {
        for (int64_t edge : movable_)
            if (taken_[edge]) toggle(edge);
        for (int64_t edge : movable_)
            if (taken[edge]) toggle(edge);
    }
};

}  // namespace panmatch
