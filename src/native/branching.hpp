// Branch and bound over who may take a contested prediction (D6).
//
// Let every reference take its best column. If no prediction is taken twice, that is optimal; if
// one is, it goes to one of its takers at most: reserve it for each of them in turn, and for none.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "deadline.hpp"

namespace panmatch {

class Branching {
public:
    // All references need tables. `start` is a feasible selection; only better ones are looked for.
    Branching(const Component& component, Selection start, const Deadline& deadline)
        : component_(component), deadline_(deadline), best_(std::move(start)),
          forbidden_(component.refs.size(), 0), pick_(component.refs.size(), 0),
          uses_(component.wants.size(), 0) {
        for (const PackRef* ref : component.refs) columns_.push_back(useful_columns(*ref));
    }

    // Searches at most `most` nodes; true if the best selection is proven.
    bool run(int64_t most) {
        for (size_t r = 0; r < columns_.size(); ++r) {
            total_ += columns_[r][0].worth;
            count(r, 1);
        }
        most_ = most;
        visit();
        return !stopped_;
    }

    const Selection& best() const { return best_; }
    int64_t nodes() const { return nodes_; }

private:
    using Undo = std::vector<std::pair<size_t, int>>;

    const Component& component_;
    const Deadline& deadline_;
    Selection best_;
    std::vector<std::vector<Column>> columns_;
    std::vector<uint32_t> forbidden_;  // per reference: candidates it must not take
    std::vector<int> pick_, uses_;
    double total_ = 0;
    int64_t nodes_ = 0, most_ = 0;
    bool stopped_ = false;

    const Column& picked(size_t r) const { return columns_[r][pick_[r]]; }

    void count(size_t r, int by) {
        for (uint32_t rest = picked(r).members, bit = 0; rest >> bit != 0; ++bit)
            if (rest >> bit & 1) uses_[component_.preds[r][bit]] += by;
    }

    void repick(size_t r) {
        count(r, -1);
        total_ -= picked(r).worth;
        pick_[r] = 0;
        while (picked(r).members & forbidden_[r]) ++pick_[r];
        total_ += picked(r).worth;
        count(r, 1);
    }

    void visit() {
        if (total_ <= best_.worth + kSlack) return;
        if (nodes_ >= most_ || deadline_.passed()) {
            stopped_ = true;
            return;
        }
        ++nodes_;
        auto most_wanted = std::max_element(uses_.begin(), uses_.end());
        if (*most_wanted <= 1) return keep();
        int conflict = static_cast<int>(most_wanted - uses_.begin());
        std::vector<int> takers;
        for (auto [r, bit] : component_.wants[conflict])
            if (picked(r).members >> bit & 1) takers.push_back(r);
        for (int owner : takers) descend(conflict, [&](int r) { return r != owner; });
        descend(conflict, [&](int r) {
            return std::find(takers.begin(), takers.end(), r) != takers.end();
        });
    }

    void keep() {
        best_.worth = 0;
        for (size_t r = 0; r < columns_.size(); ++r) {
            best_.members[r] = members_of(picked(r).members);
            best_.worth += picked(r).worth;
        }
    }

    template <typename Loses>
    void descend(int conflict, Loses&& loses) {
        if (stopped_) return;
        Undo undo;
        for (auto [r, bit] : component_.wants[conflict])
            if (loses(r) && !(forbidden_[r] >> bit & 1)) {
                undo.push_back({r, bit});
                forbidden_[r] |= 1u << bit;
                repick(r);
            }
        visit();
        for (auto [r, bit] : undo) {
            forbidden_[r] &= ~(1u << bit);
            repick(r);
        }
    }
};

}  // namespace panmatch
