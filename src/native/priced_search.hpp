// The best set of one reference when contested predictions have prices, without a table (D6).
//
// Let m = I / B be the ratio of a set S, with B = G + e(S), and h(p) = I(p) - m e(p). Adding a set
// T to S changes the ratio by h(T) / (B + e(T)), so by at most the sum over T of
//     h(p) / (B + e(p)) where h(p) >= 0,    h(p) / (B + e(all that is left)) where h(p) < 0.
// With what each member saves and costs, that bounds all sets that contain S. If T has at least j
// members, e(T) is at least e(p) plus the j - 1 smallest others, which bounds larger sets better. A
// depth-first search tries what can add most first, and leaves off where a bound says so.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "subsets.hpp"

namespace panmatch {

constexpr int kOwn = -1;

// A candidate with what it saves less what it costs.
struct PricedItem {
    double intersection, excess, net;
    bool passes;
    int place;        // among the contested candidates, or kOwn
    int twin = kOwn;  // of two items with the same number, at most one may be taken
    double most = 0;  // what it can add to the set at hand, at most
};

// A total order: libraries sort what is equal in different ways.
inline bool adds_more(const PricedItem& a, const PricedItem& b) {
    if (a.most != b.most) return a.most > b.most;
    return std::tie(a.place, a.intersection, a.excess, a.passes) <
           std::tie(b.place, b.intersection, b.excess, b.passes);
}

// The set of highest value, 0 for none at all, and an upper bound on every value.
struct PricedSet {
    double value = 0, upper = 0;
    std::vector<int> members;  // contested candidates
};

class PricedSearch {
public:
    // `half_lambda` is what matching the reference costs.
    PricedSearch(double ref_size, double half_lambda, int64_t most_nodes, const Deadline& deadline)
        : size_(ref_size), cost_(half_lambda), most_nodes_(most_nodes), deadline_(deadline) {}

    PricedSet best(std::vector<PricedItem> items) {
        decide_clear_cases(items, 0.0);
        keep_best();
        follow_ratio(items);
        search(items);
        found_.upper = std::max(found_.value, open_);
        return std::move(found_);
    }

    // Nodes times candidates.
    int64_t work() const { return work_; }

    // Lists the sets of contested candidates, with any others, whose value is above `least`, given
    // that none has a value above `least + room`. Sets may be repeated, and sets from which a
    // member of use was left out may be missing. False if the search was cut short.
    bool list(std::vector<PricedItem> items, double least, double room, size_t most_sets,
              std::vector<std::vector<int>>& sets) {
        decide_clear_cases(items, room);
        found_.value = least;
        listed_ = &sets;
        most_sets_ = most_sets;
        search(items);
        return open_ == -INFINITY;
    }

private:
    static constexpr size_t kSizes = 4;  // numbers of members that are told apart

    struct Sums {
        double intersection = 0, outside = 0, net = 0;
        bool passes = false;
    };

    double size_, cost_;
    int64_t most_nodes_, nodes_ = 0, work_ = 0;
    const Deadline& deadline_;
    Sums sums_;
    std::vector<int> members_;
    PricedSet found_;
    double open_ = -INFINITY;  // a bound on what was left unsearched
    std::vector<std::vector<int>>* listed_ = nullptr;
    size_t most_sets_ = 0;

    double value() const {
        return sums_.intersection / (size_ + sums_.outside) + sums_.net - cost_ + kPairBonus;
    }

    void take(const PricedItem& item) {
        sums_.intersection += item.intersection;
        sums_.outside += item.excess;
        sums_.net += item.net;
        sums_.passes = sums_.passes || item.passes;
        if (item.place != kOwn) members_.push_back(item.place);
    }

    void drop(const PricedItem& item, const Sums& before) {
        sums_ = before;
        if (item.place != kOwn) members_.pop_back();
    }

    // Takes what adds to every set, or more than `room` if contested, and removes what takes away
    // more than `room` from every set. What passes may let others in, and stays.
    void decide_clear_cases(std::vector<PricedItem>& items, double room) {
        double highest = highest_ratio(size_, items);
        auto is_clear = [&](const PricedItem& item) {
            if (item.twin != kOwn) return false;
            double change = std::min(0.0, item.intersection - highest * item.excess);
            double least = item.net + change / (size_ + item.excess);
            return item.place == kOwn ? least >= 0 : least > room;
        };
        auto rest = std::stable_partition(items.begin(), items.end(), is_clear);
        for (auto item = items.begin(); item != rest; ++item) take(*item);
        items.erase(items.begin(), rest);
        double inner = size_ + sums_.outside;
        auto is_hopeless = [&](const PricedItem& item) {
            double most = item.net + item.intersection / (inner + item.excess);
            return most < -room && (sums_.passes || !item.passes);
        };
        items.erase(std::remove_if(items.begin(), items.end(), is_hopeless), items.end());
    }

