// Prices on contested predictions: an upper bound on every selection, and a good selection (D6).
//
// Let every reference take the set that is worth most after paying for its contested members. The
// sum of what is left, plus all prices, bounds the worth of every selection in which no
// prediction is taken twice. Prices rise where too many want a prediction and fall where nobody
// does, which lowers the bound: the subgradient method, with steps that become shorter when the
// bound stands still.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "deadline.hpp"
#include "priced_search.hpp"

namespace panmatch {

// Nodes times candidates of one search without a table: little at first, when prices are far from
// good, twice as much every few rounds, and the most for listing columns.
constexpr int64_t kLeastWork = 1 << 11, kMostWork = 1 << 16, kListWork = 1 << 22;
constexpr int64_t kWorkInAll = 1 << 25;  // of all searches between two runs
constexpr int kRoundsOfEqualWork = 16;
// The bound has to come down by that share of the gap, or no more rounds are made.
constexpr int kRoundsToProgress = 50;
constexpr double kProgress = 0.02;

// How prices move: after so many rounds without a better bound steps become shorter by that factor,
// and this share of the last direction is added to each new one.
struct Pace {
    int patience;
    double shorter, memory;
};
constexpr Pace kQuick{1, 0.95, 0.0};    // good for most components
constexpr Pace kPatient{5, 0.9, 0.5};   // where many prices are right only together

class Pricing {
public:
    // `best` is a selection to begin with, `price` may be any prices of at least 0.
    Pricing(const Component& component, double half_lambda, Selection best,
            std::vector<double> price)
        : component_(component), half_lambda_(half_lambda), price_(std::move(price)),
          best_(std::move(best)) {}

    const Selection& best() const { return best_; }
    const std::vector<double>& price() const { return price_; }
    double upper() const { return upper_; }

    void begin_with(const Selection& best) {
        if (best.worth > best_.worth) best_ = best;
    }

    // Lowers the bound and looks for better selections, until they meet.
    void run(int rounds, const Deadline& deadline, const Pace& pace = kQuick) {
        deadline_ = deadline;
        spent_ = 0;
        std::vector<double> price = price_, direction(price_.size(), 0.0);
        double step = 1.0, before = INFINITY;
        int stale = 0;
        for (int round_number = 0; round_number < rounds && is_open(); ++round_number) {
            if (round_number % kRoundsToProgress == 0) {
                if (before - upper_ < kProgress * (upper_ - best_.worth)) break;
                before = upper_;
            }
            int doubled = std::min(round_number / kRoundsOfEqualWork, 5);
            work_ = std::min(kLeastWork << doubled, kMostWork);
            std::vector<int> uses(price.size(), 0);
            std::vector<Members> wanted;
            double bound = std::accumulate(price.begin(), price.end(), 0.0);
            for (size_t r = 0; r < component_.refs.size(); ++r) {
                PricedSet top = best_set(r, price, nullptr);
                if (deadline_.passed()) return;
                bound += top.upper;
                for (int place : top.members) ++uses[component_.preds[r][place]];
                wanted.push_back(std::move(top.members));
            }
            double least = std::min(1e-9, kProgress * (upper_ - best_.worth));
            stale = bound >= upper_ - least ? stale + 1 : 0;
            if (stale == pace.patience) step *= pace.shorter, stale = 0;
            if (bound < upper_) upper_ = bound, price_ = price;
            if (round_number % 5 == 0) round(price, wanted);
            if (std::all_of(uses.begin(), uses.end(), [](int use) { return use == 1; })) break;
            double length = 0;
            for (size_t p = 0; p < uses.size(); ++p) {
                direction[p] = uses[p] - 1.0 + pace.memory * direction[p];
                length += direction[p] * direction[p];
            }
            double move = step * std::max(bound - best_.worth, kSlack) / std::max(length, 1e-9);
            for (size_t p = 0; p < uses.size(); ++p)
                price[p] = std::max(0.0, price[p] + move * direction[p]);
        }
        std::vector<Members> wanted;
        for (size_t r = 0; r < component_.refs.size() && !deadline_.passed(); ++r)
            wanted.push_back(best_set(r, price_, nullptr).members);
        if (wanted.size() == component_.refs.size()) round(price_, wanted);
    }

    // Calls keep(reference, members) for the columns that a better selection could contain, but
    // for `most` of them at most; false if that does not suffice.
    template <typename Keep>
    bool for_open_columns(size_t most, const Deadline& deadline, Keep&& keep) {
        deadline_ = deadline;
        double room = upper_ - best_.worth + kSlack;
        for (size_t r = 0; r < component_.refs.size(); ++r) {
            work_ = kMostWork;
            double highest = best_set(r, price_, nullptr).upper;
            work_ = kListWork;
            std::vector<Members> open;
            bool complete = component_.refs[r]->worth.empty()
                                ? search_sets(r, highest, room, most, open)
                                : scan_table(r, highest, room, most, open);
            if (!complete || open.size() > most || deadline_.passed()) return false;
            most -= open.size();
            for (const Members& members : open) keep(component_.refs[r], members);
        }
        return true;
    }

private:
    static constexpr uint32_t kAll = ~uint32_t{0};

    const Component& component_;
    double half_lambda_;
    std::vector<double> price_;
    Selection best_;
    Deadline deadline_{0.0};
    double upper_ = INFINITY;
    int64_t work_ = kLeastWork, spent_ = 0;
    std::vector<std::pair<uint32_t, double>> sets_;  // members, and worth less cost

