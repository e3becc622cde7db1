// Disjoint sets of predictions for all references, of the highest part quality together (D6, D9).
//
// Only contested predictions, candidates of several references, tie references to each other. Each
// has a price: if every reference takes its best set after paying for contested members, the sum of
// what is left, plus all prices, bounds every selection. The subgradient method lowers this bound.
// If a gap remains, we branch: a prediction that several references want is reserved for each of
// them in turn, and for none, and the price of one that nobody wants is dropped.
//
// In regions (D8) predictions are cut into pieces, one per reference, and all of them may be taken,
// but only one saves the false positive. The same prices then stand for that saving: a reference
// gets what is left of it after the price, and losing a prediction means losing the saving.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "deadline.hpp"
#include "part_search.hpp"

namespace panmatch {

constexpr double kPartSlack = 1e-11;  // differences below this are rounding
constexpr int64_t kPartSearchNodes = 1 << 15;
constexpr double kPartPricingShare = 0.5;  // of the time that is left
constexpr int kPartRoundsToProgress = 30;
constexpr double kPartProgress = 0.02;  // of the gap, or no more rounds are made

// How much search is allowed.
struct PartLimits {
    int64_t nodes;  // of branch and bound, in all
    int price_rounds;
    Deadline deadline;
};

// The members of every reference of a group.
struct PartSelection {
    std::vector<std::vector<int>> members;
    double worth = 0;
};

// References that contested predictions tie together.
class PartGroup {
public:
    // `half_lambda` is what a match costs and an avoided false positive saves. `exclusive` says
    // whether a prediction may be taken once, or saves something once. `start` is feasible.
    PartGroup(std::vector<const PartRef*> refs, bool exclusive, double half_lambda,
              PartLimits& limits, std::vector<std::vector<int>> start,
              std::vector<double>& all_prices)
        : refs_(std::move(refs)), exclusive_(exclusive), half_lambda_(half_lambda),
          limits_(limits), all_prices_(all_prices), wanted_(refs_.size()), allowed_(refs_.size()),
          local_(refs_.size()) {
        number_predictions();
        best_.members = std::move(start);
        best_.worth = total_worth(best_.members);
    }

    void solve() {
        if (takers_.empty()) {
            upper_ = want(price_);
            keep();
        } else {
            run_prices(limits_.price_rounds, limits_.deadline.after(kPartPricingShare));
            for (size_t p = 0; p < ids_.size(); ++p) all_prices_[ids_[p]] = price_[p];
            if (is_open() && limits_.nodes > 0 && !limits_.deadline.passed()) branch();
        }
        upper_ = std::max(upper_, best_.worth);
    }

    const PartSelection& best() const { return best_; }
    double upper() const { return upper_; }
    int64_t nodes() const { return nodes_; }

private:
    using Sets = std::vector<PartSet>;
    using Counts = std::vector<int>;  // per contested prediction: how many references take it

    std::vector<const PartRef*> refs_;
    bool exclusive_;
    double half_lambda_;
    PartLimits& limits_;
    std::vector<double>& all_prices_;
    std::vector<int64_t> ids_;                            // of contested predictions
    std::vector<std::vector<std::pair<int, int>>> takers_;  // per prediction: (reference, place)
    std::vector<double> price_;
    Sets wanted_;                    // the best set of every reference at some prices
    std::vector<double> wanted_at_;  // these prices
    std::vector<std::vector<char>> allowed_;  // per reference and candidate
    std::vector<std::vector<int>> local_;     // number of a candidate's prediction; -1: uncontested
    PartSelection best_;
    double upper_ = INFINITY, open_ = -INFINITY;  // of any selection, and of what was not searched
    int64_t nodes_ = 0;

    bool is_open() const { return upper_ - best_.worth > kPartSlack; }

