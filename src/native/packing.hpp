// Disjoint sets of predictions for all references, worth as much as possible together (D6).
//
// Only contested predictions, candidates of several references, tie references to each other.
// Small components are solved by branch and bound. What is too large for that gets prices, which
// bound the optimum from above, and its columns that can still matter are handed to the caller.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

#include "branching.hpp"
#include "columns.hpp"
#include "pricing.hpp"

namespace panmatch {

constexpr size_t kMostSetsToBranch = 1 << 14;

struct Packing {
    std::vector<int64_t> edges;       // a feasible choice
    double worth = 0, upper = 0;      // of that choice, and of any choice
    int64_t nodes = 0;
    // Columns of components that are still open, for a solver with more patience.
    std::vector<int64_t> open_ref, open_first, open_edges;
    std::vector<double> open_worth;
    double open_base = 0;             // worth of everything that is settled
};

// The whole problem: edges as candidates, references with their sizes.
struct PackProblem {
    std::vector<int64_t> ref, pred;
    std::vector<double> intersection, excess, ref_size;
    std::vector<uint8_t> counted, passes;
    int64_t n_pred;
    double price;
};

// How much search is allowed.
struct Limits {
    int64_t nodes;                // of branch and bound in all
    int64_t nodes_per_component;  // beyond that, prices do better
    int price_rounds;
    std::chrono::steady_clock::time_point deadline;
};

class Packer {
public:
    Packer(const PackProblem& problem, const Limits& limits)
        : problem_(problem), limits_(limits), refs_(problem.ref_size.size()),
          group_(problem.ref_size.size()) {
        std::iota(group_.begin(), group_.end(), size_t{0});
        sort_candidates();
    }

    Packing solve() {
        for (auto& ref : refs_) evaluate_sets(ref, problem_.price);
        std::vector<std::vector<size_t>> members(refs_.size());
        for (size_t r = 0; r < refs_.size(); ++r) members[root(r)].push_back(r);
        for (const auto& refs : members)
            if (!refs.empty()) solve_component(refs);
        return std::move(found_);
    }

private:
    const PackProblem& problem_;
    Limits limits_;
    std::vector<PackRef> refs_;
    std::vector<size_t> group_;
    Packing found_;

    size_t root(size_t r) {
        while (group_[r] != r) r = group_[r] = group_[group_[r]];
        return r;
    }

    // A reference tracks its largest contested candidates. Should there be more than columns can
    // be made for, the others count as its own: that keeps the bound valid, and the caller
    // resolves what is then taken twice.
    void sort_candidates() {
        std::vector<int> degree(problem_.n_pred, 0);
        for (int64_t pred : problem_.pred) ++degree[pred];
        for (size_t e = 0; e < problem_.ref.size(); ++e) {
            PackRef& ref = refs_[problem_.ref[e]];
            bool shared = degree[problem_.pred[e]] > 1;
            (shared ? ref.contested : ref.free)
                .push_back({static_cast<int64_t>(e), problem_.pred[e], problem_.intersection[e],
                            problem_.excess[e], problem_.counted[e] != 0, problem_.passes[e] != 0});
        }
        std::vector<int64_t> owner(problem_.n_pred, -1);
        for (size_t r = 0; r < refs_.size(); ++r) {
            PackRef& ref = refs_[r];
            ref.size = problem_.ref_size[r];
            limit_contested(ref);
            for (const Candidate& c : ref.contested) {
                if (owner[c.pred] < 0) owner[c.pred] = static_cast<int64_t>(r);
                else group_[root(r)] = root(static_cast<size_t>(owner[c.pred]));
            }
        }
    }

    static void limit_contested(PackRef& ref) {
        size_t most = ref.free.empty() ? kMostContested : kMostWithFree;
        if (ref.contested.size() <= most) return;
        std::stable_sort(ref.contested.begin(), ref.contested.end(),
                         [](const Candidate& a, const Candidate& b) {
                             return a.intersection * b.excess > b.intersection * a.excess;
                         });
        ref.free.insert(ref.free.end(), ref.contested.begin() + most, ref.contested.end());
        ref.contested.resize(most);
    }

    void solve_component(const std::vector<size_t>& members) {
        if (members.size() == 1) return settle(refs_[members[0]]);
        std::vector<const PackRef*> refs;
        for (size_t r : members) refs.push_back(&refs_[r]);
        Component component(std::move(refs));
        Pricing pricing(component, problem_.price);
        Selection best = pricing.best();
        double upper = 0;
        for (const PackRef* ref : component.refs)
            upper += *std::max_element(ref->worth.begin(), ref->worth.end());
        bool proven = false;
        if (component.sets() <= kMostSetsToBranch) {
            Branching branching(component, best);
            proven = branching.run(std::min(limits_.nodes, limits_.nodes_per_component));
            best = branching.best();
            limits_.nodes -= std::min(limits_.nodes, branching.nodes());
            found_.nodes += branching.nodes();
        }
        if (!proven) {
            pricing.run(limits_.price_rounds, limits_.deadline);
            if (pricing.best().worth > best.worth) best = pricing.best();
            upper = std::min(upper, pricing.upper());
        }
        upper = proven ? best.worth : upper;
        keep(component, best, upper);
        if (upper - best.worth > kSlack) hand_over(pricing);
        else found_.open_base += best.worth;
    }

    void settle(const PackRef& ref) {
        append_edges(ref, problem_.price, 0, found_.edges);
        found_.worth += ref.worth[0];
        found_.upper += ref.worth[0];
        found_.open_base += ref.worth[0];
    }

    void keep(const Component& component, const Selection& best, double upper) {
        for (size_t r = 0; r < component.refs.size(); ++r)
            append_edges(*component.refs[r], problem_.price, best.members[r], found_.edges);
        found_.worth += best.worth;
        found_.upper += upper;
    }

    void hand_over(Pricing& pricing) {
        pricing.for_open_columns([&](const PackRef* ref, uint32_t members) {
            found_.open_ref.push_back(ref - refs_.data());
            found_.open_worth.push_back(ref->worth[members]);
            found_.open_first.push_back(static_cast<int64_t>(found_.open_edges.size()));
            append_edges(*ref, problem_.price, members, found_.open_edges);
        });
    }
};

}  // namespace panmatch
