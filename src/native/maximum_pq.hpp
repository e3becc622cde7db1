// The matching of maximum PQ where every reference takes one prediction at most (D6).
//
// PQ = N / (S + T) up to a constant factor: N adds up qualities, S is the number of segments that
// count, and T the number of matched references less that of the predictions whose false positive
// they save. At a price k on T the problem falls apart over connected components, and the best
// choice of a component, as a function of k, is the upper envelope of a few lines N - kT. Each
// choice is kept with the prices at which it is the best one, so that only those components are
// solved again that lost a matched edge, or whose interval the price has left. Raising the
// threshold lowers the largest PQ, so a whole sweep touches each of them a few times.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "assignment.hpp"

namespace panmatch {

// Edges between references and whole predictions.
struct CoverProblem {
    std::vector<int64_t> ref, pred;
    std::vector<double> quality, score;  // per edge
    std::vector<uint8_t> counted;        // per prediction: a false positive when unmatched
    int64_t n_ref;
    bool exclusive;  // whether a prediction serves one reference at most
};

// A matching of one component, and the prices at which none is worth more.
struct CoverChoice {
    std::vector<int64_t> edges;
    double quality = 0;
    int64_t extra = 0;  // matched references less counted predictions among their partners
    double low = 0, high = 0;

    double worth(double price) const { return quality - price * static_cast<double>(extra); }
};

class CoverComponent {
public:
    CoverComponent(const CoverProblem& problem, std::vector<int64_t> edges)
        : problem_(&problem), alive_(std::move(edges)) {
        for (int64_t e : alive_) {
            refs_.push_back(problem.ref[e]);
            preds_.push_back(problem.pred[e]);
        }
        for (auto* ends : {&refs_, &preds_}) {
            std::sort(ends->begin(), ends->end());
            ends->erase(std::unique(ends->begin(), ends->end()), ends->end());
        }
    }

    const CoverChoice& at(double price) {
        for (const auto& choice : choices_)
            if (choice.low <= price && price <= choice.high) return choice;
        CoverChoice found = solve(price);
        found.low = price > 0 ? interval_end(found, price, 0) : 0;
        found.high = price < kHighest ? interval_end(found, price, kHighest) : kHighest;
        choices_.push_back(std::move(found));
        return choices_.back();
    }

    // A choice without the edge stays as good as it was; one that needs it is gone.
    void remove(int64_t edge) {
        alive_.erase(std::find(alive_.begin(), alive_.end(), edge));
        auto needs = [&](const CoverChoice& choice) {
            return std::find(choice.edges.begin(), choice.edges.end(), edge) != choice.edges.end();
        };
        choices_.erase(std::remove_if(choices_.begin(), choices_.end(), needs), choices_.end());
    }

private:
    static constexpr double kHighest = 0.5;    // PQ is at most 1, and a price is half of it
    static constexpr double kRounding = 1e-12;
    static constexpr int64_t kNone = -1;

    const CoverProblem* problem_;
    std::vector<int64_t> alive_, refs_, preds_;
    std::vector<CoverChoice> choices_;

    static size_t place(const std::vector<int64_t>& ends, int64_t vertex) {
        return std::lower_bound(ends.begin(), ends.end(), vertex) - ends.begin();
    }

    // The interval ends where the line of the choice meets that of the next one: solve where the
    // lines of two choices cross, until nothing there is worth more.
    double interval_end(const CoverChoice& choice, double price, double end) const {
        CoverChoice other = solve(end);
        while (other.extra != choice.extra) {
            double crossing = (other.quality - choice.quality) /
                              static_cast<double>(other.extra - choice.extra);
            if (end < price ? crossing >= price : crossing <= price) return price;
            CoverChoice between = solve(crossing);
            bool last = between.worth(crossing) <= choice.worth(crossing) + kRounding;
            if (last || between.extra == other.extra) return crossing;
            other = std::move(between);
        }
        return end;
    }

