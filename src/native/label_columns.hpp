// The nearest labels in a few neighbouring columns at once: of sites at the same distance the one
// with the smaller label wins (D8).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "column_group.hpp"
#include "envelope.hpp"

namespace panmatch {

// T: labels, 0 where there is no site. D: squared distances, which it holds exactly.
template <typename T, typename D>
class LabelColumns {
public:
    LabelColumns(double weight, int64_t length)
        : length_(length), group_(weight, length), envelope_(weight, length),
          label_(length * kLanes), found_(length * kLanes), run_(length), first_of_run_(length + 1) {}

    // Reads one point of `count` columns; the last column stands in for those that are missing.
    void read(int64_t x, const D* square, const T* label, int64_t count) {
        copy_lanes(square, count, group_.heights(x));
        copy_lanes(label, count, &label_[x * kLanes]);
    }

    void write(int64_t x, D* square, T* label, int64_t count) {
        store_lanes(group_.costs(x), count, square);
        store_lanes(&found_[x * kLanes], count, label);
    }

    void settle(int64_t count) {
        number_runs();
        bool together = count >= kFew && group_.settle(0, length_ - 1, [&](int64_t x, int64_t from, int64_t to) {
            if (run_[from] == run_[to]) of_one_run(x, from, to);
            else of_several_runs(x, from, to);
        });
        for (int64_t lane = 0; !together && lane < count; ++lane) alone(lane);
    }

private:
    static constexpr int64_t kFew = 3;  // columns that are looked at one by one
    int64_t length_;
    ColumnGroup<D> group_;
    Envelope<true> envelope_;
    std::vector<T> label_, found_;
    std::vector<int64_t> run_, first_of_run_;

    // Rows with the same label in all lanes are a run, and rows without a site belong to the run
    // before. All other rows are runs of their own.
    void number_runs() {
        int64_t run = 0;
        T current = 0;
        first_of_run_[0] = 0;
        for (int64_t x = 0; x < length_; ++x) {
            const T* label = &label_[x * kLanes];
            T any = 0, differ = 0;
            for (int64_t c = 0; c < kLanes; ++c) {
                any = static_cast<T>(any | label[c]);
                differ = static_cast<T>(differ | (label[c] ^ label[0]));
            }
            if (any != 0 && (differ != 0 || label[0] != current)) {
                first_of_run_[++run] = x;
                current = differ != 0 ? T{0} : label[0];
            }
            run_[x] = run;
        }
    }

    // Whichever site wins, its label is known.
    void of_one_run(int64_t x, int64_t from, int64_t to) {
        group_.template look<false>(x, from, to);
        std::copy_n(&label_[first_of_run_[run_[from]] * kLanes], kLanes, &found_[x * kLanes]);
    }

    void of_several_runs(int64_t x, int64_t from, int64_t to) {
        int ties = group_.template look<true>(x, from, to);
        const D* winner = group_.winners(x);
        T* found = &found_[x * kLanes];
        for (int64_t c = 0; c < kLanes; ++c) found[c] = label_[static_cast<int64_t>(winner[c]) * kLanes + c];
        for (; ties != 0; ties &= ties - 1) {
            int lane = lowest_bit(static_cast<uint64_t>(ties));
            for (int64_t u = static_cast<int64_t>(winner[lane]) + 1; u <= to; ++u)
                if (label_[u * kLanes + lane] < found[lane] && group_.cost(x, u, lane) == group_.costs(x)[lane])
                    found[lane] = label_[u * kLanes + lane];
        }
    }

    void alone(int64_t lane) {
        envelope_.begin(0, length_ - 1);
        for (int64_t x = 0; x < length_; ++x) {
            group_.costs(x)[lane] = static_cast<D>(kInfinity);
            found_[x * kLanes + lane] = 0;
            T label = label_[x * kLanes + lane];
            if (label != 0) envelope_.add(x, group_.heights(x)[lane], static_cast<int64_t>(label));
        }
        envelope_.read([&](int64_t x, double cost, int64_t nearest) {
            group_.costs(x)[lane] = static_cast<D>(cost);
            found_[x * kLanes + lane] = static_cast<T>(nearest);
        });
    }
};

}  // namespace panmatch
