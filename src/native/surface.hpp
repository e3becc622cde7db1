// Distances between the boundaries of two objects, each on the tight crop around both.
//
// A boundary voxel is a voxel of the object with a face neighbour outside it; beyond the image is
// outside. Distances run between voxel centres.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "distance.hpp"
#include "strided.hpp"
#include "walk.hpp"

namespace panmatch {

// The voxels of a few labels within a box, with one voxel of nothing around them.
class CropMask {
public:
    void cut(const Operand& image, const int64_t* start, const std::vector<int64_t>& shape,
             const int64_t* labels, int64_t label_count) {
        shape_ = shape;
        stride_.assign(shape.size(), 1);
        for (size_t axis = shape.size() - 1; axis-- > 0;)
            stride_[axis] = stride_[axis + 1] * (shape[axis + 1] + 2);
        mask_.assign(stride_[0] * (shape[0] + 2), 0);
        switch (image.width) {
            case 1: return fill<uint8_t>(image, start, labels, label_count);
            case 2: return fill<uint16_t>(image, start, labels, label_count);
            case 4: return fill<uint32_t>(image, start, labels, label_count);
            default: return fill<uint64_t>(image, start, labels, label_count);
        }
    }

    // Keeps a 1 only where the object has a face neighbour outside.
    void keep_boundary() {
        inside_ = mask_;
        int64_t most = stride_[0], size = static_cast<int64_t>(mask_.size());
        for (int64_t step : stride_)
            for (int64_t i = most; i < size - most; ++i)
                inside_[i] = static_cast<uint8_t>(inside_[i] & mask_[i - step] & mask_[i + step]);
        for (int64_t i = 0; i < size; ++i) mask_[i] ^= inside_[i];
    }

    // 0 at the boundary and 1 elsewhere: what a distance transform wants.
    const uint8_t* background(std::vector<uint8_t>& buffer) const {
        buffer.resize(mask_.size());
        for (size_t i = 0; i < mask_.size(); ++i) buffer[i] = mask_[i] ^ 1;
        return buffer.data() + origin();
    }

    const std::vector<int64_t>& stride() const { return stride_; }

    // Calls visit(position in C order of the unpadded box) for every voxel of the mask.
    template <typename Visit>
    void each(Visit&& visit) const {
        int64_t n = shape_.back(), rows = row_count();
        for (int64_t row = 0; row < rows; ++row) {
            const uint8_t* values = mask_.data() + origin() + row_offset(row);
            for (int64_t x = 0; x < n; ++x)
                if (values[x]) visit(row * n + x);
        }
    }

private:
    std::vector<int64_t> shape_, stride_;
    std::vector<uint8_t> mask_, inside_;

    int64_t origin() const {
        int64_t offset = 0;
        for (int64_t step : stride_) offset += step;
        return offset;
    }

    int64_t row_count() const {
        int64_t rows = 1;
        for (size_t axis = 0; axis + 1 < shape_.size(); ++axis) rows *= shape_[axis];
        return rows;
    }

    int64_t row_offset(int64_t row) const {
        int64_t offset = 0;
        for (size_t axis = shape_.size() - 1; axis-- > 0;) {
            offset += row % shape_[axis] * stride_[axis];
            row /= shape_[axis];
        }
        return offset;
    }

    template <typename T>
    void fill(const Operand& image, const int64_t* start, const int64_t* labels,
              int64_t label_count) {
        size_t axes = shape_.size();
        int64_t n = shape_.back(), step = image.stride.back();
        for (int64_t row = 0; row < row_count(); ++row) {
            const char* from = image.data + start[axes - 1] * step;
            int64_t rest = row;
            for (size_t axis = axes - 1; axis-- > 0;) {
                from += (start[axis] + rest % shape_[axis]) * image.stride[axis];
                rest /= shape_[axis];
            }
            uint8_t* target = mask_.data() + origin() + row_offset(row);
            T last = 0;
            uint8_t chosen = 0;
            for (int64_t x = 0; x < n; ++x) {
                T value = *reinterpret_cast<const T*>(from + x * step);
                if (value != last) {
                    last = value;
                    chosen = std::binary_search(labels, labels + label_count, static_cast<int64_t>(value));
                }
                target[x] = chosen;
            }
        }
    }
};

// The nearest site of any voxel, found by walking outwards until no site can be nearer. Within rows
// all distances are known; the walk runs over the other axes. Where boundaries lie close together
// that is far less work than a whole distance transform. Where walks grow long, one more axis is
// settled for all voxels at once, and the walks go on over the axes that remain.
template <typename D>
class NearestSite {
public:
    NearestSite(const Grid& grid, const uint8_t* background, const std::vector<int64_t>& stride,
                std::vector<D>& squares, int threads)
        : grid_(grid), transform_(grid, background, stride, false), squares_(squares),
          threads_(threads), open_(grid.shape.size() - 1), budget_(kPatience * grid.size()),
          step_(steps_of(grid.shape)) {
        squares_.resize(grid.size());
        transform_.along_rows(squares_.data(), threads_);
    }

