// Disjoint sets of predictions for all references, worth as much as possible together (D6).
//
// Only contested predictions, candidates of several references, tie references to each other.
// Small components are solved by branch and bound. What is too large for that gets prices, which
// bound the optimum from above, and its columns that can still matter are handed to the caller.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "branching.hpp"
#include "columns.hpp"
#include "deadline.hpp"
#include "pricing.hpp"

namespace panmatch {

constexpr size_t kMostSetsToBranch = 1 << 14;
constexpr size_t kMostTakersToBranch = 64;  // of one prediction: each is a branch
constexpr double kBranchingShare = 0.2, kPricingShare = 0.6;  // of the time left at each turn
// Below this gap, columns differ by less than anyone can tell, and there may be thousands.
constexpr double kAlmostClosed = 1e-6;

struct Packing {
    std::vector<int64_t> edges;       // a feasible choice
    double worth = 0, upper = 0;      // of that choice, and of any choice
    int64_t nodes = 0;
    std::vector<double> price;        // of every prediction, to start from next time
    std::vector<uint8_t> is_open;     // per reference: whether a better choice may exist
    // Columns of open components, for a solver with more patience; without those of components
    // that have too many.
    std::vector<int64_t> open_ref, open_first, open_edges;
    std::vector<double> open_worth;
    std::vector<int64_t> open_members;  // per column: how many of its edges, the first, are contested
    double listed_worth = 0, rest_upper = 0;  // of components with columns; bound on the others
};

// The whole problem: edges as candidates, references with their sizes.
struct PackProblem {
    std::vector<int64_t> ref, pred;
    std::vector<double> intersection, excess, ref_size;
    std::vector<uint8_t> counted, passes;
    int64_t n_pred;
    double price;
    bool pieces = false;  // edges are pieces of predictions: each has one reference, and may be
                          // matched whatever happens to the others, but one alone saves anything
};

// Where the search begins.
struct PackStart {
    std::vector<uint8_t> chosen;  // per edge: a feasible choice
    std::vector<double> price;    // per prediction; below 0: unknown
};

// How much search is allowed.
struct Limits {
    int64_t nodes;                // of branch and bound in all
    int64_t nodes_per_component;  // beyond that, prices do better
    int price_rounds;
    size_t table;                 // contested candidates of a reference with a table of its columns
    size_t columns;               // to hand over
    Deadline deadline;
};

class Packer {
public:
    Packer(const PackProblem& problem, const PackStart& start, const Limits& limits)
        : problem_(problem), start_(start), limits_(limits), refs_(problem.ref_size.size()),
          group_(problem.ref_size.size()) {
        std::iota(group_.begin(), group_.end(), size_t{0});
        found_.price = start.price;
        found_.is_open.assign(refs_.size(), false);
        sort_candidates();
    }

    Packing solve() {
        std::vector<std::vector<size_t>> members(refs_.size());
        for (size_t r = 0; r < refs_.size(); ++r) members[root(r)].push_back(r);
        for (const auto& refs : members) {
            if (refs.size() == 1) settle(refs[0]);
            if (refs.size() > 1) solve_component(refs);
        }
        return std::move(found_);
    }

private:
    const PackProblem& problem_;
    const PackStart& start_;
    Limits limits_;
    std::vector<PackRef> refs_;
    std::vector<size_t> group_;
    Packing found_;

    size_t root(size_t r) {
        while (group_[r] != r) r = group_[r] = group_[group_[r]];
        return r;
    }

    void sort_candidates() {
        std::vector<int> degree(problem_.n_pred, 0);
        for (int64_t pred : problem_.pred) ++degree[pred];
        std::vector<int64_t> owner(problem_.n_pred, -1);
        std::vector<int64_t> saver = problem_.pieces ? sure_savers() : owner;
        for (size_t e = 0; e < problem_.ref.size(); ++e) {
            size_t r = static_cast<size_t>(problem_.ref[e]);
            int64_t pred = problem_.pred[e];
            Candidate candidate = candidate_of(e);
            if (saver[pred] >= 0) candidate.counted = saver[pred] == candidate.edge;
            bool shared = degree[pred] > 1 && saver[pred] < 0;
            shared = shared && (candidate.counted || !problem_.pieces);
            (shared ? refs_[r].contested : refs_[r].free).push_back(candidate);
            if (!shared) continue;
            if (owner[pred] < 0) owner[pred] = static_cast<int64_t>(r);
            else group_[root(r)] = root(static_cast<size_t>(owner[pred]));
        }
        for (size_t r = 0; r < refs_.size(); ++r) {
            refs_[r].size = problem_.ref_size[r];
            refs_[r].pieces = problem_.pieces;
        }
    }

