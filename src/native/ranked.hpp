// Detections ranked by confidence, as in the COCO programs: greedy matching and precision.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace panmatch {

enum Verdict : uint8_t { kFalse = 0, kTrue = 1, kIgnored = 2 };

// A reference that a prediction overlaps.
struct RankedPartner {
    int64_t ref;
    double iou;
};

// References and predictions of one image and class; predictions by falling confidence. Those of
// prediction i are partners[first[i]] … first[i + 1] − 1, by rising reference. References that are
// `crowd` take any number of predictions.
struct RankedGroup {
    int64_t n_ref, n_pred;
    const int64_t* first;
    const RankedPartner* partners;
    const uint8_t* crowd;
};

// Every prediction in turn takes the free reference with the highest IoU of at least the threshold,
// which is above 0. References that are ignored come last, and only where no other fits; among equals
// the last wins.
class RankedMatcher {
public:
    // How many pairs fit at a threshold. Where as many fit at another one, they are the same, and so
    // are all verdicts.
    static int64_t fitting(const RankedGroup& group, double threshold) {
        int64_t n = 0;
        double least = lowest_iou(threshold);
        for (int64_t i = 0; i < group.first[group.n_pred]; ++i) n += group.partners[i].iou >= least;
        return n;
    }

    void match(const RankedGroup& group, const uint8_t* ignored, const uint8_t* outside,
               double threshold, uint8_t* verdict) {
        taken_.assign(static_cast<size_t>(group.n_ref), 0);
        double least = lowest_iou(threshold);
        for (int64_t pred = 0; pred < group.n_pred; ++pred) {
            int64_t found = best_free(group, ignored, pred, least);
            if (found >= 0) taken_[found] = 1;
            if (found >= 0) verdict[pred] = ignored[found] ? kIgnored : kTrue;
            else verdict[pred] = outside[pred] ? kIgnored : kFalse;
        }
    }

private:
    std::vector<char> taken_;

    static double lowest_iou(double threshold) { return std::min(threshold, 1 - 1e-10); }

    int64_t best_free(const RankedGroup& group, const uint8_t* ignored, int64_t pred,
                      double least) const {
        const RankedPartner *begin = group.partners + group.first[pred],
                            *end = group.partners + group.first[pred + 1];
        int64_t found = -1;
        for (uint8_t kind = 0; kind < 2 && found < 0; ++kind) {
            double highest = least;
            for (const RankedPartner* one = begin; one < end; ++one) {
                if (one->iou < highest || (ignored[one->ref] != 0) != (kind != 0)) continue;
                if (taken_[one->ref] && !group.crowd[one->ref]) continue;
                highest = one->iou;
                found = one->ref;
            }
        }
        return found;
    }
};

// Precision at given recalls, and the highest recall, of detections in the order of their
// confidence. Precision at a recall is the highest at that recall or a higher one.
class RankedCurve {
public:
    // The verdict of detection i is verdict[order[i]]; those that are ignored count nowhere. Only at a
    // hit can precision be the highest, and recall rise.
    void trace(const uint8_t* verdict, const int64_t* order, int64_t n, int64_t n_ref) {
        n_ref_ = static_cast<double>(n_ref);
        if (hit_.size() <= static_cast<size_t>(n)) {
            hit_.resize(static_cast<size_t>(n) + 1);
            precision_.resize(static_cast<size_t>(n) + 1);
        }
        int64_t hits = 0, misses = 0;
        for (int64_t i = 0; i < n; ++i) {  // without a branch, which nobody could predict
            uint8_t one = verdict[order[i]];
            misses += one == kFalse;
            hit_[hits] = order[i];
            precision_[hits] = static_cast<double>(misses);
            hits += one == kTrue;
        }
        hits_ = hits;
        for (int64_t i = 0; i < hits; ++i) {
            double found = static_cast<double>(i + 1);
            precision_[i] = found / (precision_[i] + found + kSpacing);
        }
        for (int64_t i = hits; i > 1; --i)
            precision_[i - 2] = std::max(precision_[i - 2], precision_[i - 1]);
    }

    void sample(const double* recalls, int64_t n, double* precision) const {
        int64_t at = 0;
        for (int64_t i = 0; i < n; ++i) {
            while (at < hits_ && static_cast<double>(at + 1) / n_ref_ < recalls[i]) ++at;
            precision[i] = at < hits_ ? precision_[at] : 0.0;
        }
    }

    // The highest recall if only detections of a rank below the limit count.
    double highest_recall(const int64_t* rank, int64_t limit) const {
        int64_t found = 0;
        for (int64_t i = 0; i < hits_; ++i) found += rank[hit_[i]] < limit;
        return static_cast<double>(found) / n_ref_;
    }

private:
    static constexpr double kSpacing = 2.220446049250313e-16;  // they avoid 0 / 0 with it

    int64_t hits_ = 0;
    double n_ref_ = 1;
    std::vector<int64_t> hit_;  // the detections that are hits, and one place more
    std::vector<double> precision_;
};

// Positions by rising group, then falling score, then as they were; without scores by group alone.
class RankedOrder {
public:
    std::vector<int64_t> of(const int64_t* group, const double* score, int64_t n) {
        std::vector<int64_t> order(static_cast<size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        by_group(group, order);
        if (score == nullptr) return order;
        auto is_before = [score](int64_t a, int64_t b) { return score[a] > score[b]; };
        for (int64_t from = 0, to = 0; from < n; from = to) {
            while (to < n && group[order[to]] == group[order[from]]) ++to;
            std::stable_sort(order.begin() + from, order.begin() + to, is_before);
        }
        return order;
    }

private:
    static constexpr int kBits = 11;

    // Some bits of the group after the other, the lowest first.
    static void by_group(const int64_t* group, std::vector<int64_t>& order) {
        int64_t highest = 0;
        for (int64_t i : order) highest = std::max(highest, group[i]);
        std::vector<int64_t> sorted(order.size());
        for (int shift = 0; shift < 63 && highest >> shift > 0; shift += kBits) {
            std::vector<int64_t> first((size_t{1} << kBits) + 1);
            auto digit = [&](int64_t i) { return group[i] >> shift & ((1 << kBits) - 1); };
            for (int64_t i : order) ++first[digit(i) + 1];
            std::partial_sum(first.begin(), first.end(), first.begin());
            for (int64_t i : order) sorted[first[digit(i)]++] = i;
            order.swap(sorted);
        }
    }
};

}  // namespace panmatch
