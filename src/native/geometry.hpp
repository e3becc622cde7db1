// Where every segment lies: voxels, sums of coordinates and bounding box, from one pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "boundaries.hpp"
#include "parallel.hpp"
#include "strided.hpp"

namespace panmatch {

// One row per segment: voxels, then per axis the sum of coordinates, the first and the last + 1.
class SegmentTable {
public:
    explicit SegmentTable(size_t axes) : axes_(axes), recent_(kRecent, -1) {}

    int64_t* row(int64_t label) {
        int64_t& cached = recent_[static_cast<uint64_t>(label) % kRecent];
        if (cached >= 0 && labels[cached] == label) return &values[cached * width()];
        auto [entry, is_new] = places_.try_emplace(label, static_cast<int64_t>(labels.size()));
        cached = entry->second;
        if (is_new) {
            labels.push_back(label);
            values.resize(values.size() + width(), 0);
            for (size_t axis = 0; axis < axes_; ++axis)
                values[cached * width() + 2 + 3 * axis] = INT64_MAX;
        }
        return &values[cached * width()];
    }

    int64_t width() const { return 1 + 3 * static_cast<int64_t>(axes_); }

    void add(const SegmentTable& other) {
        for (size_t i = 0; i < other.labels.size(); ++i) {
            const int64_t* from = &other.values[i * width()];
            int64_t* to = row(other.labels[i]);
            to[0] += from[0];
            for (size_t axis = 0; axis < axes_; ++axis) {
                to[1 + 3 * axis] += from[1 + 3 * axis];
                to[2 + 3 * axis] = std::min(to[2 + 3 * axis], from[2 + 3 * axis]);
                to[3 + 3 * axis] = std::max(to[3 + 3 * axis], from[3 + 3 * axis]);
            }
        }
    }

    std::vector<int64_t> labels, values;

private:
    static constexpr size_t kRecent = 1024;
    size_t axes_;
    std::vector<int64_t> recent_;
    std::unordered_map<int64_t, int64_t> places_;
};

template <typename T>
class SegmentScan {
public:
    SegmentScan(const std::vector<int64_t>& shape, const Operand& image)
        : shape_(shape), image_(image) {}

    SegmentTable scan(int threads) const {
        SegmentTable all(shape_.size());
        int64_t rows = 1;
        for (int64_t n : shape_) rows *= n;
        if (rows == 0) return all;
        rows /= shape_.back();
        std::vector<SegmentTable> parts(threads, all);
        on_threads(threads, [&](int worker) {
            int64_t row = rows * worker / threads, end = rows * (worker + 1) / threads;
            for (Place at = place_of(row); row < end; ++row, advance(at)) read_row(at, parts[worker]);
        });
        for (const auto& part : parts) all.add(part);
        return all;
    }

private:
    const std::vector<int64_t>& shape_;
    const Operand& image_;

    // Where a row begins.
    struct Place {
        std::vector<int64_t> index;
        const char* from;
    };

    Place place_of(int64_t row) const {
        Place at{std::vector<int64_t>(shape_.size()), image_.data};
        for (size_t axis = shape_.size() - 1; axis-- > 0;) {
            at.index[axis] = row % shape_[axis];
            row /= shape_[axis];
            at.from += at.index[axis] * image_.stride[axis];
        }
        return at;
    }

    void advance(Place& at) const {
        for (size_t axis = shape_.size() - 1; axis-- > 0;) {
            at.from += image_.stride[axis];
            if (++at.index[axis] < shape_[axis]) return;
            at.index[axis] = 0;
            at.from -= shape_[axis] * image_.stride[axis];
        }
    }

    void read_row(const Place& at, SegmentTable& table) const {
        const char* from = at.from;
        const auto& index = at.index;
        int64_t n = shape_.back(), first = 0;
        auto end_run = [&](int64_t stop) {
            T label = *reinterpret_cast<const T*>(from + first * image_.stride.back());
            if (label != 0) add_run(table.row(static_cast<int64_t>(label)), index, first, stop);
            first = stop;
        };
        if (image_.stride.back() == image_.width) each_change(from, image_.width, n, end_run);
        else each_change_apart(from, n, end_run);
        end_run(n);
    }

    // The same as each_change for labels that do not lie next to each other.
    template <typename Visit>
    void each_change_apart(const char* from, int64_t n, Visit&& visit) const {
        int64_t step = image_.stride.back();
        auto at = [&](int64_t x) { return *reinterpret_cast<const T*>(from + x * step); };
        for (int64_t x = 1; x < n; ++x)
            if (at(x) != at(x - 1)) visit(x);
    }

    void add_run(int64_t* row, const std::vector<int64_t>& index, int64_t first, int64_t stop) const {
        int64_t count = stop - first;
        size_t axes = shape_.size();
        row[0] += count;
        for (size_t axis = 0; axis < axes; ++axis) {
            bool along = axis + 1 == axes;
            int64_t* place = row + 1 + 3 * axis;
            place[0] += along ? (first + stop - 1) * count / 2 : index[axis] * count;
            place[1] = std::min(place[1], along ? first : index[axis]);
            place[2] = std::max(place[2], along ? stop : index[axis] + 1);
        }
    }
};

inline SegmentTable scan_segments(const std::vector<int64_t>& shape, const Operand& image, int threads) {
    switch (image.width) {
        case 1: return SegmentScan<uint8_t>(shape, image).scan(threads);
        case 2: return SegmentScan<uint16_t>(shape, image).scan(threads);
        case 4: return SegmentScan<uint32_t>(shape, image).scan(threads);
        default: return SegmentScan<uint64_t>(shape, image).scan(threads);
    }
}

}  // namespace panmatch