    Candidate candidate_of(size_t e) const {
        return {static_cast<int64_t>(e), problem_.pred[e],         problem_.intersection[e],
                problem_.excess[e],      problem_.counted[e] != 0, problem_.passes[e] != 0};
    }

    // Returns, per prediction, a piece that saves it in some optimal choice, or -1. A reference
    // with a passing piece of an IoU of at least half lambda gains by being matched, whatever the
    // others do, and then by every piece that raises even its highest IoU.
    std::vector<int64_t> sure_savers() const {
        std::vector<std::vector<Candidate>> candidates(refs_.size());
        for (size_t e = 0; e < problem_.ref.size(); ++e)
            candidates[static_cast<size_t>(problem_.ref[e])].push_back(candidate_of(e));
        std::vector<int64_t> saver(problem_.n_pred, -1);
        for (size_t r = 0; r < candidates.size(); ++r) {
            double size = problem_.ref_size[r], best = -1;
            for (const Candidate& c : candidates[r])
                if (c.passes) best = std::max(best, c.intersection / (size + c.excess));
            if (best < problem_.price) continue;
            double highest = highest_ratio(size, candidates[r]) * (1 + 1e-12);
            for (const Candidate& c : candidates[r])
                if (c.counted && c.intersection > highest * c.excess && saver[c.pred] < 0)
                    saver[c.pred] = c.edge;
        }
        return saver;
    }

    void settle(size_t r) {
        const PackRef& ref = refs_[r];
        Choice choice = SubsetSearch(ref.size, problem_.price).best({}, ref.free, limits_.deadline);
        double upper = std::min(choice.upper, ceiling({&ref}));
        upper = std::max(upper, choice.worth);
        found_.edges.insert(found_.edges.end(), choice.edges.begin(), choice.edges.end());
        add(choice.worth, upper);
        found_.is_open[r] = upper - choice.worth > kSlack;
    }

    void solve_component(const std::vector<size_t>& members) {
        std::vector<const PackRef*> refs;
        bool in_time = !limits_.deadline.passed();
        for (size_t r : members) {
            if (in_time && suits_table(refs_[r], limits_.table))
                in_time = evaluate_sets(refs_[r], problem_.price, limits_.deadline);
            refs.push_back(&refs_[r]);
        }
        Component component(std::move(refs));
        Pricing pricing(component, problem_.price, start_of(component), prices_of(component));
        double upper = ceiling(component.refs);
        if (in_time) upper = search(component, pricing, upper);
        auto gap = [&] { return upper - pricing.best().worth; };
        auto is_open = [&] { return gap() > kSlack; };
        bool listed = in_time && gap() > kAlmostClosed && hand_over(pricing);
        if (in_time && is_open() && !listed) {
            upper = std::min(upper, set_prices(component, pricing, kPatient));
            listed = is_open() && hand_over(pricing);
        }
        const Selection& best = pricing.best();
        upper = std::max(upper, best.worth);
        for (size_t r = 0; r < component.refs.size(); ++r)
            append(*component.refs[r], best.members[r], found_.edges);
        for (size_t r : members) found_.is_open[r] = is_open();
        if (!listed) return add(best.worth, upper);
        found_.worth += best.worth;
        found_.upper += upper;
        found_.listed_worth += best.worth;
    }

    void add(double worth, double upper) {
        found_.worth += worth;
        found_.upper += upper;
        found_.rest_upper += upper;
    }

    // Returns a bound on the worth of any selection.
    double search(const Component& component, Pricing& pricing, double upper) {
        pricing.run(0, limits_.deadline);
        if (component.has_tables(kMostSetsToBranch) &&
            component.most_takers() <= kMostTakersToBranch) {
            Deadline deadline = limits_.deadline.after(kBranchingShare);
            Branching branching(component, pricing.best(), deadline);
            bool proven = branching.run(std::min(limits_.nodes, limits_.nodes_per_component));
            limits_.nodes -= std::min(limits_.nodes, branching.nodes());
            found_.nodes += branching.nodes();
            pricing.begin_with(branching.best());
            if (proven) return branching.best().worth;
        }
        return std::min(upper, set_prices(component, pricing, kQuick));
    }

