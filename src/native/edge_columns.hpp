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
    constexpr int64_t kMany = 8;  // at a time, in long runs
    for (int64_t from = 0, to; from < n; from = to) {
        auto label = at(from);
        auto differ = [&](int64_t x) {
            decltype(label) any = 0;
            for (int64_t i = 0; i < kMany; ++i) any = static_cast<decltype(label)>(any | (at(x + i) ^ label));
            return any != 0;
        };
        to = from + 1;
        while (to < n && to < from + kMany && at(to) == label) ++to;
        if (to == from + kMany)
            while (to + kMany <= n && !differ(to)) to += kMany;
        while (to < n && at(to) == label) ++to;
        visit(from, to);
    }
}

// T: labels. K: keys of sites. With `border` everything beyond the image counts as another label.
// Unless squared distances are whole numbers, with which `most` is finite, each column is looked at
// alone.
template <typename T, typename K>
class EdgeColumns {
public:
    EdgeColumns(double weight, int64_t length, bool border, double most)
        : length_(length), border_(border), whole_(most < kInfinity),
          group_(whole_ ? weight : 1, whole_ ? length : 0, whole_ ? most : 0), envelope_(weight, length),
          label_(length * kLanes), site_(length) {}

    // Reads one point of `count` columns; the last column stands in for those that are missing.
    // Points come from left to right. Heights at a point are infinite in all columns or in none.
    template <typename D>
    void read(int64_t x, const D* square, const T* label, int64_t count) {
        if (x == 0) begin(count);
        if (alone_) {
            store_lanes(square, count, &square_[x * kLanes]);
            store_lanes(label, count, &label_[x * kLanes]);
            return;
        }
        if (all_zero(square, count)) return read_background(x);
        copy_lanes(label, count, &label_[x * kLanes]);
        if (!within_) begin_stretch(x);
        site_[x] = kNone;
        if (square[0] < static_cast<D>(kInfinity)) {
            site_[x] = static_cast<int32_t>(group_.sites());
            group_.add(x, square, count);
        } else {
            infinite_ = true;
        }
        if (x + 1 == length_) end_stretch(length_, border_);
    }

    // Leaves what has not changed: background, and columns without any edge.
    template <typename D>
    bool write(int64_t x, D* square, int64_t count) const {
        if (alone_) return store_lanes(&square_[x * kLanes], count, square), true;
        if (site_[x] == kBackground || !has_edge()) return false;
        group_.store_costs(x, count, square);
        return true;
    }

    void settle(int64_t count) {
        if (!alone_ && !has_edge()) return;
        bool together = !alone_ && !(touch_ && infinite_);
        if (together) group_.close();
        for (size_t i = 0; together && i < stretches_.size(); ++i) {
            const Stretch& s = stretches_[i];
            if (s.touch) number_objects(s);
            together = s.touch ? group_.template settle<true>(s.begin, s.end, s.first, s.last)
                               : group_.template settle<false>(s.begin, s.end, s.first, s.last);
        }
        for (int64_t lane = 0; !together && lane < count; ++lane) alone(lane);
    }

private:
    static constexpr int64_t kFew = 3;  // columns that are looked at one by one
    static constexpr int32_t kNone = -1, kBackground = -2;

    // Points begin … end − 1 that are not background in all columns, the sites on them and at their
    // ends, and whether objects touch there. With background between them, which has height 0,
    // stretches do not see each other.
    struct Stretch {
        int64_t begin, end, first, last;
        bool touch;
    };

    int64_t length_;
    bool border_, whole_, alone_ = false, within_ = false, touch_ = false, infinite_ = false;
    ColumnGroup<K> group_;
    Envelope<false> envelope_;
    std::vector<T> label_;
    std::vector<int32_t> site_;  // of points
    std::vector<Stretch> stretches_;
    std::vector<double> square_;  // of points, in columns that are looked at alone from the start

    void begin(int64_t count) {
        alone_ = !whole_ || count < kFew;
        if (alone_) square_.resize(length_ * kLanes);
        within_ = touch_ = infinite_ = false;
        group_.clear();
        stretches_.clear();
    }

    void read_background(int64_t x) {
        site_[x] = kBackground;
        std::fill_n(&label_[x * kLanes], kLanes, T(0));
        if (within_) end_stretch(x, true);
    }

    void begin_stretch(int64_t x) {
        bool edge = x > 0 || border_, known = group_.sites() > 0 && group_.place(group_.sites() - 1) == x - 1;
        if (edge && !known) group_.add(x - 1);
        stretches_.push_back({x, x, edge ? group_.sites() - 1 : 0, 0, false});
        within_ = true;
    }

    void end_stretch(int64_t x, bool edge) {
        if (edge) group_.add(x);
        Stretch& stretch = stretches_.back();
        stretch.end = x;
        stretch.last = group_.sites() - 1;
        stretch.touch = labels_touch(stretch.begin, x);
        touch_ |= stretch.touch;
        within_ = false;
    }

    // Whether objects touch along a column, at the points begin … end − 1.
    bool labels_touch(int64_t begin, int64_t end) const {
        T touch = 0;
        for (int64_t i = (begin + 1) * kLanes; i < end * kLanes; ++i) {
            T here = label_[i], before = label_[i - kLanes];
            touch = static_cast<T>(touch | ((here != before) & (here != 0) & (before != 0)));
        }
        return touch != 0;
    }

    // Whether there is any edge that points of an object have a distance to.
    bool has_edge() const { return touch_ || group_.sites() > 0; }

    void number_objects(const Stretch& stretch) {
        K number[kLanes];
        T before[kLanes] = {};
        std::fill_n(number, kLanes, Limits<K>::kLeast);
        for (int64_t site = stretch.first; site <= stretch.last + group_.kPadding; ++site) {
            int64_t x = group_.place(site);
            if (x >= 0 && x < length_)
                for (int64_t c = 0; c < kLanes; ++c) {
                    number[c] += label_[x * kLanes + c] != before[c];
                    before[c] = label_[x * kLanes + c];
                }
            group_.set_objects(site, number);
        }
    }

    double height(int64_t x, int64_t lane) const {
        if (alone_) return square_[x * kLanes + lane];
        return site_[x] == kNone ? kInfinity : group_.height(site_[x], lane);
    }

    void set_cost(int64_t x, int64_t lane, double cost) {
        if (alone_) square_[x * kLanes + lane] = cost;
        else group_.set_cost(x, lane, cost);
    }

    void alone(int64_t lane) {
        auto label = [&](int64_t x) { return label_[x * kLanes + lane]; };
        each_run(length_, label, [&](int64_t from, int64_t to) {
            if (label(from) == 0) {
                for (int64_t x = from; x < to; ++x) set_cost(x, lane, 0);
                return;
            }
            envelope_.begin(from, to - 1);
            if (border_ || from > 0) envelope_.add(from - 1, 0);
            for (int64_t x = from; x < to; ++x) {
                double h = height(x, lane);
                if (h < kInfinity) envelope_.add(x, h);
            }
            if (border_ || to < length_) envelope_.add(to, 0);
            envelope_.read([&](int64_t x, double cost, int64_t) { set_cost(x, lane, cost); });
        });
    }
};

}  // namespace panmatch
