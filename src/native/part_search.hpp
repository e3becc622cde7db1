// The best set of predictions for one reference if parts decide, at prices (D6, D9).
//
// The quality of a set S is the mean, over the labels that occur, of (H + h(S)) / (U + u(S)), where
// h and u add up over the members: at least 0 for a part, at most 0 for background. A label that the
// reference lacks has H = U = 0 and every h = 0; it adds nothing to the sum, but counts once a member
// has it. If nothing occurs at all, the quality is the IoU.
//
// Let S be the set so far, T any of the rest, and m the ratio of a label. Each label has two bounds
// that are sums over T. With m the ratio of S and g = h - m u, the ratio changes by
//     g(T) / (U + u(T)) <= sum of g / (U + u) where g >= 0, and of g / (largest U) where g < 0.
// With m the highest ratio of any T, H + h(T) - m (U + u(T)) is at most 0, so the ratio is at most
//     m + (H + h(T) - m (U + u(T))) / (largest U).
// Both bound the sum over labels together with what each member saves and costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "deadline.hpp"

namespace panmatch {

// Among equal values the one with more true positives wins (D4).
constexpr double kPartPairBonus = 1e-12;
constexpr double kPartRounding = 1e-14;

struct PartCandidate {
    int64_t edge, pred;
    std::vector<double> hits, whole;  // h and u of every term
    std::vector<int> strange;         // labels that the reference lacks and the prediction has
    bool counted;                     // a false positive when unmatched
    bool passes;                      // may be a reference's first prediction
};

struct PartRef {
    std::vector<double> hits, whole;  // H and U of every term: labels that occur, or the IoU alone
    bool by_iou = false;              // no label occurs: the IoU counts until a strange one does
    size_t labels = 0;                // of the class, to count strange ones
    std::vector<PartCandidate> candidates;
};

// The set of highest value, 0 for none at all, and an upper bound on every value.
struct PartSet {
    double value = 0, upper = 0;
    std::vector<int> members;
};

class PartSearch {
public:
    // `cost` is what matching the reference costs.
    PartSearch(const PartRef& ref, double cost, int64_t most_nodes, const Deadline& deadline)
        : ref_(ref), cost_(cost), most_nodes_(most_nodes), watch_(deadline), hits_(ref.hits),
          whole_(ref.whole), strange_(ref.labels, 0), bound_(ref.hits.size()) {}

    // Returns the best set of the candidates in `open`; `net` has what each one saves less what it
    // costs.
    PartSet best(const std::vector<int>& open, const std::vector<double>& net) {
        net_ = &net;
        std::vector<Item> items;
        for (int place : open) items.push_back({&ref_.candidates[place], place, net[place], 0.0});
        decide_clear_cases(items);
        search(items);
        found_.upper = std::max(found_.value, open_);
        return std::move(found_);
    }

    // Returns the value of a set; -1 if it is not allowed.
    double value_of(const std::vector<int>& members, const std::vector<double>& net) {
        net_ = &net;
        for (int place : members) take(place);
        double value = members.empty() ? 0.0 : passing_ > 0 ? current() : -1.0;
        for (size_t i = members.size(); i-- > 0;) drop(members[i]);
        return value;
    }

    // Returns the highest quality of any set of all candidates, or a bound on it.
    double highest_quality() {
        std::vector<int> open(ref_.candidates.size());
        std::iota(open.begin(), open.end(), 0);
        return best(open, std::vector<double>(open.size(), 0.0)).upper;
    }

private:
    struct Item {
        const PartCandidate* candidate;
        int place;
        double net;
        double most;  // what it can add to the set at hand, at most
    };

    // A bound on one term: it is at most `base` plus a share of h - ratio u of every member.
    struct TermBound {
        double base, ratio, inner, outer;  // what gains and losses are divided by
        bool by_member;                    // divide gains by `inner` + u instead
        bool is_constant;

        double share(double hits, double whole) const {
            if (is_constant) return 0.0;
            double gain = hits - ratio * whole;
            if (gain < 0) return gain / outer;
            return gain / (by_member ? inner + std::max(whole, 0.0) : outer);
        }
    };

    const PartRef& ref_;
    double cost_;
    int64_t most_nodes_, nodes_ = 0;
    Watch watch_;
    const std::vector<double>* net_ = nullptr;
    std::vector<double> hits_, whole_;  // of the set so far
    std::vector<int> strange_;          // members with that label
    int strange_labels_ = 0, passing_ = 0;
    std::vector<int> members_;
    std::vector<TermBound> bound_;
    PartSet found_;
    double open_ = -INFINITY;  // a bound on what was left unsearched

    void take(int place) { change(place, 1); }
    void drop(int place) { change(place, -1); }

    // Counts are whole numbers, so that taking and dropping cancel out.
    void change(int place, int sign) {
        const PartCandidate& c = ref_.candidates[place];
        for (size_t t = 0; t < hits_.size(); ++t) {
            hits_[t] += sign * c.hits[t];
            whole_[t] += sign * c.whole[t];
        }
        for (int label : c.strange) {
            strange_labels_ -= strange_[label] > 0;
            strange_[label] += sign;
            strange_labels_ += strange_[label] > 0;
        }
        passing_ += sign * c.passes;
        if (sign > 0) members_.push_back(place);
        else members_.pop_back();
    }

    double quality() const {
        if (ref_.by_iou && strange_labels_ > 0) return 0.0;
        double sum = 0;
        int labels = strange_labels_;
        for (size_t t = 0; t < hits_.size(); ++t)
            if (whole_[t] > 0) sum += hits_[t] / whole_[t], ++labels;
        return labels > 0 ? sum / labels : 0.0;
    }

