// Detections ranked by confidence, as in the COCO programs: greedy matching and precision.
#pragma once

#include <algorithm>
#include <cstdint>
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
    void match(const RankedGroup& group, const uint8_t* ignored, const uint8_t* outside,
               double threshold, uint8_t* verdict) {
        taken_.assign(static_cast<size_t>(group.n_ref), 0);
        double least = std::min(threshold, 1 - 1e-10);
        for (int64_t pred = 0; pred < group.n_pred; ++pred) {
            int64_t found = best_free(group, ignored, pred, least);
            if (found >= 0) taken_[found] = 1;
            if (found >= 0) verdict[pred] = ignored[found] ? kIgnored : kTrue;
            else verdict[pred] = outside[pred] ? kIgnored : kFalse;
        }
    }

private:
    std::vector<char> taken_;

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
        precision_.clear();
        recall_.clear();
        double hits = 0, misses = 0;
        for (int64_t i = 0; i < n; ++i) {
            uint8_t one = verdict[order[i]];
            misses += one == kFalse;
            if (one != kTrue) continue;
            hits += 1;
            recall_.push_back(hits / static_cast<double>(n_ref));
            precision_.push_back(hits / (misses + hits + kSpacing));
        }
        for (size_t i = precision_.size(); i > 1; --i)
            precision_[i - 2] = std::max(precision_[i - 2], precision_[i - 1]);
    }

    void sample(const double* recalls, int64_t n, double* precision) const {
        size_t at = 0;
        for (int64_t i = 0; i < n; ++i) {
            while (at < recall_.size() && recall_[at] < recalls[i]) ++at;
            precision[i] = at < recall_.size() ? precision_[at] : 0.0;
        }
    }

    double highest_recall() const { return recall_.empty() ? 0.0 : recall_.back(); }

private:
    static constexpr double kSpacing = 2.220446049250313e-16;  // they avoid 0 / 0 with it

    std::vector<double> precision_, recall_;
};

}  // namespace panmatch
