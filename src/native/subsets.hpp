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
#include <vector>

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
};

// Among equal values the one with more true positives wins (D4).
constexpr double kPairBonus = 1e-12;

class SubsetSearch {
public:
    SubsetSearch(double ref_size, double price) : size_(ref_size), price_(price) {}

    // Returns the best set that contains all of `fixed` and any of `free`. It is not matched
    // where no such set is allowed or, with nothing fixed, where none is worth more than 0.
    Choice best(const std::vector<const Candidate*>& fixed, const std::vector<Candidate>& free) {
        start(fixed, free);
        Choice found;
        for (size_t k = 0; k <= counted_.size(); ++k) try_size(k, found);
        return found;
    }

private:
    double size_, price_;
    double intersection_ = 0, excess_ = 0, fixed_count_ = 0;
    bool passed_ = false, any_fixed_ = false;
    std::vector<const Candidate*> counted_, dismissed_, chosen_;

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
        double counted = fixed_count_ + static_cast<double>(k);
        double worth = ratio + price_ * (counted - 1) + kPairBonus;
        bool better = worth > found.worth || (any_fixed_ && !found.matched);
        if (!better) return;
        found = {worth, {}, true};
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