    double current() const { return quality() + net_of_members() - cost_ + kPartPairBonus; }

    double net_of_members() const {
        double net = 0;
        for (int place : members_) net += (*net_)[place];
        return net;
    }

    void visit() {
        ++nodes_;
        if (passing_ == 0) return;
        double value = current();
        if (value <= found_.value) return;
        found_.value = value;
        found_.members = members_;
    }

    // The highest ratio of a term with any of the items: at a ratio m, those with h > m u.
    double highest_ratio(size_t t, const std::vector<Item>& items) const {
        double ratio = hits_[t] / whole_[t];
        while (true) {
            double hits = hits_[t], whole = whole_[t];
            for (const Item& item : items) {
                double h = item.candidate->hits[t], u = item.candidate->whole[t];
                if (h > ratio * u) hits += h, whole += u;
            }
            double reached = hits / whole;
            if (!(reached > ratio)) return ratio;
            ratio = reached;
        }
    }

    std::pair<double, double> range_of_whole(size_t t, const std::vector<Item>& items) const {
        double least = whole_[t], most = whole_[t];
        for (const Item& item : items) {
            double u = item.candidate->whole[t];
            (u < 0 ? least : most) += u;
        }
        return {least, most};
    }

    // Takes what adds to every set, and removes what takes away from every set. What passes may
    // let others in, and stays.
    void decide_clear_cases(std::vector<Item>& items) {
        size_t n = hits_.size();
        std::vector<double> least(n), highest(n);
        for (size_t t = 0; t < n; ++t) {
            least[t] = range_of_whole(t, items).first;
            if (!(least[t] > 0)) return;  // background may vanish
            highest[t] = highest_ratio(t, items);
        }
        double labels = static_cast<double>(n);
        auto adds = [&](const Item& item) {
            if (!item.candidate->strange.empty()) return false;
            double lost = 0;
            for (size_t t = 0; t < n; ++t) {
                double h = item.candidate->hits[t], u = item.candidate->whole[t];
                lost += std::min(0.0, u < 0 ? h : h - highest[t] * u) / (least[t] + std::max(u, 0.0));
            }
            return item.net + lost / labels > 0;
        };
        auto rest = std::stable_partition(items.begin(), items.end(), adds);
        for (auto item = items.begin(); item != rest; ++item) take(item->place);
        items.erase(items.begin(), rest);
        auto takes_away = [&](const Item& item) {
            double won = 0;
            for (size_t t = 0; t < n; ++t) {
                double h = item.candidate->hits[t], u = item.candidate->whole[t];
                won += std::max(0.0, u < 0 ? h - u : h) / (least[t] + std::max(u, 0.0));
            }
            return item.net + won / labels < 0 && (passing_ > 0 || !item.candidate->passes);
        };
        items.erase(std::remove_if(items.begin(), items.end(), takes_away), items.end());
    }

    TermBound bound_term(size_t t, const std::vector<Item>& items) const {
        auto [least, most] = range_of_whole(t, items);
        if (!(least > 0)) return {1.0, 0, 1, 1, false, true};
        double ratio = hits_[t] / whole_[t];
        TermBound from_here{ratio, ratio, least, most, true, false};
        double top = highest_ratio(t, items);
        double below = (hits_[t] - top * whole_[t]) / most;
        TermBound from_top{top + below, top, most, most, false, false};
        double here = from_here.base, there = from_top.base;
        for (const Item& item : items) {
            double h = item.candidate->hits[t], u = item.candidate->whole[t];
            here += std::max(0.0, from_here.share(h, u));
            there += std::max(0.0, from_top.share(h, u));
        }
        return here < there ? from_here : from_top;
    }

    // Sets what each item can add at most, sorts by it, and returns the value to add it to.
    double rank(std::vector<Item>& items) {
        double base = 0;
        int labels = strange_labels_;
        bool nothing = ref_.by_iou && strange_labels_ > 0;
        for (size_t t = 0; t < bound_.size() && !nothing; ++t) {
            if (!(whole_[t] > 0)) {  // vanished
                bound_[t] = {0, 0, 1, 1, false, true};
                continue;
            }
            bound_[t] = bound_term(t, items);
            base += bound_[t].base;
            ++labels;
        }
        double share = nothing ? 0.0 : 1.0 / std::max(labels, 1);
        for (Item& item : items) {
            double added = 0;
            for (size_t t = 0; t < bound_.size() && !nothing; ++t)
                added += bound_[t].share(item.candidate->hits[t], item.candidate->whole[t]);
            item.most = item.net + share * added;
        }
        std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
            return a.most != b.most ? a.most > b.most : a.place < b.place;
        });
        return net_of_members() + share * base;
    }

    void search(std::vector<Item>& items) {
        visit();
        double base = rank(items) - cost_ + kPartPairBonus + kPartRounding;
        double later = 0;
        bool can_pass = passing_ > 0;
        for (const Item& item : items) {
            later += std::max(0.0, item.most);
            can_pass = can_pass || item.candidate->passes;
        }
        if (!can_pass) return;
        for (size_t i = 0; i < items.size(); ++i) {
            later -= std::max(0.0, items[i].most);
            double bound = base + items[i].most + later;
            if (bound <= found_.value) return;
            if (nodes_ >= most_nodes_ || watch_.passed()) {
                open_ = std::max(open_, bound);
                return;
            }
            take(items[i].place);
            std::vector<Item> rest(items.begin() + static_cast<std::ptrdiff_t>(i) + 1, items.end());
            search(rest);
            drop(items[i].place);
        }
    }
};

}  // namespace panmatch