    // Returns a bound from prices, and keeps these for next time.
    double set_prices(const Component& component, Pricing& pricing, const Pace& pace) {
        pricing.run(limits_.price_rounds, limits_.deadline.after(kPricingShare), pace);
        for (size_t p = 0; p < component.ids.size(); ++p)
            found_.price[component.ids[p]] = pricing.price()[p];
        return pricing.upper();
    }

    // Returns a bound from prices of half lambda on every prediction, or from none at all.
    double ceiling(const std::vector<const PackRef*>& refs) const {
        double priced = 0, unpriced = 0;
        std::vector<int64_t> counted;
        for (const PackRef* ref : refs) {
            double saved = 0, ratio = ceiling_ratio(*ref);
            for (const auto* candidates : {&ref->free, &ref->contested})
                for (const Candidate& c : *candidates) {
                    saved += c.counted;
                    if (c.counted) counted.push_back(c.pred);
                }
            priced += std::max(0.0, ratio - problem_.price);
            unpriced += std::max(0.0, ratio + problem_.price * (saved - 1));
        }
        std::sort(counted.begin(), counted.end());
        auto distinct = std::unique(counted.begin(), counted.end()) - counted.begin();
        return std::min(priced + problem_.price * static_cast<double>(distinct), unpriced);
    }

    static double ceiling_ratio(const PackRef& ref) {
        std::vector<Candidate> all = ref.free;
        all.insert(all.end(), ref.contested.begin(), ref.contested.end());
        return all.empty() ? 0.0 : highest_ratio(ref.size, all) * (1 + 1e-12) + kPairBonus;
    }

    Selection start_of(const Component& component) const {
        Selection start{std::vector<Members>(component.refs.size()), 0.0};
        std::vector<char> taken(component.wants.size(), false);
        for (size_t r = 0; r < component.refs.size(); ++r) {
            const PackRef& ref = *component.refs[r];
            for (size_t place = 0; place < ref.contested.size(); ++place) {
                int pred = component.preds[r][place];
                if (!start_.chosen[ref.contested[place].edge] || taken[pred]) continue;
                start.members[r].push_back(static_cast<int>(place));
                taken[pred] = true;
            }
            start.worth += worth_of(ref, problem_.price, start.members[r], limits_.deadline);
        }
        return start;
    }

    // Where a reference has no table, searching for its best set is easy at prices near those
    // that leave nothing to be saved, and hard at 0.
    std::vector<double> prices_of(const Component& component) const {
        double usual = component.has_tables(SIZE_MAX) ? 0.0 : problem_.price;
        std::vector<double> price;
        for (int64_t pred : component.ids)
            price.push_back(start_.price[pred] >= 0 ? start_.price[pred] : usual);
        return price;
    }

    void append(const PackRef& ref, const Members& members, std::vector<int64_t>& edges) const {
        append_edges(ref, problem_.price, members, limits_.deadline, edges);
    }

    // False if there are too many columns.
    bool hand_over(Pricing& pricing) {
        size_t before = found_.open_ref.size(), edges_before = found_.open_edges.size();
        if (!std::isfinite(pricing.upper()) || limits_.columns == 0) return false;
        bool complete = pricing.for_open_columns(
            limits_.columns, limits_.deadline, [&](const PackRef* ref, const Members& members) {
                found_.open_ref.push_back(ref - refs_.data());
                double worth = worth_of(*ref, problem_.price, members, limits_.deadline);
                found_.open_worth.push_back(worth);
                found_.open_first.push_back(static_cast<int64_t>(found_.open_edges.size()));
                append(*ref, members, found_.open_edges);
                found_.open_members.push_back(static_cast<int64_t>(members.size()));
            });
        if (complete) {
            limits_.columns -= found_.open_ref.size() - before;
            return true;
        }
        found_.open_ref.resize(before);
        found_.open_worth.resize(before);
        found_.open_first.resize(before);
        found_.open_members.resize(before);
        found_.open_edges.resize(edges_before);
        return false;
    }
};

}  // namespace panmatch