    void number_predictions() {
        std::vector<std::pair<int64_t, std::pair<int, int>>> all;
        for (size_t r = 0; r < refs_.size(); ++r) {
            size_t n = refs_[r]->candidates.size();
            allowed_[r].assign(n, true);
            local_[r].assign(n, -1);
            for (size_t place = 0; place < n; ++place) {
                const PartCandidate& c = refs_[r]->candidates[place];
                if (exclusive_ || c.counted)
                    all.push_back({c.pred, {static_cast<int>(r), static_cast<int>(place)}});
            }
        }
        std::sort(all.begin(), all.end());
        for (size_t i = 0, j = 0; i < all.size(); i = j) {
            for (j = i; j < all.size() && all[j].first == all[i].first; ++j) {}
            if (j - i < 2) continue;
            for (size_t k = i; k < j; ++k)
                local_[all[k].second.first][all[k].second.second] = static_cast<int>(ids_.size());
            ids_.push_back(all[i].first);
            takers_.emplace_back();
            for (size_t k = i; k < j; ++k) takers_.back().push_back(all[k].second);
            price_.push_back(within(all_prices_[all[i].first]));
        }
    }

    // A price is at least 0. Nobody pays more than a prediction saves if that is all it is about.
    double within(double price) const {
        price = std::max(0.0, price);
        return exclusive_ ? price : std::min(price, half_lambda_);
    }

    bool is_lost(size_t r, size_t place, const Counts* taken) const {
        int pred = local_[r][place];
        return !allowed_[r][place] || (taken != nullptr && pred >= 0 && (*taken)[pred] > 0);
    }

    // What each candidate saves less its price, given how often predictions are taken already.
    std::vector<double> net_of(size_t r, const std::vector<double>& price,
                               const Counts* taken) const {
        std::vector<double> net;
        for (size_t place = 0; place < refs_[r]->candidates.size(); ++place) {
            int pred = local_[r][place];
            bool saves = refs_[r]->candidates[place].counted;
            if (!exclusive_ && is_lost(r, place, taken)) net.push_back(0.0);
            else net.push_back((saves ? half_lambda_ : 0.0) - (pred < 0 ? 0.0 : price[pred]));
        }
        return net;
    }

    PartSet best_set(size_t r, const std::vector<double>& price,
                     const Counts* taken = nullptr) const {
        std::vector<int> open;
        for (size_t place = 0; place < local_[r].size(); ++place)
            if (!exclusive_ || !is_lost(r, place, taken)) open.push_back(static_cast<int>(place));
        PartSearch search(*refs_[r], half_lambda_, kPartSearchNodes, limits_.deadline);
        return search.best(open, net_of(r, price, taken));
    }

    double worth(size_t r, const std::vector<int>& members, const Counts& taken) const {
        PartSearch search(*refs_[r], half_lambda_, 0, limits_.deadline);
        return search.value_of(members, net_of(r, std::vector<double>(price_.size(), 0.0), &taken));
    }

    double total_worth(const std::vector<std::vector<int>>& members) const {
        double sum = 0;
        Counts taken(price_.size(), 0);
        for (size_t r = 0; r < members.size(); ++r) {
            sum += worth(r, members[r], taken);
            mark(taken, r, members[r], 1);
        }
        return sum;
    }

    // Brings `wanted_` up to date and returns the bound. Only where a price changed is there
    // anything to do.
    double want(const std::vector<double>& price) {
        std::vector<char> stale(refs_.size(), wanted_at_.empty());
        for (size_t p = 0; p < price.size() && !wanted_at_.empty(); ++p)
            if (price[p] != wanted_at_[p])
                for (auto [r, place] : takers_[p]) stale[r] = true;
        wanted_at_ = price;
        double bound = std::accumulate(price.begin(), price.end(), 0.0);
        for (size_t r = 0; r < refs_.size(); ++r) {
            if (stale[r]) wanted_[r] = best_set(r, price);
            bound += wanted_[r].upper;
        }
        return bound;
    }

