// Steps from a voxel to those around it, nearer ones first: all steps of one length are a shell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bit_mask.hpp"
#include "envelope.hpp"

namespace panmatch {

class Shells {
public:
    explicit Shells(const std::vector<double>& weight) : rows_axes_(weight.size() - 1) {
        double beyond = kInfinity;  // every step that leaves the reach costs at least as much
        int64_t reach = margin(weight.size());
        for (double one : weight)
            beyond = std::min(beyond, one * static_cast<double>((reach + 1) * (reach + 1)));
        std::vector<int64_t> rows(rows_axes_);
        add(weight, beyond, 0, 0, rows);
        std::stable_sort(steps_.begin(), steps_.end(),
                         [](const Step& a, const Step& b) { return a.cost < b.cost; });
        for (size_t i = 1; i <= steps_.size() && (last_.empty() || i <= kSteps); ++i)
            if (i == steps_.size() || steps_[i].cost != steps_[i - 1].cost) last_.push_back(i);
        steps_.resize(last_.back());
    }

    // How many rows away shells reach at most; fewer where there are many axes.
    static int64_t margin(size_t axes) { return axes <= 3 ? 4 : axes == 4 ? 2 : 1; }

    size_t count() const { return last_.size(); }
    double cost(size_t shell) const { return steps_[last_[shell] - 1].cost; }

    // How far away, in words, the row of every step lies.
    std::vector<int64_t> words_away(const BitLayout& layout) const {
        std::vector<int64_t> words(steps_.size(), 0);
        for (size_t i = 0; i < steps_.size(); ++i)
            for (size_t axis = 0; axis < rows_axes_; ++axis)
                words[i] += rows_[steps_[i].rows + axis] * layout.step[axis];
        return words;
    }

    // Which of 64 voxels have a voxel of a mask in a shell; `word` has those at the same place.
    uint64_t reached(size_t shell, const uint64_t* word, const std::vector<int64_t>& words) const {
        uint64_t found = 0;
        for (size_t i = shell == 0 ? 0 : last_[shell - 1]; i < last_[shell]; ++i) {
            const uint64_t* at = word + words[i];
            int aside = steps_[i].aside;
            if (aside == 0) found |= *at;
            else found |= *at >> aside | at[1] << (64 - aside) | *at << aside | at[-1] >> (64 - aside);
        }
        return found;
    }

private:
    static constexpr size_t kSteps = 100;  // beyond these few voxels are left, each worth a walk

    // To another row, and `aside` voxels to the left and to the right there.
    struct Step {
        double cost;
        size_t rows;  // where in rows_ the steps along all axes but the last begin
        int aside;
    };
    size_t rows_axes_;
    std::vector<Step> steps_;
    std::vector<int64_t> rows_;
    std::vector<size_t> last_;  // one past the last step of every shell

    // Costs are added up from the first axis to the last, as in a walk outwards.
    void add(const std::vector<double>& weight, double beyond, size_t axis, double base,
             std::vector<int64_t>& rows) {
        bool along_row = axis == rows_axes_;
        int64_t reach = margin(weight.size());
        size_t first = rows_.size();
        if (along_row) rows_.insert(rows_.end(), rows.begin(), rows.end());
        for (int64_t d = along_row ? 0 : -reach; d <= reach; ++d) {
            double cost = base + weight[axis] * static_cast<double>(d * d);
            if (!(cost < beyond)) continue;
            if (along_row) {
                steps_.push_back({cost, first, static_cast<int>(d)});
            } else {
                rows[axis] = d;
                add(weight, beyond, axis + 1, cost, rows);
            }
        }
    }
};

}  // namespace panmatch
