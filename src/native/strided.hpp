// Any set of equally shaped arrays, read as rows that are contiguous in all of them.
//
// Axes are sorted so that the first array is read in memory order, and neighbouring axes that are
// contiguous in every array are joined: two C-ordered (or two Fortran-ordered) volumes become one
// long row and are read in place. Arrays whose inner axis is not contiguous are copied tile by
// tile into a small buffer, so mixed orders stay cache-friendly and need no second volume.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace panmatch {

struct Operand {
    const char* data;
    int width;                   // bytes of one element: 1, 2, 4 or 8
    bool is_signed;
    std::vector<int64_t> stride;  // in bytes, one per axis
};

namespace detail {

inline void flip_negative_axes(std::vector<int64_t>& shape, std::vector<Operand>& operands) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        if (operands[0].stride[axis] >= 0) continue;
        for (auto& op : operands) {
            op.data += (shape[axis] - 1) * op.stride[axis];
            op.stride[axis] = -op.stride[axis];
        }
    }
}

inline void sort_axes(std::vector<int64_t>& shape, std::vector<Operand>& operands) {
    std::vector<size_t> order;
    for (size_t axis = 0; axis < shape.size(); ++axis)
        if (shape[axis] != 1) order.push_back(axis);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        for (const auto& op : operands) {
            int64_t left = std::llabs(op.stride[a]), right = std::llabs(op.stride[b]);
            if (left != right) return left > right;
        }
        return false;
    });
    auto permute = [&](std::vector<int64_t>& values) {
        std::vector<int64_t> sorted;
        for (size_t axis : order) sorted.push_back(values[axis]);
        values = std::move(sorted);
    };
    permute(shape);
    for (auto& op : operands) permute(op.stride);
}

inline void join_axes(std::vector<int64_t>& shape, std::vector<Operand>& operands) {
    for (size_t axis = shape.size(); axis-- > 1;) {
        bool joint = true;
        for (const auto& op : operands)
            joint = joint && op.stride[axis - 1] == op.stride[axis] * shape[axis];
        if (!joint) continue;
        shape[axis - 1] *= shape[axis];
        shape.erase(shape.begin() + axis);
        for (auto& op : operands) op.stride.erase(op.stride.begin() + axis - 1);
    }
}

template <typename T>
void copy_tile(const char* source, int64_t row_stride, int64_t col_stride, int64_t rows,
               int64_t cols, int64_t buffer_cols, char* target) {
    T* out = reinterpret_cast<T*>(target);
    auto at = [&](int64_t r, int64_t c) {
        return *reinterpret_cast<const T*>(source + r * row_stride + c * col_stride);
    };
    if (std::llabs(row_stride) < std::llabs(col_stride)) {
        for (int64_t c = 0; c < cols; ++c)
            for (int64_t r = 0; r < rows; ++r) out[r * buffer_cols + c] = at(r, c);
    } else {
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < cols; ++c) out[r * buffer_cols + c] = at(r, c);
    }
}

}  // namespace detail

class RowReader {
public:
    RowReader(std::vector<int64_t> shape, std::vector<Operand> operands)
        : shape_(std::move(shape)), operands_(std::move(operands)) {
        for (int64_t n : shape_) size_ *= n;
        if (size_ == 0) return;
        detail::flip_negative_axes(shape_, operands_);
        detail::sort_axes(shape_, operands_);
        detail::join_axes(shape_, operands_);
        if (shape_.empty()) append_unit_axis();
        choose_tiles();
    }

    int64_t size() const { return size_; }

    // Units of work are independent; threads take disjoint ranges of them.
    int64_t units() const { return size_ == 0 ? 0 : outer_ * row_blocks_ * col_blocks_; }

