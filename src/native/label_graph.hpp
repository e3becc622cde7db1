// From counted pairs of labels to the graph of two plain label images.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace panmatch {

// Segments and edges of two images, label 0 being background. Positions of edges count from the
// first segment of either side.
struct LabelGraph {
    std::vector<int64_t> ref_ids, ref_sizes, pred_ids, pred_sizes, edge_ref, edge_pred, shared;
    int64_t voxels = 0;

    // Pairs are sorted by reference and prediction, and every pair occurs once.
    LabelGraph(const int64_t* ref, const int64_t* pred, const int64_t* counts, size_t n) {
        pred_ids.assign(pred, pred + n);
        std::sort(pred_ids.begin(), pred_ids.end());
        pred_ids.erase(std::unique(pred_ids.begin(), pred_ids.end()), pred_ids.end());
        pred_ids.erase(std::remove(pred_ids.begin(), pred_ids.end(), 0), pred_ids.end());
        pred_sizes.resize(pred_ids.size());
        for (size_t i = 0; i < n; ++i) add(ref[i], pred[i], counts[i]);
    }

private:
    void add(int64_t ref, int64_t pred, int64_t count) {
        voxels += count;
        if (ref != 0 && (ref_ids.empty() || ref_ids.back() != ref)) {
            ref_ids.push_back(ref);
            ref_sizes.push_back(0);
        }
        if (ref != 0) ref_sizes.back() += count;
        if (pred == 0) return;
        auto at = std::lower_bound(pred_ids.begin(), pred_ids.end(), pred) - pred_ids.begin();
        pred_sizes[static_cast<size_t>(at)] += count;
        if (ref == 0) return;
        edge_ref.push_back(static_cast<int64_t>(ref_ids.size()) - 1);
        edge_pred.push_back(at);
        shared.push_back(count);
    }
};

}  // namespace panmatch