    // How many references want each prediction, or the saving that it brings.
    Counts count_uses() const {
        Counts uses(price_.size(), 0);
        for (size_t r = 0; r < refs_.size(); ++r)
            for (int place : wanted_[r].members)
                if (local_[r][place] >= 0 && allowed_[r][place]) ++uses[local_[r][place]];
        return uses;
    }

    // Lowers the bound and looks for better selections, until they meet.
    void run_prices(int rounds, const Deadline& deadline) {
        std::vector<double> price = price_;
        double step = 1.0, before = INFINITY;
        for (int round = 0; round < rounds && (round == 0 || !deadline.passed()); ++round) {
            if (round % kPartRoundsToProgress == 0) {
                if (before - upper_ < kPartProgress * (upper_ - best_.worth)) break;
                before = upper_;
            }
            double bound = want(price);
            if (bound >= upper_ - 1e-9) step *= 0.93;
            if (bound < upper_) upper_ = bound, price_ = price;
            if (round % 5 == 0) share_out(price);
            Counts uses = count_uses();
            double length = 0;
            for (size_t p = 0; p < uses.size(); ++p)
                if (within(price[p] + uses[p] - 1.0) != price[p])
                    length += (uses[p] - 1.0) * (uses[p] - 1.0);
            if (length == 0 || !is_open()) break;
            double move = step * std::max(bound - best_.worth, 1e-9) / length;
            for (size_t p = 0; p < uses.size(); ++p)
                price[p] = within(price[p] + move * (uses[p] - 1.0));
        }
    }

    // References take turns, each its best set of what is left; those whose wanted set is worth
    // most are first. Then each may choose again, without prices, as long as that helps.
    void share_out(const std::vector<double>& price) {
        std::vector<size_t> order(refs_.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
            return wanted_[a].value > wanted_[b].value;
        });
        Counts taken(price.size(), 0);
        PartSelection found{std::vector<std::vector<int>>(refs_.size()), 0.0};
        for (size_t r : order) {
            found.members[r] = best_set(r, price, &taken).members;
            mark(taken, r, found.members[r], 1);
        }
        improve(found, taken, order);
    }

    void improve(PartSelection& found, Counts& taken, const std::vector<size_t>& order) {
        const std::vector<double> none(price_.size(), 0.0);
        found.worth = total_worth(found.members);
        for (double before = -INFINITY; found.worth > before + kPartSlack;) {
            before = found.worth;
            for (size_t r : order) {
                mark(taken, r, found.members[r], -1);
                double old = worth(r, found.members[r], taken);
                PartSet again = best_set(r, none, &taken);
                if (again.value > old) {
                    found.members[r] = std::move(again.members);
                    found.worth += again.value - old;
                }
                mark(taken, r, found.members[r], 1);
            }
            if (limits_.deadline.passed()) break;
        }
        if (found.worth > best_.worth + kPartSlack) best_ = std::move(found);
    }

    void mark(Counts& taken, size_t r, const std::vector<int>& members, int by) const {
        for (int place : members)
            if (local_[r][place] >= 0) taken[local_[r][place]] += by;
    }

    // Branch and bound at the prices found.
    void branch() {
        want(price_);
        visit();
        upper_ = std::min(upper_, std::max(best_.worth, open_));
    }

    void visit() {
        double bound = std::accumulate(price_.begin(), price_.end(), 0.0);
        for (const PartSet& set : wanted_) bound += set.upper;
        if (bound <= best_.worth + kPartSlack) return;
        if (limits_.nodes <= 0 || limits_.deadline.passed()) {
            open_ = std::max(open_, bound);
            return;
        }
        ++nodes_;
        --limits_.nodes;
        Counts uses = count_uses();
        if (!exclusive_) keep();
        for (size_t p = 0; p < uses.size(); ++p)  // a full price leaves nothing to quarrel about
            if (!exclusive_ && price_[p] >= half_lambda_) uses[p] = std::min(uses[p], 1);
        auto most = std::max_element(uses.begin(), uses.end());
        if (*most > 1) return split(static_cast<size_t>(most - uses.begin()));
        keep();
        size_t dearest = price_.size();
        for (size_t p = 0; p < uses.size(); ++p)
            if (uses[p] == 0 && price_[p] > 0 &&
                (dearest == price_.size() || price_[p] > price_[dearest]))
                dearest = p;
        if (dearest < price_.size()) return descend(dearest, [](int) { return false; });
        double rest = 0;  // what searches that were cut short left open
        for (const PartSet& set : wanted_) rest += set.upper - set.value;
        if (rest > kPartSlack) open_ = std::max(open_, bound);
    }

