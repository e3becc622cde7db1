// The nearest labels in a few neighbouring columns at once: of sites at the same distance the one
// with the smaller label wins (D8).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "column_group.hpp"
#include "envelope.hpp"

namespace panmatch {

// T: labels, 0 where there is no site. K: keys of sites.
template <typename T, typename K>
class LabelColumns {
public:
    LabelColumns(double weight, int64_t length, double most)
        : length_(length), group_(weight, length, most), envelope_(weight, length),
          label_(length * kLanes), found_(length * kLanes), run_(length) {}

    // Reads one point of `count` columns. Points come from left to right; a point is a site in all
    // columns or in none.
    template <typename D>
    void read(int64_t x, const D* square, const T* label, int64_t count) {
        if (x == 0) begin();
        settled_ = settled_ && all_zero(square, count);
        if (!(square[0] < static_cast<D>(kInfinity))) return;
        copy_lanes(label, count, &label_[group_.sites() * kLanes]);
        group_.add(x, square, count);
    }

    // Without a site, and if all points are sites of height 0, everything stays as it is.
    template <typename D>
    void write(int64_t x, D* square, T* label, int64_t count) const {
        if (settled_ || group_.sites() == 0) return;
        if (square != nullptr) group_.store_costs(x, count, square);
        store_lanes(&found_[x * kLanes], count, label);
    }

    void settle(int64_t count) {
        if (settled_ || group_.sites() == 0) return;
        group_.close();
        if (count >= kFew && group_.template settle<false>(0, length_, 0, group_.sites() - 1)) return find_labels();
        for (int64_t lane = 0; lane < count; ++lane) alone(lane);
    }

private:
    static constexpr int64_t kFew = 3;  // columns that are looked at one by one
    int64_t length_;
    bool settled_ = false;
    ColumnGroup<K> group_;
    Envelope<true> envelope_;
    std::vector<T> label_, found_;  // of sites, of points
    std::vector<int32_t> run_;      // of sites: each begins with a site whose labels are not those before

    void begin() {
        group_.clear();
        settled_ = true;
    }

    void number_runs() {
        int32_t run = 0;
        run_[0] = 0;
        for (int64_t site = 1; site < group_.sites(); ++site) {
            const T* label = &label_[site * kLanes];
            T differ = 0;
            for (int64_t c = 0; c < kLanes; ++c) differ = static_cast<T>(differ | (label[c] ^ label[c - kLanes]));
            run_[site] = run += differ != 0;
        }
    }

    // All sites that cost the same at a point lie between the winners there and at the next point.
    void find_labels() {
        number_runs();
        for (int64_t x = 0; x < length_; ++x) {
            int64_t from = group_.lowest_winner(x);
            int64_t to = x + 1 < length_ ? group_.highest_winner(x + 1) : group_.sites() - 1;
            if (run_[from] != run_[to]) of_several_runs(x, from, to);
            else for (int64_t c = 0; c < kLanes; ++c) found_[x * kLanes + c] = label_[from * kLanes + c];
        }
    }

    void of_several_runs(int64_t x, int64_t from, int64_t to) {
        K last[kLanes];
        group_.find_last(x, from, to, last);
        T* found = &found_[x * kLanes];
        for (int64_t c = 0; c < kLanes; ++c) {
            int64_t site = group_.winner(x, c), end = static_cast<int64_t>(last[c]);
            found[c] = label_[site * kLanes + c];
            while (++site <= end)
                if (label_[site * kLanes + c] < found[c] && group_.ties(x, site, c))
                    found[c] = label_[site * kLanes + c];
        }
    }

    void alone(int64_t lane) {
        envelope_.begin(0, length_ - 1);
        for (int64_t site = 0; site < group_.sites(); ++site)
            envelope_.add(group_.place(site), group_.height(site, lane),
                          static_cast<int64_t>(label_[site * kLanes + lane]));
        envelope_.read([&](int64_t x, double cost, int64_t nearest) {
            group_.set_cost(x, lane, cost);
            found_[x * kLanes + lane] = static_cast<T>(nearest);
        });
    }
};

}  // namespace panmatch
