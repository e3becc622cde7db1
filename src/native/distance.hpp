// Exact Euclidean distance of every voxel to the nearest voxel with another label.
//
// All objects of a label image at once: along each axis a line is cut into runs of equal label,
// and within a run only the run itself and the voxels at its two ends matter. Background (0) is at
// distance 0, so for a mask this is the usual distance transform.
#pragma once

#include <cstdint>
#include <vector>

#include "envelope.hpp"
#include "parallel.hpp"

namespace panmatch {

struct Grid {
    std::vector<int64_t> shape;
    std::vector<double> weight;  // squared spacing per axis

    int64_t size() const {
        int64_t n = 1;
        for (int64_t length : shape) n *= length;
        return n;
    }
};

// T: unsigned labels. D: how squared distances are kept between axes; float only if it holds all
// of them exactly.
template <typename T, typename D>
class EdgeDistance {
public:
    // Labels are read at labels[Σ index · stride], the last axis being contiguous. With `border`
    // everything beyond the image counts as another label.
    EdgeDistance(const Grid& grid, const T* labels, const std::vector<int64_t>& stride, bool border)
        : grid_(grid), labels_(labels), stride_(stride), border_(border) {}

    // Fills `out`, in C order, with distances.
    void fill(D* out, int threads) const {
        if (grid_.size() == 0) return;
        size_t axes = grid_.shape.size();
        along_rows(out, threads, axes == 1);
        for (size_t axis = axes - 1; axis-- > 0;) along_columns(axis, out, threads, axis == 0);
    }

    // The steps of `fill`: squared distances within rows, then within planes, and so on, from the
    // last axis to the first; with `root` distances instead of their squares.
    void along_rows(D* out, int threads, bool root = false) const {
        int64_t n = grid_.shape.back(), rows = grid_.size() / n;
        double weight = grid_.weight.back();
        constexpr int64_t kRows = 64;
        share_out((rows + kRows - 1) / kRows, threads, [] { return 0; }, [&](int, int64_t block) {
            for (int64_t row = block * kRows; row < std::min(rows, (block + 1) * kRows); ++row) {
                const T* labels = labels_ + offset_of(row, grid_.shape.size() - 1);
                for (int64_t from = 0; from < n;) {
                    int64_t to = from + 1;
                    while (to < n && labels[to] == labels[from]) ++to;
                    fill_run(labels[from] != 0, from, to, n, weight, root, out + row * n);
                    from = to;
                }
            }
        });
    }

    void along_columns(size_t axis, D* out, int threads, bool root = false) const {
        int64_t n = grid_.shape[axis], inner = 1;
        for (size_t a = axis + 1; a < grid_.shape.size(); ++a) inner *= grid_.shape[a];
        int64_t width = grid_.shape.back(), lines = inner / width;
        int64_t blocks = (width + kBlock - 1) / kBlock, outer = grid_.size() / (n * inner);
        auto make = [&] {
            return Columns{Envelope<false>(grid_.weight[axis], n),
                           std::vector<double>(n * kBlock), std::vector<T>(n * kBlock)};
        };
        share_out(outer * lines * blocks, threads, make, [&](Columns& columns, int64_t unit) {
            int64_t at = unit % blocks * kBlock, line = unit / blocks % lines;
            int64_t slab = unit / blocks / lines, count = std::min(kBlock, width - at);
            const T* labels = labels_ + offset_of(slab, axis) + line_offset(line, axis) + at;
            D* values = out + slab * n * inner + line * width + at;
            for (int64_t x = 0; x < n; ++x)
                for (int64_t c = 0; c < count; ++c) {
                    columns.height[c * n + x] = values[x * inner + c];
                    columns.label[c * n + x] = labels[x * stride_[axis] + c];
                }
            for (int64_t c = 0; c < count; ++c)
                column(columns.envelope, &columns.label[c * n], &columns.height[c * n], n);
            for (int64_t x = 0; x < n; ++x)
                for (int64_t c = 0; c < count; ++c) {
                    double square = columns.height[c * n + x];
                    values[x * inner + c] = static_cast<D>(root ? std::sqrt(square) : square);
                }
        });
    }

private:
    static constexpr int64_t kBlock = 16;
    const Grid& grid_;
    const T* labels_;
    const std::vector<int64_t>& stride_;
    bool border_;

    struct Columns {
        Envelope<false> envelope;
        std::vector<double> height;
        std::vector<T> label;
    };

    // Offset of the labels at a position counted in C order over the axes in [0, axes).
    int64_t offset_of(int64_t index, size_t axes) const {
        int64_t offset = 0;
        for (size_t axis = axes; axis-- > 0;) {
            offset += index % grid_.shape[axis] * stride_[axis];
            index /= grid_.shape[axis];
        }
        return offset;
    }

    void fill_run(bool object, int64_t from, int64_t to, int64_t n, double weight, bool root,
                  D* out) const {
        if (!object) {
            std::fill(out + from, out + to, D(0));
            return;
        }
        bool left = border_ || from > 0, right = border_ || to < n;
        if (!left && !right) {
            std::fill(out + from, out + to, static_cast<D>(kInfinity));
            return;
        }
        for (int64_t x = from; x < to; ++x) {
            int64_t steps = left ? x - from + 1 : to - x;
            if (right) steps = std::min(steps, to - x);
            double square = weight * static_cast<double>(steps * steps);
            out[x] = static_cast<D>(root ? std::sqrt(square) : square);
        }
    }

    // Offset of line `line` among the axes between `axis` and the last one.
    int64_t line_offset(int64_t line, size_t axis) const {
        int64_t offset = 0;
        for (size_t a = grid_.shape.size() - 1; a-- > axis + 1;) {
            offset += line % grid_.shape[a] * stride_[a];
            line /= grid_.shape[a];
        }
        return offset;
    }

    void column(Envelope<false>& envelope, const T* label, double* height, int64_t n) const {
        for (int64_t from = 0; from < n;) {
            int64_t to = from + 1;
            while (to < n && label[to] == label[from]) ++to;
            if (label[from] != 0) {
                envelope.begin(from, to - 1);
                if (border_ || from > 0) envelope.add(from - 1, 0);
                for (int64_t x = from; x < to; ++x)
                    if (height[x] < kInfinity) envelope.add(x, height[x]);
                if (border_ || to < n) envelope.add(to, 0);
                envelope.read([&](int64_t x, double cost, int64_t) { height[x] = cost; });
            }
            from = to;
        }
    }
};

}  // namespace panmatch