    void keep_best() {
        if (!sums_.passes || value() <= found_.value) return;
        found_.value = value();
        found_.members = members_;
    }

    // Takes, again and again, all that adds to the set at the ratio and size of the last one.
    void follow_ratio(const std::vector<PricedItem>& items) {
        const Sums before = sums_;
        const auto members = members_;
        for (int turn = 0; turn < 6; ++turn) {
            double whole = size_ + sums_.outside, ratio = sums_.intersection / whole;
            sums_ = before;
            members_ = members;
            for (const PricedItem& item : items) {
                double gain = item.intersection - ratio * item.excess;
                if (item.net + gain / (whole + item.excess) > 0) take(item);
            }
            keep_best();
        }
        sums_ = before;
        members_ = members;
    }

    void visit() {
        ++nodes_;
        if (listed_ == nullptr) return keep_best();
        if (sums_.passes && value() > found_.value) listed_->push_back(members_);
    }

    bool is_over() const {
        return nodes_ >= most_nodes_ || (listed_ != nullptr && listed_->size() > most_sets_) ||
               deadline_.passed();
    }

    // Returns the sum of what can be added at most, after sorting the items by it.
    double rank(std::vector<PricedItem>& items) {
        work_ += static_cast<int64_t>(items.size());
        double whole = size_ + sums_.outside, ratio = sums_.intersection / whole, rest = whole;
        for (const PricedItem& item : items) rest += item.excess;
        double sum = 0;
        for (PricedItem& item : items) {
            double gain = item.intersection - ratio * item.excess;
            item.most = item.net + gain / (gain >= 0 ? whole + item.excess : rest);
            sum += std::max(0.0, item.most);
        }
        std::sort(items.begin(), items.end(), adds_more);
        return sum;
    }

    // Returns a bound on what any of the items can add together; call after `rank`.
    double most_together(const std::vector<PricedItem>& items) const {
        double whole = size_ + sums_.outside, ratio = sums_.intersection / whole;
        std::array<double, kSizes> smallest;
        smallest.fill(INFINITY);
        for (const PricedItem& item : items) {
            double excess = item.excess;
            for (double& place : smallest)
                if (excess < place) std::swap(excess, place);
        }
        double found = items.empty() ? 0.0 : std::max(0.0, items[0].most);
        double sum = smallest[0];  // of the `others` smallest
        for (size_t others = 1; others < kSizes && others < items.size(); ++others) {
            bool is_last = others + 1 == kSizes;
            std::array<double, kSizes> top{};
            double all = 0;
            for (const PricedItem& item : items) {
                double gain = item.intersection - ratio * item.excess, most = item.most;
                if (gain > 0) {
                    bool within = item.excess <= smallest[others - 1];
                    double outside = sum + (within ? smallest[others] : item.excess);
                    most = item.net + gain / (whole + outside);
                }
                if (most <= 0) continue;
                all += most;
                for (size_t i = 0; i <= others; ++i)
                    if (most > top[i]) std::swap(most, top[i]);
            }
            double best = is_last ? all : std::accumulate(top.begin(), top.end(), 0.0);
            found = std::max(found, best);
            sum += smallest[others];
        }
        return found;
    }

    void search(std::vector<PricedItem>& items) {
        visit();
        double later = rank(items);
        double limit = value() + most_together(items) + 1e-15;
        for (size_t i = 0; i < items.size(); ++i) {
            later -= std::max(0.0, items[i].most);
            double bound = std::min(limit, value() + items[i].most + later + 1e-15);
            if (bound <= found_.value) return;
            if (is_over()) {
                open_ = std::max(open_, bound);
                return;
            }
            const Sums before = sums_;
            take(items[i]);
            std::vector<PricedItem> rest;
            for (size_t j = i + 1; j < items.size(); ++j)
                if (items[j].twin == kOwn || items[j].twin != items[i].twin)
                    rest.push_back(items[j]);
            search(rest);
            drop(items[i], before);
        }
    }
};

}  // namespace panmatch
