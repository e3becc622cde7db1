// The lower envelope of parabolas on a line of lattice points: which site is nearest to each point.
//
// A site at position u with height h costs h + w (x − u)² at point x; w is the weight of the axis.
// Of two sites the right one wins from some point on, so a stack of sites with the first point at
// which each wins is all we need. Sites are compared by their costs at lattice points and
// not by where parabolas cross: costs that are exact numbers give an exact answer, ties included.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace panmatch {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// With kLabels, of two sites at the same cost the one with the smaller label wins.
template <bool kLabels>
class Envelope {
public:
    Envelope(double weight, int64_t length) : weight_(weight), sites_(length + 3), half_(length + 3) {
        for (size_t d = 1; d < half_.size(); ++d) half_[d] = 0.5 / (weight * static_cast<double>(d));
    }

    // Begins a line whose points are first … last.
    void begin(int64_t first, int64_t last) {
        first_ = static_cast<double>(first);
        last_ = static_cast<double>(last);
        top_ = -1;
    }

    // Sites come from left to right, and may lie one point outside the line.
    void add(int64_t place, double height, int64_t label = 0) {
        Site site{height, static_cast<double>(place), first_, 0, label};
        while (top_ >= 0) {
            const Site& left = sites_[top_];
            if (!(cost(site, left.from) < left.cost_from)) {
                site.from = first_win(site, left);
                break;
            }
            --top_;
        }
        if (site.from > last_) return;
        site.cost_from = cost(site, site.from);
        sites_[++top_] = site;
    }

    bool empty() const { return top_ < 0; }

    // Calls visit(point, cost, label) for every point, from right to left.
    template <typename Visit>
    void read(Visit&& visit) const {
        int64_t x = static_cast<int64_t>(last_);
        for (int64_t top = top_; top >= 0; --top) {
            const Site& site = sites_[top];
            int64_t from = static_cast<int64_t>(site.from);
            for (; x >= from; --x) visit(x, cost(site, static_cast<double>(x)), site.label);
        }
    }

private:
    // Points are kept as double, for arithmetic; they are whole numbers.
    struct Site {
        double height, position, from, cost_from;
        int64_t label;
    };

    double weight_;
    std::vector<Site> sites_;
    std::vector<double> half_;  // 1 / (2 w d)
    double first_ = 0, last_ = -1;
    int64_t top_ = -1;

    double cost(const Site& site, double x) const {
        double d = x - site.position;
        return site.height + weight_ * (d * d);
    }

    // The crossing is rounded, the costs at the point next to it are not: the right site wins from
    // that point on, or from the one after it. No branch, since either is as likely.
    double first_win(const Site& right, const Site& left) const {
        constexpr double kRounding = 1e-7;
        double gap = right.position - left.position;
        double crossing = (right.height - left.height) * half_[static_cast<size_t>(gap)] +
                          0.5 * (right.position + left.position);
        if (!(crossing < last_ + 1)) return last_ + 1;
        // Never negative: the left site wins at its first point, which is at least 0.
        double x = static_cast<double>(static_cast<int64_t>(crossing + kRounding));
        double a = cost(right, x), b = cost(left, x);
        bool wins = (a < b) | (kLabels & (a == b) & (right.label < left.label));
        return x + (wins ? 0.0 : 1.0);
    }
};

}  // namespace panmatch
