// The columns of a reference: sets of its contested candidates, each with its best completion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "subsets.hpp"

namespace panmatch {

struct Column {
    double worth;
    uint32_t members;  // bits: contested candidates of the reference
};

struct PackRef {
    double size = 0;
    std::vector<Candidate> free, contested;
    std::vector<double> worth;    // of every set of contested candidates; -1: not allowed
};

// Columns double with each contested candidate; with other candidates beside them each column is
// a search of its own.
constexpr size_t kMostContested = 18, kMostWithFree = 12;
constexpr double kSlack = 1e-11;  // differences below this are rounding

inline std::vector<const Candidate*> members_of(const PackRef& ref, uint32_t members) {
    std::vector<const Candidate*> found;
    for (size_t bit = 0; bit < ref.contested.size(); ++bit)
        if (members >> bit & 1) found.push_back(&ref.contested[bit]);
    return found;
}

inline void append_edges(const PackRef& ref, double price, uint32_t members,
                         std::vector<int64_t>& edges) {
    auto fixed = members_of(ref, members);
    Choice choice = SubsetSearch(ref.size, price).best(fixed, ref.free);
    if (!choice.matched) return;
    for (const Candidate* c : fixed) edges.push_back(c->edge);
    edges.insert(edges.end(), choice.edges.begin(), choice.edges.end());
}

// Fills in the worth of every set of contested candidates.
inline void evaluate_sets(PackRef& ref, double price) {
    size_t sets = size_t{1} << ref.contested.size();
    auto& worth = ref.worth;
    worth.assign(sets, 0.0);
    if (!ref.free.empty()) {
        SubsetSearch search(ref.size, price);
        for (uint32_t members = 0; members < sets; ++members) {
            Choice choice = search.best(members_of(ref, members), ref.free);
            worth[members] = choice.matched ? choice.worth : members == 0 ? 0.0 : -1.0;
        }
        return;
    }
    struct Sums {
        double intersection, excess, counted;
        bool passes;
    };
    std::vector<Sums> sums(sets, Sums{0, 0, 0, false});
    for (size_t bit = 0; bit < ref.contested.size(); ++bit) {
        const Candidate& c = ref.contested[bit];
        for (size_t low = 0; low < size_t{1} << bit; ++low) {
            Sums s = sums[low];
            s = {s.intersection + c.intersection, s.excess + c.excess, s.counted + c.counted,
                 s.passes || c.passes};
            sums[low | size_t{1} << bit] = s;
            worth[low | size_t{1} << bit] =
                s.passes ? s.intersection / (ref.size + s.excess) + price * (s.counted - 1) + kPairBonus
                         : -1.0;
        }
    }
}

// Returns the sets that are worth more than all their subsets, best first; the last one is empty.
inline std::vector<Column> useful_columns(const PackRef& ref) {
    std::vector<double> best_within(ref.worth.size());
    std::vector<Column> columns;
    for (uint32_t members = 0; members < ref.worth.size(); ++members) {
        double of_subsets = -1;
        for (uint32_t rest = members; rest != 0; rest &= rest - 1)
            of_subsets = std::max(of_subsets, best_within[members ^ (rest & (~rest + 1))]);
        best_within[members] = std::max(of_subsets, ref.worth[members]);
        if (ref.worth[members] > of_subsets) columns.push_back({ref.worth[members], members});
    }
    std::stable_sort(columns.begin(), columns.end(),
                     [](const Column& a, const Column& b) { return a.worth > b.worth; });
    return columns;
}

// The references of a connected component, and who wants which contested prediction.
struct Component {
    std::vector<const PackRef*> refs;
    std::vector<std::vector<std::pair<int, int>>> wants;  // per prediction: (reference, bit)
    std::vector<std::vector<int>> preds;                  // per reference: prediction of each bit

    explicit Component(std::vector<const PackRef*> members) : refs(std::move(members)) {
        std::vector<std::pair<int64_t, std::pair<int, int>>> all;
        for (size_t r = 0; r < refs.size(); ++r) {
            preds.emplace_back(refs[r]->contested.size());
            for (size_t bit = 0; bit < refs[r]->contested.size(); ++bit)
                all.push_back({refs[r]->contested[bit].pred,
                               {static_cast<int>(r), static_cast<int>(bit)}});
        }
        std::sort(all.begin(), all.end());
        for (size_t i = 0; i < all.size(); ++i) {
            if (i == 0 || all[i].first != all[i - 1].first) wants.emplace_back();
            auto [r, bit] = all[i].second;
            wants.back().push_back({r, bit});
            preds[r][bit] = static_cast<int>(wants.size()) - 1;
        }
    }

    template <typename Visit>
    void each_member(size_t r, uint32_t members, Visit&& visit) const {
        for (size_t bit = 0; members >> bit != 0; ++bit)
            if (members >> bit & 1) visit(preds[r][bit]);
    }

    size_t sets() const {
        size_t sum = 0;
        for (const PackRef* ref : refs) sum += ref->worth.size();
        return sum;
    }
};

// One set of contested candidates per reference.
struct Selection {
    std::vector<uint32_t> members;
    double worth = 0;
};

}  // namespace panmatch