    void keep() {
        std::vector<std::vector<int>> members;
        for (const PartSet& set : wanted_) members.push_back(set.members);
        double worth = total_worth(members);
        if (worth > best_.worth) best_ = {std::move(members), worth};
    }

    // The prediction goes to one of those who want it, or to none of them.
    void split(size_t pred) {
        std::vector<int> who;
        for (auto [r, place] : takers_[pred]) {
            const auto& members = wanted_[r].members;
            if (allowed_[r][place] &&
                std::find(members.begin(), members.end(), place) != members.end())
                who.push_back(r);
        }
        std::stable_sort(who.begin(), who.end(),
                         [&](int a, int b) { return wanted_[a].value > wanted_[b].value; });
        for (int owner : who) descend(pred, [&](int r) { return r != owner; });
        descend(pred, [&](int r) { return std::find(who.begin(), who.end(), r) != who.end(); });
    }

    // Some references lose the prediction. It is free where one at most is left, and where none of
    // them has to go without.
    template <typename Loses>
    void descend(size_t pred, Loses&& loses) {
        std::vector<std::pair<int, int>> forbidden;
        std::vector<std::pair<int, PartSet>> before;
        size_t left = 0;
        for (auto [r, place] : takers_[pred]) {
            if (!allowed_[r][place]) continue;
            if (!loses(r)) ++left;
            else forbidden.push_back({r, place});
        }
        double price = price_[pred];
        if (left <= 1 || forbidden.empty()) price_[pred] = 0.0;
        for (auto [r, place] : forbidden) allowed_[r][place] = false;
        for (auto [r, place] : takers_[pred]) {
            before.push_back({r, wanted_[r]});
            wanted_[r] = best_set(r, price_);
        }
        visit();
        for (auto [r, place] : forbidden) allowed_[r][place] = true;
        price_[pred] = price;
        for (auto& [r, set] : before) wanted_[r] = std::move(set);
    }
};

// The whole problem: edges as candidates, references with what they bring along.
struct PartProblem {
    std::vector<int64_t> ref, pred;
    std::vector<double> intersection, excess, ref_size;
    std::vector<double> hits, whole, ref_hits, ref_whole;  // rows of labels
    std::vector<uint8_t> counted, passes;
    int64_t n_pred;
    bool exclusive;  // whether a prediction may be taken once, or saves something once

    size_t labels() const { return ref_size.empty() ? 0 : ref_whole.size() / ref_size.size(); }
};

inline PartRef to_part_ref(const PartProblem& problem, size_t r) {
    PartRef ref;
    ref.labels = problem.labels();
    for (size_t l = 0; l < ref.labels; ++l) {
        double whole = problem.ref_whole[r * ref.labels + l];
        if (!(whole > 0)) continue;
        ref.whole.push_back(whole);
        ref.hits.push_back(problem.ref_hits[r * ref.labels + l]);
    }
    ref.by_iou = ref.whole.empty();
    if (ref.by_iou) ref.hits = {0.0}, ref.whole = {problem.ref_size[r]};
    return ref;
}