    bool is_open() const {
        return upper_ - best_.worth > kSlack && spent_ < kWorkInAll && !deadline_.passed();
    }

    // What a candidate can add to a set at most: its own IoU, and half lambda.
    double most_gain(const PackRef& ref, const Candidate& c) const {
        return c.intersection / (ref.size + c.excess) + half_lambda_ * c.counted;
    }

    // A candidate that costs more than it can add is left out of the best set. Only one that lets
    // others in, which may not come without a passing one, can be worth more than it adds itself.
    uint32_t affordable(size_t r, const std::vector<double>& price, double room) const {
        const PackRef& ref = *component_.refs[r];
        if (ref.pieces) return worth_saving(r, price, room);
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

    // A piece that is not saved may still be taken.
    uint32_t worth_saving(size_t r, const std::vector<double>& price, double room) const {
        uint32_t found = 0;
        for (size_t bit = 0; bit < component_.preds[r].size(); ++bit)
            if (half_lambda_ - price[component_.preds[r][bit]] > -room) found |= 1u << bit;
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

    // Returns the best set of what is not taken yet, or of everything.
    PricedSet best_set(size_t r, const std::vector<double>& price, const std::vector<char>* taken) {
        if (component_.refs[r]->worth.empty()) {
            PricedSearch search = searcher(r);
            PricedSet best = search.best(items(r, price, taken, 0.0));
            spent_ += search.work();
            return best;
        }
        uint32_t allowed = kAll;
        for (size_t bit = 0; taken != nullptr && bit < component_.preds[r].size(); ++bit)
            if ((*taken)[component_.preds[r][bit]]) allowed &= ~(1u << bit);
        list_sets(r, price, allowed, 0.0);
        std::pair<uint32_t, double> best{0, -INFINITY};
        for (const auto& set : sets_)
            if (set.second > best.second) best = set;
        return {best.second, best.second, members_of(best.first)};
    }

    PricedSearch searcher(size_t r) const {
        const PackRef& ref = *component_.refs[r];
        int64_t n = static_cast<int64_t>(ref.contested.size() + ref.free.size());
        return {ref.size, half_lambda_, std::max<int64_t>(8, work_ / n), deadline_};
    }

    // A piece is an item that is saved, one that is not, or both if what it saves is less than
    // `room` away from what it costs.
    std::vector<PricedItem> items(size_t r, const std::vector<double>& price,
                                  const std::vector<char>* taken, double room) const {
        const PackRef& ref = *component_.refs[r];
        std::vector<PricedItem> found;
        for (size_t i = 0; i < ref.contested.size(); ++i) {
            int pred = component_.preds[r][i], place = static_cast<int>(i);
            const Candidate& c = ref.contested[i];
            double net = half_lambda_ * c.counted - price[pred];
            bool is_taken = taken != nullptr && (*taken)[pred];
            bool saved = !is_taken && (!ref.pieces || net >= -room);
            bool unsaved = ref.pieces && (!saved || (room > 0 && net <= room));
            int twin = saved && unsaved ? place : kOwn;
            if (saved) found.push_back({c.intersection, c.excess, net, c.passes, place, twin});
            if (unsaved) found.push_back({c.intersection, c.excess, 0.0, c.passes, kOwn, twin});
        }
        for (const Candidate& c : ref.free)
            found.push_back({c.intersection, c.excess, half_lambda_ * c.counted, c.passes, kOwn, kOwn});
        return found;
    }

    bool scan_table(size_t r, double highest, double room, size_t most,
                    std::vector<Members>& open) {
        list_sets(r, price_, kAll, room);
        for (auto [members, net] : sets_) {
            if (highest - net > room) continue;
            if (open.size() > most) return false;
            open.push_back(members_of(members));
        }
        return true;
    }

    bool search_sets(size_t r, double highest, double room, size_t most,
                     std::vector<Members>& open) {
        std::vector<PricedItem> all = items(r, price_, nullptr, room);
        open.emplace_back();  // nothing contested
        bool complete = searcher(r).list(std::move(all), highest - room, room, most, open);
        for (Members& members : open) std::sort(members.begin(), members.end());
        std::sort(open.begin(), open.end());
        open.erase(std::unique(open.begin(), open.end()), open.end());
        return complete;
    }

    // References take turns, each its best set of what is left; those whose wanted set gains them
    // most are first.
    void round(const std::vector<double>& price, const std::vector<Members>& wanted) {
        size_t n = component_.refs.size();
        std::vector<size_t> order(n);
        std::iota(order.begin(), order.end(), size_t{0});
        std::vector<double> gain(n);
        for (size_t r = 0; r < n; ++r) {
            gain[r] = worth(r, wanted[r]) - worth(r, {});
            if (deadline_.passed()) return;
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b) { return gain[a] > gain[b]; });
        std::vector<char> taken(component_.wants.size(), false);
        Selection found{std::vector<Members>(n), 0.0};
        for (size_t r : order) {
            found.members[r] = best_set(r, price, &taken).members;
            found.worth += worth(r, found.members[r]);
            for (int place : found.members[r]) taken[component_.preds[r][place]] = true;
            if (deadline_.passed()) return;
        }
        if (found.worth > best_.worth + kSlack) best_ = std::move(found);
    }

    double worth(size_t r, const Members& members) const {
        return worth_of(*component_.refs[r], half_lambda_, members, deadline_);
    }
};

}  // namespace panmatch
