// Numbers of connected components: by their first voxels in C order of the axes, however these lie
// in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "parallel.hpp"

namespace panmatch {

// Eight voxels of a mask at once, each 0 or 1.
inline uint64_t load_word(const uint8_t* from) {
    uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

// How many of some places come before a place: a bit for each place, and counts of whole blocks.
class Ranks {
public:
    Ranks(const std::vector<int64_t>& places, int64_t size)
        : bits_((size / kBlock + 1) * kWords, 0), before_(size / kBlock + 1, 0) {
        for (int64_t place : places)
            if (place >= 0) bits_[place / 64] |= uint64_t{1} << (place % 64);
        for (size_t i = 1; i < before_.size(); ++i) {
            before_[i] = before_[i - 1];
            for (size_t k = (i - 1) * kWords; k < i * kWords; ++k) before_[i] += ones(bits_[k]);
        }
    }

    int64_t of(int64_t place) const {
        int64_t count = before_[place / kBlock];
        for (int64_t k = place / kBlock * kWords; k < place / 64; ++k) count += ones(bits_[k]);
        return count + ones(bits_[place / 64] & ((uint64_t{1} << (place % 64)) - 1));
    }

private:
    static constexpr int64_t kWords = 8, kBlock = 64 * kWords;
    std::vector<uint64_t> bits_;
    std::vector<int64_t> before_;

    static int64_t ones(uint64_t word) {
        int64_t count = 0;
        for (; word != 0; word &= word - 1) ++count;  // most words are 0
        return count;
    }
};

// `mask` is 0 or 1, `numbers` are 1 … count on its components, in any order; both lie in one order,
// whose last axis is contiguous. `step` has the steps of the axes in C order, as the user sees them.
// One to three axes.
template <typename T>
class ComponentNumbers {
public:
    ComponentNumbers(const uint8_t* mask, T* numbers, const std::vector<int64_t>& shape,
                     const std::vector<int64_t>& step, int64_t count)
        : mask_(mask), numbers_(numbers), shape_(shape), step_(step), count_(count),
          length_(shape.back()), rows_(1), nothing_(shape.back(), 0) {
        for (size_t axis = 0; axis + 1 < shape.size(); ++axis) rows_ *= shape[axis];
    }

    // Gives the components the numbers 1 … count in the order of their first voxels.
    void sort(int threads) {
        std::vector<int64_t> first = first_places(threads);
        if (std::is_sorted(first.begin(), first.end())) return;
        Ranks ranks(first, rows_ * length_);
        std::vector<T> number(count_ + 1, 0);
        for (int64_t i = 1; i <= count_; ++i) number[i] = static_cast<T>(ranks.of(first[i]) + 1);
        on_threads(threads, [&](int worker) {
            int64_t from = begin(worker, threads), to = begin(worker + 1, threads);
            rewrite(from * length_, to * length_, number);
        });
    }

private:
    const uint8_t* mask_;
    T* numbers_;
    const std::vector<int64_t>& shape_;
    const std::vector<int64_t>& step_;
    int64_t count_, length_, rows_;
    std::vector<uint8_t> nothing_;  // instead of the row before the first one

    int64_t begin(int worker, int threads) const { return rows_ * worker / threads; }

    // Place of the first voxel of every component; −1 for the background.
    std::vector<int64_t> first_places(int threads) const {
        std::vector<std::vector<int64_t>> parts(threads);
        on_threads(threads, [&](int worker) {
            parts[worker].assign(count_ + 1, INT64_MAX);
            for (int64_t row = begin(worker, threads); row < begin(worker + 1, threads); ++row)
                read_row(row, parts[worker]);
        });
        for (int worker = 1; worker < threads; ++worker)
            for (int64_t i = 0; i <= count_; ++i)
                parts[0][i] = std::min(parts[0][i], parts[worker][i]);
        parts[0][0] = -1;
        return std::move(parts[0]);
    }

    // The first voxel of a component has no foreground one step back along any axis. Nor, where a
    // step back along the last axis comes first, has it two voxels ahead along another axis that
    // lead back. Few voxels are left, and those are looked at one by one.
    void read_row(int64_t row, std::vector<int64_t>& first) const {
        const uint8_t* mask = mask_ + row * length_;
        const uint8_t* none = nothing_.data();
        const uint8_t *back[2] = {none, none}, *ahead[2] = {none, none};
        int64_t place = 0, rest = row, stride = length_;
        for (size_t axis = shape_.size() - 1, k = 0; axis-- > 0; ++k) {
            int64_t index = rest % shape_[axis];
            rest /= shape_[axis];
            place += index * step_[axis];
            if (index > 0) back[k] = mask - stride;
            if (index + 1 < shape_[axis] && step_.back() > step_[axis]) ahead[k] = mask + stride;
            stride *= shape_[axis];
        }
        auto see = [&](int64_t x) {
            int64_t& known = first[numbers_[row * length_ + x]];
            known = std::min(known, place + x * step_.back());
        };
        if (mask[0] & ~back[0][0] & ~back[1][0]) see(0);
        int64_t x = 1, length = length_;
        for (; x + 8 <= length; x += 8) {
            uint64_t before = load_word(mask + x - 1) | load_word(back[0] + x) | load_word(back[1] + x);
            uint64_t leads_back = (load_word(ahead[0] + x) & load_word(ahead[0] + x - 1)) |
                                  (load_word(ahead[1] + x) & load_word(ahead[1] + x - 1));
            uint64_t word = load_word(mask + x) & ~(before | leads_back);
            if (word == 0) continue;
            uint8_t flag[8];
            std::memcpy(flag, &word, sizeof flag);
            for (int64_t k = 0; k < 8; ++k)
                if (flag[k]) see(x + k);
        }
        for (; x < length; ++x)
            if (mask[x] & ~(mask[x - 1] | back[0][x] | back[1][x])) see(x);
    }

    void rewrite(int64_t from, int64_t to, const std::vector<T>& number) {
        int64_t at = from;
        for (; at + 8 <= to; at += 8) {
            if (load_word(mask_ + at) == 0) continue;
            for (int64_t k = at; k < at + 8; ++k) numbers_[k] = number[numbers_[k]];
        }
        for (; at < to; ++at) numbers_[at] = number[numbers_[at]];
    }
};

}  // namespace panmatch
