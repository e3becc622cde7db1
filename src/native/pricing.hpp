// Prices on contested predictions: an upper bound on every selection, and a good selection (D6).
//
// Let every reference take the set that is worth most after paying for its contested members. The
// sum of what is left, plus all prices, bounds the worth of every selection in which no
// prediction is taken twice. Prices rise where too many want a prediction and fall where nobody
// does (the subgradient method), which lowers the bound.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "columns.hpp"

namespace panmatch {

class Pricing {
public:
    Pricing(const Component& component, double half_lambda)
        : component_(component), half_lambda_(half_lambda), price_(component.wants.size(), 0.0) {
        best_ = rounded(price_);
    }

    const Selection& best() const { return best_; }
    double upper() const { return upper_; }

    void run(int rounds, std::chrono::steady_clock::time_point deadline) {
        std::vector<double> price = price_;
        double step = 1.0;
        for (int round = 0; round < rounds && upper_ - best_.worth > kSlack; ++round) {
            if (std::chrono::steady_clock::now() > deadline) break;
            std::vector<int> uses(price.size(), 0);
            double bound = std::accumulate(price.begin(), price.end(), 0.0);
            for (size_t r = 0; r < component_.refs.size(); ++r) {
                Column top = best_set(r, price, kAll);
                bound += top.worth;
                component_.each_member(r, top.members, [&](int p) { ++uses[p]; });
            }
            if (bound >= upper_ - 1e-9) step *= 0.95;
            if (bound < upper_) upper_ = bound, price_ = price;
            if (round % 5 == 0) improve(rounded(price));
            double length = 0;
            for (int use : uses) length += (use - 1.0) * (use - 1.0);
            if (length == 0) break;
            double move = step * std::max(bound - best_.worth, 1e-9) / length;
            for (size_t p = 0; p < uses.size(); ++p)
                price[p] = std::max(0.0, price[p] + move * (uses[p] - 1.0));
        }
        improve(rounded(price_));
    }

    // Calls keep(reference, column) for the columns that a better selection could contain.
    template <typename Keep>
    void for_open_columns(Keep&& keep) {
        double room = upper_ - best_.worth + kSlack;
        for (size_t r = 0; r < component_.refs.size(); ++r) {
            double most = best_set(r, price_, kAll).worth;
            list_sets(r, price_, kAll, room);
            for (auto [members, net] : sets_)
                if (most - net <= room) keep(component_.refs[r], members);
        }
    }

private:
    static constexpr uint32_t kAll = ~uint32_t{0};

    const Component& component_;
    double half_lambda_;
    std::vector<double> price_;
    Selection best_;
    double upper_ = INFINITY;
    std::vector<std::pair<uint32_t, double>> sets_;  // members, and worth less cost

    // What a candidate can add to a set at most: its own IoU, and half lambda.
    double most_gain(const PackRef& ref, const Candidate& c) const {
        return c.intersection / (ref.size + c.excess) + half_lambda_ * c.counted;
    }

    // A candidate that costs more than it can add is left out of the best set. Only one that lets
    // others in, which may not come without a passing one, can be worth more than it adds itself.
    uint32_t affordable(size_t r, const std::vector<double>& price, double room) const {
        const PackRef& ref = *component_.refs[r];
        double followers = -half_lambda_;
        for (const Candidate& c : ref.free)
            if (!c.passes) followers += most_gain(ref, c);
        for (size_t bit = 0; bit < ref.contested.size(); ++bit) {
            double net = most_gain(ref, ref.contested[bit]) - price[component_.preds[r][bit]];
            if (!ref.contested[bit].passes) followers += std::max(0.0, net);
        }
        uint32_t found = 0;
        for (size_t bit = 0; bit < ref.contested.size(); ++bit) {
            double net = most_gain(ref, ref.contested[bit]) - price[component_.preds[r][bit]];
            if (ref.contested[bit].passes) net += std::max(0.0, followers);
            if (net > -room) found |= 1u << bit;
        }
        return found;
    }

    // Lists the sets of allowed candidates with worth less cost; those that are more than `room`
    // below the best may be missing.
    void list_sets(size_t r, const std::vector<double>& price, uint32_t allowed, double room) {
        const PackRef& ref = *component_.refs[r];
        allowed &= affordable(r, price, room);
        sets_.assign(1, {0, 0.0});
        for (size_t bit = 0; bit < ref.contested.size(); ++bit) {
            if (!(allowed >> bit & 1)) continue;
            double cost = price[component_.preds[r][bit]];
            for (size_t i = 0, n = sets_.size(); i < n; ++i)
                sets_.push_back({sets_[i].first | 1u << bit, sets_[i].second + cost});
        }
        for (auto& [members, net] : sets_)
            net = ref.worth[members] >= 0 ? ref.worth[members] - net : -INFINITY;
    }

    Column best_set(size_t r, const std::vector<double>& price, uint32_t allowed) {
        list_sets(r, price, allowed, 0.0);
        Column best{-INFINITY, 0};
        for (auto [members, net] : sets_)
            if (net > best.worth) best = {net, members};
        return best;
    }

    void improve(Selection&& found) {
        if (found.worth > best_.worth + kSlack) best_ = std::move(found);
    }

    // References take turns, those with most to gain first, each its best set of what is left.
    Selection rounded(const std::vector<double>& price) {
        size_t n = component_.refs.size();
        std::vector<size_t> order(n);
        std::iota(order.begin(), order.end(), size_t{0});
        std::vector<double> gain(n);
        for (size_t r = 0; r < n; ++r) {
            uint32_t members = best_set(r, price, kAll).members;
            gain[r] = component_.refs[r]->worth[members] - component_.refs[r]->worth[0];
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b) { return gain[a] > gain[b]; });
        std::vector<char> used(component_.wants.size(), false);
        Selection found{std::vector<uint32_t>(n, 0), 0.0};
        for (size_t r : order) {
            uint32_t left = 0;
            for (size_t bit = 0; bit < component_.preds[r].size(); ++bit)
                if (!used[component_.preds[r][bit]]) left |= 1u << bit;
            found.members[r] = best_set(r, price, left).members;
            found.worth += component_.refs[r]->worth[found.members[r]];
            component_.each_member(r, found.members[r], [&](int p) { used[p] = true; });
        }
        return found;
    }
};

}  // namespace panmatch
