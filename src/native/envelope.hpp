// The lower envelope of parabolas on a line of lattice points: which site is nearest to each point.
//
// A site at position u with height h costs h + w (x − u)² at point x; w is the squared spacing.
// Of two sites the right one wins from some point on, so a stack of sites with the first point at
// which each wins is all there is to it. Sites are compared by their costs at lattice points and
// not by where parabolas cross: costs that are exact numbers give an exact answer, ties included.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace panmatch {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// With kLabels, of two sites at the same cost the one with the smaller label wins.
template <bool kLabels>
class Envelope {
public:
    Envelope(double weight, int64_t length) : weight_(weight), sites_(length + 2), half_(length + 3) {
        for (size_t d = 1; d < half_.size(); ++d) half_[d] = 0.5 / (weight * static_cast<double>(d));
    }

    // Begins a line whose points are first … last.
    void begin(int64_t first, int64_t last) {
        first_ = first;
        last_ = last;
        top_ = -1;
    }

    // Sites come from left to right, and may lie one point outside the line.
    void add(int64_t position, double height, int64_t label = 0) {
        Site site{height, static_cast<double>(position), label, first_};
        while (top_ >= 0 && wins(site, sites_[top_], sites_[top_].from)) --top_;
        if (top_ >= 0) site.from = first_win(site, sites_[top_]);
        if (site.from <= last_) sites_[++top_] = site;
    }

    bool empty() const { return top_ < 0; }

    // Calls visit(point, cost, label) for every point, from right to left.
    template <typename Visit>
    void read(Visit&& visit) const {
        int64_t x = last_;
        for (int64_t top = top_; top >= 0; --top) {
            const Site& site = sites_[top];
            for (; x >= site.from; --x) visit(x, cost(site, x), site.label);
        }
    }

private:
    struct Site {
        double height, position;
        int64_t label, from;
    };

    double weight_;
    std::vector<Site> sites_;
    std::vector<double> half_;  // 1 / (2 w d)
    int64_t first_ = 0, last_ = -1, top_ = -1;

    // Crossings are rounded; only this near to a point can that make a difference.
    static constexpr double kNear = 1e-7;

    double cost(const Site& site, int64_t x) const {
        double d = static_cast<double>(x) - site.position;
        return site.height + weight_ * (d * d);
    }

    bool wins(const Site& right, const Site& left, int64_t x) const {
        double a = cost(right, x), b = cost(left, x);
        if (kLabels && a == b) return right.label < left.label;
        return a < b;
    }

    int64_t first_win(const Site& right, const Site& left) const {
        double gap = right.position - left.position;
        double crossing = (right.height - left.height) * half_[static_cast<size_t>(gap)] +
                          0.5 * (right.position + left.position);
        if (!(crossing < static_cast<double>(last_) + 1)) return last_ + 1;
        // Never negative: the left site wins at its first point, which is at least 0.
        int64_t x = static_cast<int64_t>(crossing) + 1;
        double before = static_cast<double>(x) - crossing;
        if (before > kNear && before < 1 - kNear) return x;
        while (x > left.from + 1 && wins(right, left, x - 1)) --x;
        while (x <= last_ && !wins(right, left, x)) ++x;
        return x;
    }
};

}  // namespace panmatch