inline PartCandidate to_part_candidate(const PartProblem& problem, size_t e, bool by_iou) {
    size_t n = problem.labels(), r = static_cast<size_t>(problem.ref[e]);
    PartCandidate found{static_cast<int64_t>(e), problem.pred[e], {}, {}, {},
                        problem.counted[e] != 0, problem.passes[e] != 0};
    for (size_t l = 0; l < n; ++l) {
        double whole = problem.whole[e * n + l];
        if (problem.ref_whole[r * n + l] > 0) {
            found.hits.push_back(problem.hits[e * n + l]);
            found.whole.push_back(whole);
        } else if (whole > 0) {
            found.strange.push_back(static_cast<int>(l));
        }
    }
    if (by_iou) found.hits = {problem.intersection[e]}, found.whole = {problem.excess[e]};
    return found;
}

inline std::vector<PartRef> to_part_refs(const PartProblem& problem) {
    std::vector<PartRef> refs;
    for (size_t r = 0; r < problem.ref_size.size(); ++r) refs.push_back(to_part_ref(problem, r));
    for (size_t e = 0; e < problem.ref.size(); ++e) {
        PartRef& ref = refs[static_cast<size_t>(problem.ref[e])];
        ref.candidates.push_back(to_part_candidate(problem, e, ref.by_iou));
    }
    return refs;
}

struct PartPacking {
    std::vector<uint8_t> chosen;  // per edge
    double upper = 0;             // of the worth of any selection
    int64_t nodes = 0;
    std::vector<double> price;    // of every prediction, to start from next time
};

// Packs all groups; `chosen` is a feasible selection, `price` one price per prediction.
inline PartPacking pack_parts(const PartProblem& problem, std::vector<uint8_t> chosen,
                              std::vector<double> price, double half_lambda, PartLimits limits) {
    std::vector<PartRef> refs = to_part_refs(problem);
    std::vector<size_t> parent(refs.size());
    std::iota(parent.begin(), parent.end(), size_t{0});
    auto root = [&](size_t r) {
        while (parent[r] != r) r = parent[r] = parent[parent[r]];
        return r;
    };
    std::vector<int64_t> first(static_cast<size_t>(problem.n_pred), -1);
    for (size_t e = 0; e < problem.ref.size(); ++e) {
        int64_t& mine = first[static_cast<size_t>(problem.pred[e])];
        if (mine < 0) mine = problem.ref[e];
        parent[root(static_cast<size_t>(problem.ref[e]))] = root(static_cast<size_t>(mine));
    }
    std::vector<std::vector<size_t>> groups(refs.size());
    for (size_t r = 0; r < refs.size(); ++r)
        if (!refs[r].candidates.empty()) groups[root(r)].push_back(r);
    PartPacking found{std::vector<uint8_t>(problem.ref.size(), 0), 0.0, 0, std::move(price)};
    for (const auto& group : groups) {
        if (group.empty()) continue;
        std::vector<const PartRef*> members;
        std::vector<std::vector<int>> start;
        for (size_t r : group) {
            members.push_back(&refs[r]);
            start.emplace_back();
            for (size_t i = 0; i < refs[r].candidates.size(); ++i)
                if (chosen[static_cast<size_t>(refs[r].candidates[i].edge)])
                    start.back().push_back(static_cast<int>(i));
        }
        PartGroup solver(members, problem.exclusive, half_lambda, limits, std::move(start), found.price);
        solver.solve();
        for (size_t r = 0; r < members.size(); ++r)
            for (int place : solver.best().members[r])
                found.chosen[static_cast<size_t>(members[r]->candidates[place].edge)] = 1;
        found.upper += solver.upper();
        found.nodes += solver.nodes();
    }
    return found;
}

// The highest part quality of every reference with any set of its candidates.
inline std::vector<double> highest_part_qualities(const PartProblem& problem,
                                                  const Deadline& deadline) {
    std::vector<double> found;
    for (const PartRef& ref : to_part_refs(problem)) {
        PartSearch search(ref, 0.0, kPartSearchNodes, deadline);
        found.push_back(ref.candidates.empty() ? 0.0 : search.highest_quality());
    }
    return found;
}

}  // namespace panmatch
