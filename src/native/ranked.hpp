// Detections ranked by confidence, as in the COCO programs: greedy matching and precision.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace panmatch {

enum Verdict : uint8_t { kFalse = 0, kTrue = 1, kIgnored = 2 };

// References and predictions of one image and class; predictions by falling confidence. `iou` is a
// table [pred, ref], `crowd` references take any number of predictions.
struct RankedGroup {
    int64_t n_ref, n_pred;
    const double* iou;
    const uint8_t* crowd;

    double at(int64_t pred, int64_t ref) const { return iou[pred * n_ref + ref]; }
};

// Every prediction in turn takes the free reference with the highest IoU of at least the threshold.
// References that are ignored come last, and only where no other fits; among equals the last wins.
class RankedMatcher {
public:
    void match(const RankedGroup& group, const uint8_t* ignored, const uint8_t* outside,
               double threshold, uint8_t* verdict) {
        order(group, ignored);
        taken_.assign(static_cast<size_t>(group.n_ref), 0);
        for (int64_t pred = 0; pred < group.n_pred; ++pred) {
            int64_t found = best_free(group, ignored, pred, std::min(threshold, 1 - 1e-10));
            if (found >= 0) taken_[found] = 1;
            if (found >= 0) verdict[pred] = ignored[found] ? kIgnored : kTrue;
            else verdict[pred] = outside[pred] ? kIgnored : kFalse;
        }
    }

private:
    std::vector<int64_t> order_;
    std::vector<char> taken_;

    void order(const RankedGroup& group, const uint8_t* ignored) {
        order_.clear();
        for (uint8_t kind : {uint8_t{0}, uint8_t{1}})
            for (int64_t ref = 0; ref < group.n_ref; ++ref)
                if ((ignored[ref] != 0) == (kind != 0)) order_.push_back(ref);
    }

    int64_t best_free(const RankedGroup& group, const uint8_t* ignored, int64_t pred,
                      double least) const {
        int64_t found = -1;
        for (int64_t ref : order_) {
            if (taken_[ref] && !group.crowd[ref]) continue;
            if (found >= 0 && !ignored[found] && ignored[ref]) break;
            double iou = group.at(pred, ref);
            if (iou < least) continue;
            least = iou;
            found = ref;
        }
        return found;
    }
};

// Precision at given recalls, and the highest recall, of detections in the order of their
// confidence. Precision at a recall is the highest at that recall or a higher one.
class RankedCurve {
public:
    // The verdict of detection i is verdict[order[i]]; those that are ignored count nowhere.
    void trace(const uint8_t* verdict, const int64_t* order, int64_t n, int64_t n_ref) {
        precision_.clear();
        recall_.clear();
        double hits = 0, misses = 0;
        for (int64_t i = 0; i < n; ++i) {
            uint8_t one = verdict[order[i]];
            hits += one == kTrue;
            misses += one == kFalse;
            recall_.push_back(hits / static_cast<double>(n_ref));
            precision_.push_back(hits / (misses + hits + kSpacing));
        }
        for (int64_t i = n - 1; i > 0; --i)
            precision_[i - 1] = std::max(precision_[i - 1], precision_[i]);
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
