// Distances to the nearest voxel with another label, in a few neighbouring columns at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "column_group.hpp"
#include "envelope.hpp"

namespace panmatch {

// Calls visit(from, to) for every run of equal labels in a line, whose labels are at(0) … at(n − 1).
template <typename At, typename Visit>
void each_run(int64_t n, At&& at, Visit&& visit) {
    for (int64_t from = 0, to; from < n; from = to) {
        to = from + 1;
        while (to < n && at(to) == at(from)) ++to;
        visit(from, to);
    }
}

// T: labels. S: squared distances. With `border` everything beyond the image counts as another
// label. Unless costs are `exact`, each column is looked at alone.
template <typename T, typename S>
class EdgeColumns {
public:
    EdgeColumns(double weight, int64_t length, bool border, bool exact)
        : length_(length), border_(border), exact_(exact), group_(weight, length),
          envelope_(weight, length), label_(length * kLanes) {}

    // Reads one point of `count` columns; the last column stands in for those that are missing.
    template <typename D>
    void read(int64_t x, const D* square, const T* label, int64_t count) {
        copy_lanes(square, count, group_.heights(x));
        copy_lanes(label, count, &label_[x * kLanes]);
    }

    template <typename D>
    void write(int64_t x, D* square, int64_t count) {
        store_lanes(group_.costs(x), count, square);
    }

    void settle(int64_t count) {
        int64_t first = border_ ? -1 : 0, last = border_ ? length_ : length_ - 1;
        bool together = exact_ && count >= kFew && !labels_touch();
        if (together) {
            for (int64_t u : {int64_t{-1}, length_}) std::fill_n(group_.heights(u), kLanes, S(0));
            together = group_.settle(first, last, [&](int64_t x, int64_t from, int64_t to) {
                group_.template look<false>(x, from, to);
            });
        }
        for (int64_t lane = 0; !together && lane < count; ++lane) alone(lane);
    }

private:
    static constexpr int64_t kFew = 3;  // columns that are looked at one by one
    int64_t length_;
    bool border_, exact_;
    ColumnGroup<S> group_;
    Envelope<false> envelope_;
    std::vector<T> label_;

    // With background between them, which has height 0, objects do not see each other.
    bool labels_touch() const {
        T touch = 0;
        for (int64_t i = kLanes; i < length_ * kLanes; ++i) {
            T here = label_[i], before = label_[i - kLanes];
            touch = static_cast<T>(touch | ((here != before) & (here != 0) & (before != 0)));
        }
        return touch != 0;
    }

    void alone(int64_t lane) {
        auto label = [&](int64_t x) { return label_[x * kLanes + lane]; };
        each_run(length_, label, [&](int64_t from, int64_t to) {
            for (int64_t x = from; x < to; ++x) group_.costs(x)[lane] = group_.heights(x)[lane];
            if (label(from) == 0) return;
            envelope_.begin(from, to - 1);
            if (border_ || from > 0) envelope_.add(from - 1, 0);
            for (int64_t x = from; x < to; ++x) {
                double height = static_cast<double>(group_.heights(x)[lane]);
                if (height < kInfinity) envelope_.add(x, height);
            }
            if (border_ || to < length_) envelope_.add(to, 0);
            envelope_.read([&](int64_t x, double cost, int64_t) { group_.costs(x)[lane] = static_cast<S>(cost); });
        });
    }
};

}  // namespace panmatch
