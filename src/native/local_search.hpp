// Better selections by small steps: a prediction moves, and may push another one out (D6).
//
// A step takes a prediction to another reference or to none; one that is there already may give
// way to it and move on itself. Steps that add to the total are taken until there are none. Then
// a few predictions are moved at random, and the outcome is kept unless the total fell.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "deadline.hpp"
#include "packing.hpp"

namespace panmatch {

class LocalSearch {
public:
    // `chosen` is a feasible choice of edges. Only references that are `active` take part, with
    // whole components of the graph.
    LocalSearch(const PackProblem& problem, const std::vector<uint8_t>& chosen,
                const std::vector<uint8_t>& active, const Deadline& deadline)
        : problem_(problem), deadline_(deadline), watch_(deadline),
          ref_edges_(problem.ref_size.size()), pred_edges_(problem.n_pred), owner_(problem.n_pred, kNone),
          sums_(problem.ref_size.size()), members_(problem.ref_size.size()),
          waiting_(problem.n_pred, false) {
        for (size_t e = 0; e < problem.ref.size(); ++e) {
            if (!active[problem.ref[e]]) continue;
            ref_edges_[problem.ref[e]].push_back(static_cast<int64_t>(e));
            pred_edges_[problem.pred[e]].push_back(static_cast<int64_t>(e));
            if (chosen[e]) put(static_cast<int64_t>(e));
        }
    }

    void run(int64_t kicks) {
        for (size_t p = 0; p < owner_.size(); ++p)
            if (!pred_edges_[p].empty()) movable_.push_back(static_cast<int64_t>(p)), wait(p);
        settle();
        if (movable_.empty()) return;
        auto best = owner_;
        double best_total = total();
        int64_t patience = kLeastPatience + 2 * static_cast<int64_t>(movable_.size());
        int64_t last = 0;
        for (int64_t kick = 0; kick < kicks && kick - last < patience; ++kick) {
            if (deadline_.passed()) break;
            for (int times = 0; times < 2; ++times) disturb();
            settle();
            double reached = total();
            if (reached > best_total + kLeast) last = kick;
            if (reached >= best_total) best = owner_, best_total = reached;
            else restore(best);
        }
        restore(best);
    }

    std::vector<uint8_t> chosen(const std::vector<uint8_t>& before,
                                const std::vector<uint8_t>& active) const {
        std::vector<uint8_t> found = before;
        for (size_t e = 0; e < found.size(); ++e)
            if (active[problem_.ref[e]])
                found[e] = owner_[problem_.pred[e]] == static_cast<int64_t>(e);
        return found;
    }

private:
    static constexpr int64_t kNone = -1, kLeastPatience = 50;

    struct Sums {
        double intersection = 0, excess = 0;
        int64_t counted = 0, passing = 0, members = 0;
    };

    // Prediction of `edge` goes there; `out`, a member of that reference, leaves for `onward`.
    struct Step {
        double gain = kLeast;
        int64_t edge = kNone, out = kNone, onward = kNone;
    };
    static constexpr double kLeast = 1e-13;
    static constexpr size_t kMostToPushOut = 64;  // members of a reference that are tried in turn

    const PackProblem& problem_;
    const Deadline& deadline_;
    Watch watch_;
    std::vector<std::vector<int64_t>> ref_edges_, pred_edges_;
    std::vector<int64_t> owner_;  // per prediction: its matched edge
    std::vector<Sums> sums_;
    std::vector<std::vector<int64_t>> members_;  // per reference: its matched edges
    std::vector<char> waiting_;
    std::deque<int64_t> queue_;
    std::vector<int64_t> movable_;
    std::minstd_rand random_{1};

    Sums with(Sums s, int64_t edge, int by) const {
        s.intersection += by * problem_.intersection[edge];
        s.excess += by * problem_.excess[edge];
        s.counted += by * (problem_.counted[edge] != 0);
        s.passing += by * (problem_.passes[edge] != 0);
        s.members += by;
        return s;
    }

    double worth(int64_t ref, const Sums& s) const {
        if (s.members == 0) return 0.0;
        if (s.passing == 0) return -INFINITY;
        return s.intersection / (problem_.ref_size[ref] + s.excess) +
               problem_.price * static_cast<double>(s.counted - 1) + kPairBonus;
    }

    double worth(int64_t ref) const { return worth(ref, sums_[ref]); }

    double total() const {
        double sum = 0;
        for (size_t r = 0; r < sums_.size(); ++r) sum += worth(static_cast<int64_t>(r));
        return sum;
    }

