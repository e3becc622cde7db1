// The best sets of predictions for one reference, at a fixed price of the denominator (D6).
//
// A reference of size G that takes the set S is worth
//     I(S) / (G + e(S)) + k (c(S) - 1),        e = size outside the reference, k = lambda / 2,
// where c counts the predictions that would otherwise be false positives. For a fixed number of
// counted predictions this is a ratio of sums, and the best set at ratio m consists of the largest
// I - m e: raise m to the ratio reached until it stands still.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "deadline.hpp"

namespace panmatch {

struct Candidate {
    int64_t edge, pred;
    double intersection, excess;
    bool counted;  // a false positive when unmatched
    bool passes;   // may be a reference's first prediction
};

struct Choice {
    double worth = 0;            // of leaving the reference unmatched
    std::vector<int64_t> edges;  // beside the fixed ones
    bool matched = false;
    double upper = 0;            // of any set; above `worth` only if the time was up
};

// Among equal values the one with more true positives wins (D4).
constexpr double kPairBonus = 1e-12;

// Returns the highest IoU of any set of the given candidates: at ratio m, all with I > m e.
template <typename Candidates>
double highest_ratio(double ref_size, const Candidates& candidates) {
    double ratio = 0;
    while (true) {
        double inside = 0, outside = ref_size;
        for (const auto& c : candidates)
            if (c.intersection > ratio * c.excess) inside += c.intersection, outside += c.excess;
        if (inside <= ratio * outside) return ratio;
        double reached = inside / outside;
        if (reached <= ratio) return ratio;
        ratio = reached;
    }
}

class SubsetSearch {
public:
    SubsetSearch(double ref_size, double price) : size_(ref_size), price_(price) {}

    // Returns the best set that contains all of `fixed` and any of `free`. It is not matched
    // where no such set is allowed or, with nothing fixed, where none is worth more than 0. When
    // the time is up, one number of members has been tried at least.
    Choice best(const std::vector<const Candidate*>& fixed, const std::vector<Candidate>& free,
                const Deadline& deadline) {
        start(fixed, free);
        Choice found;
        if (!can_pass()) return found;
        bound_sizes();
        bool tried = false;
        for (size_t k : most_promising_) {
            bool settled = found.matched || !any_fixed_;
            if (settled && bound_[k] <= found.worth) break;
            if (settled && tried && deadline.passed()) {
                found.upper = bound_[k];
                break;
            }
            try_size(k, found);
            tried = true;
        }
        return found;
    }

private:
    double size_, price_;
    double intersection_ = 0, excess_ = 0, fixed_count_ = 0;
    bool passed_ = false, any_fixed_ = false;
    std::vector<const Candidate*> counted_, dismissed_, chosen_;
    std::vector<double> bound_;          // per number of counted members: no set is worth more
    std::vector<size_t> most_promising_;  // numbers of members, highest bound first

    void start(const std::vector<const Candidate*>& fixed, const std::vector<Candidate>& free) {
        intersection_ = excess_ = fixed_count_ = 0;
        passed_ = false;
        any_fixed_ = !fixed.empty();
        counted_.clear();
        dismissed_.clear();
        for (const Candidate* c : fixed) take(*c);
        for (const Candidate& c : free) (c.counted ? counted_ : dismissed_).push_back(&c);
    }

    void take(const Candidate& c) {
        intersection_ += c.intersection;
        excess_ += c.excess;
        fixed_count_ += c.counted;
        passed_ = passed_ || c.passes;
    }

    bool can_pass() const {
        auto passes = [](const Candidate* c) { return c->passes; };
        return passed_ || std::any_of(counted_.begin(), counted_.end(), passes) ||
               std::any_of(dismissed_.begin(), dismissed_.end(), passes);
    }

    // No k members share more than the k largest intersections, or reach out less than the k
    // smallest excesses.
    void bound_sizes() {
        size_t n = counted_.size();
        std::vector<double> inside(n), outside(n);
        for (size_t i = 0; i < n; ++i)
            inside[i] = counted_[i]->intersection, outside[i] = counted_[i]->excess;
        std::sort(inside.begin(), inside.end(), std::greater<double>());
        std::sort(outside.begin(), outside.end());
        double most = intersection_, least = size_ + excess_;
        for (const Candidate* c : dismissed_) most += c->intersection;
        bound_.resize(n + 1);
        for (size_t k = 0; k <= n; ++k) {
            if (k > 0) most += inside[k - 1], least += outside[k - 1];
            bound_[k] = worth_of(most / least * (1 + 1e-12), k);
        }
        most_promising_.resize(n + 1);
        std::iota(most_promising_.begin(), most_promising_.end(), size_t{0});
        std::stable_sort(most_promising_.begin(), most_promising_.end(),
                         [&](size_t a, size_t b) { return bound_[a] > bound_[b]; });
    }

    double worth_of(double ratio, size_t k) const {
        return ratio + price_ * (fixed_count_ + static_cast<double>(k) - 1) + kPairBonus;
    }

    void try_size(size_t k, Choice& found) {
        double ratio = 0;
        std::vector<const Candidate*> best_chosen;
        bool feasible = false;
        while (choose(k, ratio)) {
            double inside = intersection_, outside = excess_;
            for (const Candidate* c : chosen_) inside += c->intersection, outside += c->excess;
            double reached = inside / (size_ + outside);
            if (feasible && reached <= ratio) break;
            feasible = true;
            ratio = reached;
            best_chosen = chosen_;
        }
        if (!feasible) return;
        double worth = worth_of(ratio, k);
        bool better = worth > found.worth || (any_fixed_ && !found.matched);
        if (!better) return;
        found = {worth, {}, true, worth};
        for (const Candidate* c : best_chosen) found.edges.push_back(c->edge);
    }

    // Fills `chosen_` with the k counted and any dismissed candidates of largest I - ratio e,
    // at least one of which passes. False if that cannot be.
    bool choose(size_t k, double ratio) {
        auto gain = [&](const Candidate* c) { return c->intersection - ratio * c->excess; };
        std::sort(counted_.begin(), counted_.end(), [&](const Candidate* a, const Candidate* b) {
            double left = gain(a), right = gain(b);
            return left != right ? left > right : a->edge < b->edge;
        });
        chosen_.assign(counted_.begin(), counted_.begin() + k);
        for (const Candidate* c : dismissed_)
            if (gain(c) > 0) chosen_.push_back(c);
        bool passed = passed_;
        for (const Candidate* c : chosen_) passed = passed || c->passes;
        return passed || add_passing(k, gain);
    }

    // Swaps the weakest counted candidate for the best passing one, or adds a dismissed one.
    template <typename Gain>
    bool add_passing(size_t k, Gain&& gain) {
        const Candidate *swap = nullptr, *extra = nullptr;
        if (k > 0)
            for (size_t i = k; i < counted_.size() && swap == nullptr; ++i)
                if (counted_[i]->passes) swap = counted_[i];
        for (const Candidate* c : dismissed_)
            if (c->passes && (extra == nullptr || gain(c) > gain(extra))) extra = c;
        if (swap == nullptr && extra == nullptr) return false;
        bool use_extra = swap == nullptr ||
                         (extra != nullptr && gain(extra) > gain(swap) - gain(counted_[k - 1]));
        if (use_extra) chosen_.push_back(extra);
        else chosen_[k - 1] = swap;
        return true;
    }
};

}  // namespace panmatch
