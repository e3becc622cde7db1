// How many voxels carry each combination of labels in K label arrays: the one pass over voxels.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "boundaries.hpp"
#include "parallel.hpp"
#include "strided.hpp"

namespace panmatch {

template <size_t K>
using Key = std::array<int64_t, K>;

template <size_t K>
struct Entry {
    Key<K> key;
    int64_t count;  // 0 marks a free slot
};

// Plain arithmetic: comparing arrays with == calls a library function for each pair of keys.
template <size_t K>
bool same_key(const Key<K>& a, const Key<K>& b) {
    int64_t difference = 0;
    for (size_t k = 0; k < K; ++k) difference |= a[k] ^ b[k];
    return difference == 0;
}

template <size_t K>
uint64_t hash_of(const Key<K>& key) {
    // Odd multipliers without pattern; independent products, so that they are computed at once.
    constexpr uint64_t kOdd[] = {0x9E3779B97F4A7C15u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u,
                                 0x27D4EB2F165667C5u, 0x85EBCA77C2B2AE63u, 0xD6E8FEB86659FD93u,
                                 0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu};
    static_assert(K <= sizeof(kOdd) / sizeof(kOdd[0]));
    uint64_t h = 0;
    for (size_t k = 0; k < K; ++k) h += static_cast<uint64_t>(key[k]) * kOdd[k];
    return h;
}

// Open addressing with linear probing; grows at half load.
template <size_t K>
class CountTable {
public:
    CountTable() : slots_(1024) {}

    void add(const Entry<K>& entry) {
        Entry<K>& slot = find(entry.key);
        if (slot.count != 0) {
            slot.count += entry.count;
            return;
        }
        slot = entry;
        if (++used_ * 2 > slots_.size()) grow();
    }

    std::vector<Entry<K>> entries() const {
        std::vector<Entry<K>> out;
        out.reserve(used_);
        for (const auto& slot : slots_)
            if (slot.count != 0) out.push_back(slot);
        return out;
    }

private:
    std::vector<Entry<K>> slots_;
    size_t used_ = 0;

    Entry<K>& find(const Key<K>& key) {
        size_t mask = slots_.size() - 1;
        uint64_t h = hash_of(key);
        size_t at = (h ^ h >> 29) & mask;
        while (slots_[at].count != 0 && !same_key(slots_[at].key, key)) at = (at + 1) & mask;
        return slots_[at];
    }

    void grow() {
        std::vector<Entry<K>> old(slots_.size() * 2);
        old.swap(slots_);
        for (const auto& slot : old)
            if (slot.count != 0) find(slot.key) = slot;
    }
};

// Neighbouring rows meet the same few objects: their counts gather here, in the fastest cache,
// and go to the table only when another combination needs the place.
template <size_t K>
class RecentCounts {
public:
    void add(const Key<K>& key, int64_t count) {
        Entry<K>& slot = slots_[hash_of(key) >> (64 - kBits)];
        if (same_key(slot.key, key)) {
            slot.count += count;
            return;
        }
        if (slot.count != 0) table_.add(slot);
        slot = {key, count};
    }

    std::vector<Entry<K>> entries() {
        for (auto& slot : slots_)
            if (slot.count != 0) table_.add(slot);
        slots_.fill({});
        return table_.entries();
    }

private:
    static constexpr int kBits = 12;
    std::array<Entry<K>, size_t{1} << kBits> slots_{};
    CountTable<K> table_;
};

// Reads the labels of one operand at the given positions.
template <typename T>
void gather_as(const char* data, const int32_t* positions, int count, int64_t* labels) {
    const T* values = reinterpret_cast<const T*>(data);
    for (int i = 0; i < count; ++i) labels[i] = static_cast<int64_t>(values[positions[i]]);
}

inline void gather(const Operand& op, const char* data, const int32_t* positions, int count,
                   int64_t* labels) {
    int kind = op.width * 2 + (op.is_signed ? 1 : 0);
    switch (kind) {
        case 2: return gather_as<uint8_t>(data, positions, count, labels);
        case 3: return gather_as<int8_t>(data, positions, count, labels);
        case 4: return gather_as<uint16_t>(data, positions, count, labels);
        case 5: return gather_as<int16_t>(data, positions, count, labels);
        case 8: return gather_as<uint32_t>(data, positions, count, labels);
        case 9: return gather_as<int32_t>(data, positions, count, labels);
        // Unsigned labels beyond 2^63 - 1 turn negative here; they are refused later.
        default: return gather_as<int64_t>(data, positions, count, labels);
    }
}

// Follows the runs of equal label combinations; only the end of a run touches the counts.
template <size_t K>
class RunCounter {
public:
    explicit RunCounter(const std::vector<Operand>& operands) : operands_(operands) {}