    void put(int64_t edge) {
        owner_[problem_.pred[edge]] = edge;
        Sums& s = sums_[problem_.ref[edge]];
        s = with(s, edge, 1);
        members_[problem_.ref[edge]].push_back(edge);
    }

    void remove(int64_t edge) {
        owner_[problem_.pred[edge]] = kNone;
        Sums& s = sums_[problem_.ref[edge]];
        s = s.members == 1 ? Sums{} : with(s, edge, -1);
        auto& members = members_[problem_.ref[edge]];
        members.erase(std::find(members.begin(), members.end(), edge));
    }

    void restore(const std::vector<int64_t>& owner) {
        std::fill(sums_.begin(), sums_.end(), Sums{});
        std::fill(owner_.begin(), owner_.end(), kNone);
        for (auto& members : members_) members.clear();
        for (int64_t edge : owner)
            if (edge != kNone) put(edge);
    }

    void wait(int64_t pred) {
        if (waiting_[pred]) return;
        waiting_[pred] = true;
        queue_.push_back(pred);
    }

    void wake_candidates(int64_t ref) {
        for (int64_t edge : ref_edges_[ref]) wait(problem_.pred[edge]);
    }

    void settle() {
        while (!queue_.empty()) {
            int64_t pred = queue_.front();
            queue_.pop_front();
            waiting_[pred] = false;
            if (watch_.passed()) continue;
            Step step = best_step(pred);
            if (step.gain > kLeast) take(pred, step);
        }
    }

    Step best_step(int64_t pred) {
        Step best;
        int64_t from = owner_[pred];
        double left = 0;  // what the reference that it leaves gains
        Sums rest;
        if (from != kNone) {
            int64_t ref = problem_.ref[from];
            rest = with(sums_[ref], from, -1);
            left = worth(ref, rest) - worth(ref);
            if (left > best.gain) best = {left, kNone, kNone, kNone};
        }
        if (left == -INFINITY) return best;
        for (int64_t edge : pred_edges_[pred])
            if (edge != from && !watch_.passed()) consider(edge, from, left, rest, best);
        return best;
    }

    void consider(int64_t edge, int64_t from, double left, const Sums& rest, Step& best) const {
        int64_t ref = problem_.ref[edge];
        double before = worth(ref), gain = left + worth(ref, with(sums_[ref], edge, 1)) - before;
        if (gain > best.gain) best = {gain, edge, kNone, kNone};
        if (members_[ref].size() > kMostToPushOut) return;
        for (int64_t out : members_[ref]) {
            int64_t other = problem_.pred[out];
            Sums after = with(with(sums_[ref], out, -1), edge, 1);
            double swapped = left + worth(ref, after) - before;
            if (swapped > best.gain) best = {swapped, edge, out, kNone};
            for (int64_t onward : pred_edges_[other]) {
                if (onward == out) continue;
                int64_t next = problem_.ref[onward];
                bool home = from != kNone && next == problem_.ref[from];
                const Sums& there = home ? rest : sums_[next];
                double moved = swapped + worth(next, with(there, onward, 1)) - worth(next, there);
                if (moved > best.gain) best = {moved, edge, out, onward};
            }
        }
    }

    void take(int64_t pred, const Step& step) {
        int64_t from = owner_[pred];
        if (from != kNone) remove(from), wake_candidates(problem_.ref[from]);
        if (step.edge == kNone) return;
        if (step.out != kNone) remove(step.out);
        put(step.edge);
        wake_candidates(problem_.ref[step.edge]);
        if (step.onward != kNone) put(step.onward), wake_candidates(problem_.ref[step.onward]);
    }

    // Moves a random prediction along a random edge. A reference that loses what lets it be
    // matched loses everything.
    void disturb() {
        int64_t pred = movable_[random_() % movable_.size()];
        const auto& edges = pred_edges_[pred];
        int64_t edge = edges[random_() % edges.size()], from = owner_[pred];
        if (edge == from) return dissolve(problem_.ref[edge]);
        int64_t to = problem_.ref[edge];
        if (worth(to, with(sums_[to], edge, 1)) == -INFINITY) return;
        if (from != kNone) {
            int64_t ref = problem_.ref[from];
            remove(from);
            if (worth(ref) == -INFINITY) dissolve(ref);
            wake_candidates(ref);
        }
        put(edge);
        wake_candidates(to);
    }

    void dissolve(int64_t ref) {
        while (!members_[ref].empty()) remove(members_[ref].back());
        wake_candidates(ref);
    }
};

}  // namespace panmatch