    CoverChoice solve(double price) const {
        std::vector<int64_t> partner = problem_->exclusive ? assign_all(price) : cover(price);
        CoverChoice choice;
        std::vector<char> used(preds_.size(), false);
        for (int64_t e : partner) {
            if (e == kNone) continue;
            choice.edges.push_back(e);
            choice.quality += problem_->quality[e];
            size_t pred = place(preds_, problem_->pred[e]);
            bool saves = problem_->counted[problem_->pred[e]] && !used[pred];
            used[pred] = true;
            choice.extra += saves ? 0 : 1;
        }
        return choice;
    }

    // Every prediction serves one reference: one that is not counted costs a price.
    std::vector<int64_t> assign_all(double price) const {
        std::vector<int64_t> usable;
        std::vector<double> worth;
        for (int64_t e : alive_) {
            double value = problem_->quality[e] - (problem_->counted[problem_->pred[e]] ? 0 : price);
            if (value < 0) continue;
            usable.push_back(e);
            worth.push_back(value);
        }
        return assigned(usable, worth);
    }

    // The first reference on a counted prediction is worth its quality, any other a price less. So
    // a reference can fall back on its best prediction, and what it can gain by being first
    // somewhere is an assignment.
    std::vector<int64_t> cover(double price) const {
        std::vector<int64_t> best(refs_.size(), kNone);
        for (int64_t e : alive_) {
            int64_t& mine = best[place(refs_, problem_->ref[e])];
            if (mine == kNone || problem_->quality[e] > problem_->quality[mine]) mine = e;
        }
        std::vector<int64_t> useful;
        std::vector<double> gain;
        for (int64_t e : alive_) {
            double fallback = problem_->quality[best[place(refs_, problem_->ref[e])]] - price;
            double more = problem_->quality[e] - std::max(0.0, fallback);
            if (more <= 0 || !problem_->counted[problem_->pred[e]]) continue;
            useful.push_back(e);
            gain.push_back(more);
        }
        std::vector<int64_t> partner = assigned(useful, gain);
        for (size_t r = 0; r < partner.size(); ++r)
            if (partner[r] == kNone && best[r] != kNone && problem_->quality[best[r]] >= price)
                partner[r] = best[r];
        return partner;
    }

    std::vector<int64_t> assigned(const std::vector<int64_t>& edges,
                                  const std::vector<double>& worth) const {
        std::vector<int64_t> partner(refs_.size(), kNone);
        if (edges.size() <= 1) {
            for (int64_t e : edges) partner[place(refs_, problem_->ref[e])] = e;
            return partner;
        }
        std::vector<int64_t> ref, pred, weight;
        for (size_t i = 0; i < edges.size(); ++i) {
            ref.push_back(static_cast<int64_t>(place(refs_, problem_->ref[edges[i]])));
            pred.push_back(static_cast<int64_t>(place(preds_, problem_->pred[edges[i]])));
            weight.push_back(to_weight(worth[i]));
        }
        Bipartite graph(std::move(ref), std::move(pred), static_cast<int64_t>(refs_.size()),
                        static_cast<int64_t>(preds_.size()));
        Assignment assignment(graph, weight);
        const auto& matched = assignment.history().matched();
        for (size_t i = 0; i < edges.size(); ++i)
            if (matched[i]) partner[graph.vertex[kRef][i]] = edges[i];
        return partner;
    }

    // Whole multiples of 2**-60; among totals equal up to rounding the one with more pairs wins.
    static int64_t to_weight(double worth) {
        constexpr int64_t kPairBonus = int64_t{1} << 26;
        return static_cast<int64_t>(std::llround(std::ldexp(worth, 60))) + kPairBonus;
    }
};

class MaximumPq {
public:
    explicit MaximumPq(const CoverProblem& problem)
        : problem_(problem), history_(static_cast<int64_t>(problem.ref.size())),
          segments_(problem.n_ref) {
        for (uint8_t counted : problem.counted) segments_ += counted ? 1 : 0;
        find_components();
        chosen_.resize(components_.size());
        for (size_t c = 0; c < components_.size(); ++c) choose(c);
        settle();
    }