    void row(const std::array<const char*, K>& data, int64_t n) {
        begin_row(data);
        for (int64_t start = 0; start < n; start += kBlock) {
            std::array<const char*, K> block;
            for (size_t k = 0; k < K; ++k) block[k] = data[k] + start * operands_[k].width;
            read_block(block, std::min(kBlock, n - start), start > 0);
        }
    }

    std::vector<Entry<K>> finish() {
        close_run();
        return counts_.entries();
    }

private:
    static constexpr int64_t kBlock = 2 * kWord;
    const std::vector<Operand>& operands_;
    RecentCounts<K> counts_;
    Key<K> current_{};
    int64_t run_ = 0;
    int32_t positions_[kBlock + 1];
    int64_t labels_[K][kBlock + 1];

    void close_run() {
        if (run_ > 0) counts_.add(current_, run_);
        run_ = 0;
    }

    void begin_row(const std::array<const char*, K>& data) {
        const int32_t first = 0;
        Key<K> key{};
        for (size_t k = 0; k < K; ++k) gather(operands_[k], data[k], &first, 1, &key[k]);
        if (!same_key(key, current_)) close_run();
        current_ = key;
    }

    // Three short loops rather than one, so that each is predictable: where labels change,
    // which labels stand there, and how long each run was. Blocks are small, so that requests for
    // memory ahead are spread over the work on the ends of runs.
    void read_block(const std::array<const char*, K>& data, int64_t n, bool has_previous) {
        uint64_t bits[kBlock / kWord] = {};
        for (size_t k = 0; k < K; ++k)
            mark_changes(data[k], operands_[k].width, n, has_previous, bits);
        int changes = list_positions(bits, n);
        if (changes == 0) {
            run_ += n;
            return;
        }
        for (size_t k = 0; k < K; ++k)
            gather(operands_[k], data[k], positions_, changes, labels_[k]);
        Key<K> key = current_;
        int64_t from = -run_;
        for (int i = 0; i < changes; ++i) {
            counts_.add(key, positions_[i] - from);
            from = positions_[i];
            for (size_t k = 0; k < K; ++k) key[k] = labels_[k][i];
        }
        current_ = key;
        run_ = n - from;
    }

    int list_positions(const uint64_t* bits, int64_t n) {
        int count = 0;
        for (int32_t start = 0; start < n; start += kWord, ++bits)
            for (uint64_t rest = *bits; rest != 0; rest &= rest - 1)
                positions_[count++] = start + lowest_bit(rest);
        return count;
    }
};

// Counts every combination, sorted by key. The result does not depend on `threads`.
template <size_t K>
std::vector<Entry<K>> count_joint(const std::vector<int64_t>& shape,
                                  const std::vector<Operand>& operands, int threads) {
    RowReader reader(shape, operands);
    std::atomic<int64_t> next{0};
    std::vector<std::vector<Entry<K>>> found(threads);
    auto work = [&](int worker) {
        RunCounter<K> counter(operands);
        std::vector<char> buffer;
        for (int64_t unit = next++; unit < reader.units(); unit = next++)
            reader.template read<K>(unit, buffer, [&](const auto& data, int64_t n) {
                counter.row(data, n);
            });
        found[worker] = counter.finish();
    };
    on_threads(threads, work);

    std::vector<Entry<K>> all;
    for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
    std::sort(all.begin(), all.end(),
              [](const Entry<K>& a, const Entry<K>& b) { return a.key < b.key; });
    std::vector<Entry<K>> merged;
    for (const auto& entry : all) {
        if (!merged.empty() && same_key(merged.back().key, entry.key)) merged.back().count += entry.count;
        else merged.push_back(entry);
    }
    return merged;
}

}  // namespace panmatch
