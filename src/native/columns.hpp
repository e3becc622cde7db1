// The columns of a reference: sets of its contested candidates, each with its best completion.
//
// In regions, candidates are pieces of predictions (D8). A piece has one reference, but only one
// piece of a prediction saves its false positive. There a column is the set of candidates that
// the reference saves, and all others may be taken without saving anything.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "subsets.hpp"

namespace panmatch {

using Members = std::vector<int>;  // contested candidates of a reference, by their places

struct Column {
    double worth;
    uint32_t members;  // bits: contested candidates of the reference
};

struct PackRef {
    double size = 0;
    std::vector<Candidate> free, contested;
    std::vector<double> worth;  // of every set of contested candidates, -1: not allowed. Empty
                                // where there are too many
    bool pieces = false;        // whether contested candidates may be taken without saving them
};

// Columns double with each contested candidate, and with other candidates beside them each is a
// search of its own. A reference with too many has no table of columns.
constexpr size_t kMostSearches = 1 << 15;  // times candidates
constexpr double kSlack = 1e-11;           // differences below this are rounding

inline bool suits_table(const PackRef& ref, size_t most_contested) {
    size_t others = ref.free.size() + (ref.pieces ? ref.contested.size() : 0);
    return ref.contested.size() <= most_contested &&
           (size_t{1} << ref.contested.size()) * (1 + others) <= kMostSearches;
}

inline std::vector<const Candidate*> candidates_at(const PackRef& ref, const Members& members) {
    std::vector<const Candidate*> found;
    for (int place : members) found.push_back(&ref.contested[place]);
    return found;
}

// Returns what may be taken beside the members of a column: `free`, or with pieces the copy of it in
// `room` that also has all contested candidates that are not saved.
inline const std::vector<Candidate>& others_beside(const PackRef& ref, const Members& members,
                                                   std::vector<Candidate>& room) {
    if (!ref.pieces) return ref.free;
    room = ref.free;
    std::vector<char> is_member(ref.contested.size(), false);
    for (int place : members) is_member[place] = true;
    for (size_t place = 0; place < ref.contested.size(); ++place) {
        if (is_member[place]) continue;
        room.push_back(ref.contested[place]);
        room.back().counted = false;
    }
    return room;
}

// Returns the best completion of a column.
inline Choice complete(const PackRef& ref, double price, const Members& members,
                       const Deadline& deadline) {
    std::vector<Candidate> room;
    const auto& others = others_beside(ref, members, room);
    return SubsetSearch(ref.size, price).best(candidates_at(ref, members), others, deadline);
}

inline Members members_of(uint32_t bits) {
    Members found;
    for (int place = 0; bits >> place != 0; ++place)
        if (bits >> place & 1) found.push_back(place);
    return found;
}

inline uint32_t bits_of(const Members& members) {
    uint32_t bits = 0;
    for (int place : members) bits |= 1u << place;
    return bits;
}

// Returns what the set is worth with its best completion; -1 if it is not allowed.
inline double worth_of(const PackRef& ref, double price, const Members& members,
                       const Deadline& deadline) {
    if (!ref.worth.empty()) return ref.worth[bits_of(members)];
    Choice choice = complete(ref, price, members, deadline);
    return choice.matched ? choice.worth : members.empty() ? 0.0 : -1.0;
}

inline void append_edges(const PackRef& ref, double price, const Members& members,
                         const Deadline& deadline, std::vector<int64_t>& edges) {
    Choice choice = complete(ref, price, members, deadline);
    if (!choice.matched) return;
    for (int place : members) edges.push_back(ref.contested[place].edge);
    edges.insert(edges.end(), choice.edges.begin(), choice.edges.end());
}

// Fills in the worth of every set of contested candidates; false if the time was up before.
inline bool evaluate_sets(PackRef& ref, double price, const Deadline& deadline) {
    size_t sets = size_t{1} << ref.contested.size();
    std::vector<double> worth(sets, 0.0);
    if (!ref.free.empty() || ref.pieces) {
        for (uint32_t bits = 0; bits < sets; ++bits) {
            if (deadline.passed()) return false;
            Choice choice = complete(ref, price, members_of(bits), deadline);
            worth[bits] = choice.matched ? choice.worth : bits == 0 ? 0.0 : -1.0;
        }
        if (deadline.passed()) return false;
        ref.worth = std::move(worth);
        return true;
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
            double ratio = s.intersection / (ref.size + s.excess);
            worth[low | size_t{1} << bit] =
                s.passes ? ratio + price * (s.counted - 1) + kPairBonus : -1.0;
        }
    }
    ref.worth = std::move(worth);
    return true;
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
    std::vector<std::vector<std::pair<int, int>>> wants;  // per prediction: (reference, place)
    std::vector<std::vector<int>> preds;                  // per reference: prediction at each place
    std::vector<int64_t> ids;                             // per prediction: its number outside

    explicit Component(std::vector<const PackRef*> members) : refs(std::move(members)) {
        std::vector<std::pair<int64_t, std::pair<int, int>>> all;
        for (size_t r = 0; r < refs.size(); ++r) {
            preds.emplace_back(refs[r]->contested.size());
            for (size_t place = 0; place < refs[r]->contested.size(); ++place)
                all.push_back({refs[r]->contested[place].pred,
                               {static_cast<int>(r), static_cast<int>(place)}});
        }
        std::sort(all.begin(), all.end());
        for (size_t i = 0; i < all.size(); ++i) {
            if (i == 0 || all[i].first != all[i - 1].first) {
                wants.emplace_back();
                ids.push_back(all[i].first);
            }
            auto [r, place] = all[i].second;
            wants.back().push_back({r, place});
            preds[r][place] = static_cast<int>(wants.size()) - 1;
        }
    }

    size_t most_takers() const {
        size_t most = 0;
        for (const auto& takers : wants) most = std::max(most, takers.size());
        return most;
    }

    // Whether all references have tables, which together have at most that many columns.
    bool has_tables(size_t most_columns) const {
        size_t sum = 0;
        for (const PackRef* ref : refs) {
            if (ref->worth.empty()) return false;
            sum += ref->worth.size();
        }
        return sum <= most_columns;
    }
};

// One set of contested candidates per reference.
struct Selection {
    std::vector<Members> members;
    double worth = 0;
};

}  // namespace panmatch