    // Calls visit(pointers, length) for every row of unit `unit`.
    template <size_t K, typename Visit>
    void read(int64_t unit, std::vector<char>& buffer, Visit&& visit) const {
        int64_t col = unit % col_blocks_ * col_step_;
        int64_t row = unit / col_blocks_ % row_blocks_ * row_step_;
        int64_t cols = std::min(col_step_, shape_.back() - col);
        int64_t rows = std::min(row_step_, row_count() - row);
        int64_t outer = unit / col_blocks_ / row_blocks_;
        std::array<const char*, K> start;
        std::array<int64_t, K> step;
        for (size_t k = 0; k < K; ++k) {
            const char* corner = operands_[k].data + outer_offset(k, outer) +
                                 row * row_stride(k) + col * operands_[k].stride.back();
            start[k] = contiguous(k) ? corner : fill(k, corner, rows, cols, buffer);
            step[k] = contiguous(k) ? row_stride(k) : col_step_ * operands_[k].width;
        }
        for (int64_t r = 0; r < rows; ++r) {
            std::array<const char*, K> pointers;
            for (size_t k = 0; k < K; ++k) pointers[k] = start[k] + r * step[k];
            visit(pointers, cols);
        }
    }

private:
    static constexpr int64_t kTile = 64;
    static constexpr int64_t kRows = 256, kColumns = int64_t{1} << 18;

    std::vector<int64_t> shape_;
    std::vector<Operand> operands_;
    int64_t size_ = 1, outer_ = 1;
    int64_t row_axis_ = -1;  // the axis that pairs with the last one to form tiles; -1: none
    int64_t row_step_ = 1, row_blocks_ = 1, col_step_ = kColumns, col_blocks_ = 1;

    bool contiguous(size_t k) const { return operands_[k].stride.back() == operands_[k].width; }
    int64_t row_count() const { return row_axis_ < 0 ? 1 : shape_[row_axis_]; }
    int64_t row_stride(size_t k) const { return row_axis_ < 0 ? 0 : operands_[k].stride[row_axis_]; }

    void append_unit_axis() {
        shape_.push_back(1);
        for (auto& op : operands_) op.stride.push_back(op.width);
    }

    // Rows run along the last axis, tiles along it and the axis that is fastest for the first
    // array that is not contiguous there.
    void choose_tiles() {
        int64_t axes = static_cast<int64_t>(shape_.size());
        if (axes > 1) row_axis_ = axes - 2;
        row_step_ = kRows;
        for (size_t k = 0; k < operands_.size(); ++k) {
            if (contiguous(k)) continue;
            row_step_ = col_step_ = kTile;
            const auto& stride = operands_[k].stride;
            for (int64_t axis = 0; axis + 1 < axes; ++axis)
                if (std::llabs(stride[axis]) < std::llabs(stride[row_axis_])) row_axis_ = axis;
            break;
        }
        row_blocks_ = (row_count() + row_step_ - 1) / row_step_;
        col_blocks_ = (shape_.back() + col_step_ - 1) / col_step_;
        outer_ = size_ / shape_.back() / row_count();
    }

    int64_t outer_offset(size_t k, int64_t index) const {
        int64_t offset = 0;
        for (int64_t axis = static_cast<int64_t>(shape_.size()) - 2; axis >= 0; --axis) {
            if (axis == row_axis_) continue;
            offset += index % shape_[axis] * operands_[k].stride[axis];
            index /= shape_[axis];
        }
        return offset;
    }

    const char* fill(size_t k, const char* corner, int64_t rows, int64_t cols,
                     std::vector<char>& buffer) const {
        constexpr size_t kBytes = kTile * kTile * 8;
        buffer.resize(std::max(buffer.size(), kBytes * operands_.size()));
        char* target = buffer.data() + kBytes * k;
        int64_t across = row_stride(k), along = operands_[k].stride.back();
        switch (operands_[k].width) {
            case 1: detail::copy_tile<uint8_t>(corner, across, along, rows, cols, kTile, target); break;
            case 2: detail::copy_tile<uint16_t>(corner, across, along, rows, cols, kTile, target); break;
            case 4: detail::copy_tile<uint32_t>(corner, across, along, rows, cols, kTile, target); break;
            default: detail::copy_tile<uint64_t>(corner, across, along, rows, cols, kTile, target);
        }
        return target;
    }
};

}  // namespace panmatch
