// From combinations of labels to one number per voxel: the counting pass run backwards.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "joint_count.hpp"

namespace panmatch {

// The number of every combination; those that are not listed have 0.
template <size_t K>
class NumberTable {
public:
    NumberTable(const int64_t* keys, const int64_t* numbers, size_t n) {
        size_t size = 16;
        while (size < 2 * n) size *= 2;
        slots_.resize(size);
        for (size_t i = 0; i < n; ++i) {
            Key<K> key{};
            std::copy(keys + i * K, keys + (i + 1) * K, key.begin());
            find(key) = {key, numbers[i], true};
        }
    }

    int64_t operator()(const Key<K>& key) const {
        return const_cast<NumberTable*>(this)->find(key).number;
    }

private:
    struct Slot {
        Key<K> key{};
        int64_t number = 0;
        bool used = false;
    };
    std::vector<Slot> slots_;

    Slot& find(const Key<K>& key) {
        size_t mask = slots_.size() - 1;
        uint64_t h = hash_of(key);
        size_t at = (h ^ h >> 29) & mask;
        while (slots_[at].used && !same_key(slots_[at].key, key)) at = (at + 1) & mask;
        return slots_[at];
    }
};

// Fills the runs of equal combinations of one row after the other.
template <size_t K, typename T>
class RunPainter {
public:
    RunPainter(const std::vector<Operand>& operands, const NumberTable<K>& numbers)
        : operands_(operands), numbers_(numbers) {}

    // The first pointer is where to write, the others are the labels.
    void row(const std::array<const char*, K + 1>& data, int64_t n) {
        T* out = reinterpret_cast<T*>(const_cast<char*>(data[0]));
        for (int64_t start = 0; start < n; start += kBlock) {
            std::array<const char*, K> block;
            for (size_t k = 0; k < K; ++k) block[k] = data[k + 1] + start * operands_[k].width;
            paint_block(block, std::min(kBlock, n - start), start > 0, out + start);
        }
    }

private:
    static constexpr int64_t kBlock = 2 * kWord;
    const std::vector<Operand>& operands_;
    const NumberTable<K>& numbers_;
    Key<K> key_{};
    T number_ = 0;
    int64_t labels_[K][kBlock + 1];
    int32_t positions_[kBlock + 1];

    void paint_block(const std::array<const char*, K>& data, int64_t n, bool has_previous, T* out) {
        uint64_t bits[kBlock / kWord] = {};
        for (size_t k = 0; k < K; ++k)
            mark_changes(data[k], operands_[k].width, n, has_previous, bits);
        if (!has_previous) bits[0] |= 1;  // a row begins with whatever it has
        int changes = 0;
        for (int32_t start = 0; start < n; start += kWord)
            for (uint64_t rest = bits[start / kWord]; rest != 0; rest &= rest - 1)
                positions_[changes++] = start + lowest_bit(rest);
        for (size_t k = 0; k < K; ++k)
            gather(operands_[k], data[k], positions_, changes, labels_[k]);
        int64_t from = 0;
        for (int i = 0; i < changes; ++i) {
            std::fill(out + from, out + positions_[i], number_);
            from = positions_[i];
            look_up(i);
        }
        std::fill(out + from, out + n, number_);
    }

    void look_up(int change) {
        Key<K> key{};
        for (size_t k = 0; k < K; ++k) key[k] = labels_[k][change];
        if (same_key(key, key_) && known_) return;
        key_ = key;
        known_ = true;
        number_ = static_cast<T>(numbers_(key));
    }

    bool known_ = false;
};

// Writes the number of its combination to every voxel. The first operand is the target, which must
// be contiguous along its fastest axis; the others are the labels.
template <size_t K, typename T>
void paint(const std::vector<int64_t>& shape, const std::vector<Operand>& operands,
           const NumberTable<K>& numbers, int threads) {
    RowReader reader(shape, operands);
    std::vector<Operand> labels(operands.begin() + 1, operands.end());
    struct State {
        RunPainter<K, T> painter;
        std::vector<char> buffer;
    };
    share_out(
        reader.units(), threads, [&] { return State{RunPainter<K, T>(labels, numbers), {}}; },
        [&](State& state, int64_t unit) {
            reader.template read<K + 1>(unit, state.buffer, [&](const auto& data, int64_t n) {
                state.painter.row(data, n);
            });
        });
}

}  // namespace panmatch