    // Squared distance of the voxel at `position`, counted in C order.
    double square(int64_t position) {
        if (budget_ < 0 && open_ > 0) {
            transform_.along_columns(--open_, squares_.data(), threads_);
            budget_ = kPatience * grid_.size();
        }
        Nearest found{squares_.data()};
        walk_outwards(grid_, step_, 0, open_, position, 0, found);
        budget_ -= found.steps;
        return found.square;
    }

private:
    static constexpr int64_t kPatience = 4;  // steps per voxel that a walk may cost before settling
    const Grid& grid_;
    EdgeDistance<uint8_t, D> transform_;
    std::vector<D>& squares_;
    int threads_;
    size_t open_;  // axes 0 … open_ − 1 are not settled yet
    int64_t budget_;
    std::vector<int64_t> step_;

    struct Nearest {
        const D* squares;
        double square = kInfinity;
        int64_t steps = 0;

        bool may_improve(double cost) const { return cost < square; }
        void see(int64_t at, double base) {
            ++steps;
            square = std::min(square, base + squares[at]);
        }
    };

};

// Objects to compare, one after the other: labels sorted, boxes as start and stop per axis.
struct ObjectPairs {
    const int64_t* ref_label;
    const int64_t* pred_first;  // n + 1 positions in pred_label
    const int64_t* pred_label;
    const int64_t* box;
    int64_t count;
};

struct SurfaceDistances {
    std::vector<double> from_ref, from_pred;  // each sorted
};

class SurfaceMeter {
public:
    SurfaceMeter(Operand reference, Operand prediction, std::vector<double> weight, Unit unit)
        : reference_(std::move(reference)), prediction_(std::move(prediction)),
          weight_(std::move(weight)), unit_(unit) {}

    std::vector<SurfaceDistances> measure(const ObjectPairs& pairs, int threads) const {
        std::vector<SurfaceDistances> found(pairs.count);
        int inner = pairs.count < threads ? threads : 1;  // few objects: share out each of them
        share_out(pairs.count, inner > 1 ? 1 : threads, [] { return Scratch{}; },
                  [&](Scratch& scratch, int64_t i) { found[i] = one(pairs, i, scratch, inner); });
        return found;
    }

private:
    Operand reference_, prediction_;
    std::vector<double> weight_;
    Unit unit_;

    struct Scratch {
        CropMask ref, pred;
        std::vector<uint8_t> background;
        std::vector<float> single;
        std::vector<double> full;
    };

    SurfaceDistances one(const ObjectPairs& pairs, int64_t i, Scratch& scratch, int threads) const {
        size_t axes = weight_.size();
        std::vector<int64_t> start(axes), shape(axes);
        for (size_t axis = 0; axis < axes; ++axis) {
            const int64_t* side = pairs.box + (i * static_cast<int64_t>(axes) + static_cast<int64_t>(axis)) * 2;
            start[axis] = side[0];
            shape[axis] = side[1] - side[0];
        }
        scratch.ref.cut(reference_, start.data(), shape, pairs.ref_label + i, 1);
        scratch.pred.cut(prediction_, start.data(), shape, pairs.pred_label + pairs.pred_first[i],
                         pairs.pred_first[i + 1] - pairs.pred_first[i]);
        scratch.ref.keep_boundary();
        scratch.pred.keep_boundary();
        Grid grid{shape, weight_, unit_};
        if (exact_in_float(grid)) return both(grid, scratch, scratch.single, threads);
        return both(grid, scratch, scratch.full, threads);
    }

    template <typename D>
    static SurfaceDistances both(const Grid& grid, Scratch& scratch, std::vector<D>& squares,
                                 int threads) {
        return {directed(grid, scratch.ref, scratch.pred, scratch.background, squares, threads),
                directed(grid, scratch.pred, scratch.ref, scratch.background, squares, threads)};
    }

    template <typename D>
    static std::vector<double> directed(const Grid& grid, const CropMask& from, const CropMask& to,
                                        std::vector<uint8_t>& background, std::vector<D>& squares,
                                        int threads) {
        NearestSite<D> nearest(grid, to.background(background), to.stride(), squares, threads);
        std::vector<double> found;
        from.each([&](int64_t at) { found.push_back(nearest.square(at)); });
        std::sort(found.begin(), found.end());
        for (double& value : found) value = grid.unit.length(value);
        return found;
    }
};

}  // namespace panmatch
