// The nearest sites in a few neighbouring columns at once, without a branch per voxel.
//
// A site at position u with height h costs h + w (x − u)² at point x, as in envelope.hpp. From left
// to right the sites that win never go back, so the winner at a point lies between the winners at
// points on its left and right: first come points far apart, then those halfway between, and each
// looks only at the sites between its neighbours' winners. Neighbouring columns mostly agree on
// these, and are looked at together, one column per lane of a vector.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "envelope.hpp"
#include "lanes.hpp"
#include "lines.hpp"

namespace panmatch {

// Copies one point of `count` columns; the last of them stands in for those that are missing.
template <typename From, typename To>
void copy_lanes(const From* from, int64_t count, To* to) {
    if (count == kLanes) {
        for (int64_t c = 0; c < kLanes; ++c) to[c] = static_cast<To>(from[c]);
        return;
    }
    for (int64_t c = 0; c < kLanes; ++c) to[c] = static_cast<To>(from[std::min(c, count - 1)]);
}

template <typename From, typename To>
void store_lanes(const From* from, int64_t count, To* to) {
    if (count == kLanes) {
        for (int64_t c = 0; c < kLanes; ++c) to[c] = static_cast<To>(from[c]);
        return;
    }
    for (int64_t c = 0; c < count; ++c) to[c] = static_cast<To>(from[c]);
}

// S: a type that holds all costs exactly.
template <typename S>
class ColumnGroup {
public:
    ColumnGroup(double weight, int64_t length)
        : length_(length), weight_(weight), square_(2 * length + 3), height_((length + 2) * kLanes),
          cost_(length * kLanes), winner_(length * kLanes), low_(length), high_(length) {
        for (int64_t d = -length - 1; d <= length + 1; ++d)
            square_[length + 1 + d] = static_cast<S>(weight * static_cast<double>(d * d));
    }

    // Heights of the sites at `place`: −1 … length, one more than there are points on either side.
    S* heights(int64_t place) { return &height_[(place + 1) * kLanes]; }

    // Costs at a point, and the places of the sites that win there.
    S* costs(int64_t point) { return &cost_[point * kLanes]; }
    const S* winners(int64_t point) const { return &winner_[point * kLanes]; }

    // Calls node(point, from, to) once per point, which must call `look` with these. False if the
    // columns disagree so much about the sites first … last that each is better looked at alone.
    template <typename Node>
    bool settle(int64_t first, int64_t last, Node&& node) {
        int64_t stride = 1, patience = kPatience * length_;
        while (stride < length_) stride *= 2;
        for (; stride >= 1 && patience >= 0; stride /= 2)
            for (int64_t x = stride - 1; x < length_; x += 2 * stride) {
                int64_t from = x >= stride ? low_[x - stride] : first;
                int64_t to = x + stride < length_ ? high_[x + stride] : last;
                if (to - from > kNear) keep_near(x, from, to);
                patience -= to - from;
                node(x, from, to);
            }
        return patience >= 0;
    }

    // Finds the winners at a point among the sites from … to, the first of those that cost the same.
    // With kTies, returns one bit per lane in which there are several.
    template <bool kTies>
    int look(int64_t x, int64_t from, int64_t to) {
        if (from == to) return take(x, from);
        const Pack infinite = Pack::all(static_cast<S>(kInfinity)), none = Pack::all(S(0));
        Pack best[2] = {infinite, infinite}, winner[2] = {none, none}, tie[2] = {none, none};
        const Pack one = Pack::all(S(1));
        Pack place = Pack::all(static_cast<S>(from));
        const S* away = &square_[length_ + 1 - x];
        for (int64_t u = from; u <= to; ++u, place = place + one) {
            Pack square = Pack::all(away[u]);
            for (int half = 0; half < 2; ++half) {
                Pack cost = Pack::load(heights(u) + 4 * half) + square;
                Pack wins = cost < best[half];
                if (kTies) tie[half] = without(tie[half] | (cost == best[half]), wins);
                winner[half] = choose(wins, place, winner[half]);
                best[half] = smaller(cost, best[half]);
            }
        }
        for (int half = 0; half < 2; ++half) {
            best[half].store(costs(x) + 4 * half);
            winner[half].store(&winner_[x * kLanes + 4 * half]);
            tie[half] = without(tie[half], best[half] == infinite);
        }
        keep_range(x, from, to, best, winner);
        return kTies ? bits(tie[0]) | bits(tie[1]) << 4 : 0;
    }

    double cost(int64_t x, int64_t u, int64_t lane) {
        return static_cast<double>(heights(u)[lane] + square_[length_ + 1 + u - x]);
    }

private:
    using Pack = Four<S>;
    static constexpr int64_t kPatience = 48;  // sites per point
    static constexpr int64_t kNear = 24;      // sites that are not worth narrowing down
    int64_t length_;
    double weight_;
    std::vector<S> square_, height_, cost_, winner_;
    std::vector<int64_t> low_, high_;

    // The only site that can win.
    int take(int64_t x, int64_t site) {
        Pack square = Pack::all(square_[length_ + 1 + site - x]), place = Pack::all(static_cast<S>(site));
        for (int half = 0; half < 2; ++half) {
            (Pack::load(heights(site) + 4 * half) + square).store(costs(x) + 4 * half);
            place.store(&winner_[x * kLanes + 4 * half]);
        }
        low_[x] = high_[x] = site;
        return 0;
    }

    // A site that is further away than the height at the point itself never wins there.
    void keep_near(int64_t x, int64_t& from, int64_t& to) {
        const S* height = heights(x);
        double highest = static_cast<double>(*std::max_element(height, height + kLanes));
        if (!(highest < kInfinity)) return;
        int64_t reach = static_cast<int64_t>(std::sqrt(highest / weight_)) + 1;
        from = std::max(from, x - reach);
        to = std::min(to, x + reach);
    }

    // Between which sites all lanes have their winners; lanes without any do not count.
    void keep_range(int64_t x, int64_t from, int64_t to, const Pack* best, const Pack* winner) {
        Pack infinite = Pack::all(static_cast<S>(kInfinity));
        Pack low = Pack::all(static_cast<S>(to)), high = Pack::all(static_cast<S>(from));
        for (int half = 0; half < 2; ++half) {
            Pack found = best[half] < infinite;
            low = smaller(low, choose(found, winner[half], low));
            high = larger(high, choose(found, winner[half], high));
        }
        S lows[4], highs[4];
        low.store(lows);
        high.store(highs);
        low_[x] = static_cast<int64_t>(std::min(std::min(lows[0], lows[1]), std::min(lows[2], lows[3])));
        high_[x] = static_cast<int64_t>(std::max(std::max(highs[0], highs[1]), std::max(highs[2], highs[3])));
    }
};

}  // namespace panmatch