    const MatchingHistory& history() const { return history_; }
    int64_t rounds() const { return rounds_; }

    // Removes edges by rising score and tells when each edge was matched.
    Intervals sweep() {
        std::vector<int64_t> order(problem_.score.size());
        std::iota(order.begin(), order.end(), int64_t{0});
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
            return problem_.score[a] < problem_.score[b];
        });
        for (size_t i = 0; i < order.size() && problem_.score[order[i]] < 1.0;) {
            double threshold = problem_.score[order[i]];
            history_.move_to(threshold);
            std::set<size_t> stale;
            for (; i < order.size() && problem_.score[order[i]] == threshold; ++i) {
                size_t c = component_of_[order[i]];
                components_[c].remove(order[i]);
                if (history_.matched(order[i])) stale.insert(c);
            }
            for (size_t c : stale) choose(c);
            if (!stale.empty()) settle();
        }
        return history_.finish();
    }

private:
    static constexpr int kMostRounds = 100;
    using ByPrice = std::set<std::pair<double, size_t>>;

    const CoverProblem& problem_;
    MatchingHistory history_;
    std::vector<CoverComponent> components_;
    std::vector<size_t> component_of_;  // of every edge
    std::vector<CoverChoice> chosen_;
    ByPrice by_low_, by_high_;
    double quality_ = 0, price_ = 0;
    int64_t segments_, extra_ = 0, rounds_ = 0;

    void find_components() {
        size_t n_ref = static_cast<size_t>(problem_.n_ref);
        std::vector<size_t> parent(n_ref + problem_.counted.size());
        std::iota(parent.begin(), parent.end(), size_t{0});
        auto root = [&](size_t v) {
            while (parent[v] != v) v = parent[v] = parent[parent[v]];
            return v;
        };
        for (size_t e = 0; e < problem_.ref.size(); ++e)
            parent[root(static_cast<size_t>(problem_.ref[e]))] =
                root(n_ref + static_cast<size_t>(problem_.pred[e]));
        std::vector<std::vector<int64_t>> edges;
        std::vector<size_t> number(parent.size(), parent.size());
        component_of_.resize(problem_.ref.size());
        for (size_t e = 0; e < problem_.ref.size(); ++e) {
            size_t& mine = number[root(static_cast<size_t>(problem_.ref[e]))];
            if (mine == parent.size()) {
                mine = edges.size();
                edges.emplace_back();
            }
            edges[mine].push_back(static_cast<int64_t>(e));
            component_of_[e] = mine;
        }
        for (auto& own : edges) components_.emplace_back(problem_, std::move(own));
    }

    // Takes the best choice of a component at the current price.
    void choose(size_t c) {
        CoverChoice& old = chosen_[c];
        by_low_.erase({old.low, c});
        by_high_.erase({old.high, c});
        quality_ -= old.quality;
        extra_ -= old.extra;
        for (int64_t e : old.edges) history_.set(e, false);
        old = components_[c].at(price_);
        for (int64_t e : old.edges) history_.set(e, true);
        quality_ += old.quality;
        extra_ += old.extra;
        by_low_.insert({old.low, c});
        by_high_.insert({old.high, c});
    }

    // Dinkelbach's method: the price becomes the ratio reached, until no choice changes.
    void settle() {
        for (int round = 0; round < kMostRounds; ++round) {
            int64_t whole = segments_ + extra_;
            price_ = whole > 0 ? std::max(0.0, quality_ / static_cast<double>(whole)) : 0.0;
            ++rounds_;
            std::vector<size_t> outdated;
            for (auto at = by_low_.rbegin(); at != by_low_.rend() && at->first > price_; ++at)
                outdated.push_back(at->second);
            for (auto at = by_high_.begin(); at != by_high_.end() && at->first < price_; ++at)
                outdated.push_back(at->second);
            if (outdated.empty()) return;
            for (size_t c : outdated) choose(c);
        }
    }
};

}  // namespace panmatch
