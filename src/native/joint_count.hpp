// How many voxels carry each combination of labels in K label arrays: the one pass over voxels.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "boundaries.hpp"
#include "strided.hpp"

namespace panmatch {

template <size_t K>
using Key = std::array<int64_t, K>;

template <size_t K>
struct Entry {
    Key<K> key;
    int64_t count;  // 0 marks a free slot
};

template <size_t K>
uint64_t hash_of(const Key<K>& key) {
    uint64_t h = 0;
    for (int64_t value : key) {
        h = (h ^ static_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
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
        size_t at = hash_of(key) & mask;
        while (slots_[at].count != 0 && slots_[at].key != key) at = (at + 1) & mask;
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
        Entry<K>& slot = slots_[hash_of(key) % kSlots];
        if (slot.key == key) {
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
    static constexpr size_t kSlots = 512;
    std::array<Entry<K>, kSlots> slots_{};
    CountTable<K> table_;
};

inline int64_t load_label(const char* data, int64_t i, const Operand& op) {
    auto as = [&](auto type) {
        using T = decltype(type);
        return static_cast<int64_t>(reinterpret_cast<const T*>(data)[i]);
    };
    switch (op.width) {
        case 1: return op.is_signed ? as(int8_t{}) : as(uint8_t{});
        case 2: return op.is_signed ? as(int16_t{}) : as(uint16_t{});
        case 4: return op.is_signed ? as(int32_t{}) : as(uint32_t{});
        default: return as(int64_t{});  // unsigned labels beyond 2^63 - 1 turn negative here
    }
}

// Follows one run of equal label combinations; only the end of a run touches the table.
template <size_t K>
class RunCounter {
public:
    explicit RunCounter(const std::vector<Operand>& operands) : operands_(operands) {}

    void row(const std::array<const char*, K>& data, int64_t n) {
        turn_to(load(data, 0));
        for (int64_t start = 0; start < n; start += kBlock)
            block(data, start, std::min(kBlock, n - start));
    }

    std::vector<Entry<K>> finish() {
        close_run();
        return counts_.entries();
    }

private:
    static constexpr int64_t kBlock = 16 * kWord;
    const std::vector<Operand>& operands_;
    RecentCounts<K> counts_;
    Key<K> current_{};
    int64_t run_ = 0;

    Key<K> load(const std::array<const char*, K>& data, int64_t i) const {
        Key<K> key;
        for (size_t k = 0; k < K; ++k) key[k] = load_label(data[k], i, operands_[k]);
        return key;
    }

    void turn_to(const Key<K>& key) {
        if (key == current_) return;
        close_run();
        current_ = key;
    }

    void close_run() {
        if (run_ > 0) counts_.add(current_, run_);
        run_ = 0;
    }

    void block(const std::array<const char*, K>& data, int64_t start, int64_t n) {
        uint64_t bits[kBlock / kWord] = {};
        for (size_t k = 0; k < K; ++k) {
            int width = operands_[k].width;
            mark_changes(data[k] + start * width, width, n, start > 0, bits);
        }
        int64_t from = 0;
        for (int64_t word = 0; word * kWord < n; ++word) {
            for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
                int64_t at = word * kWord + lowest_bit(rest);
                run_ += at - from;
                from = at;
                turn_to(load(data, start + at));
            }
        }
        run_ += n - from;
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
    std::vector<std::thread> others;
    for (int worker = 1; worker < threads; ++worker) others.emplace_back(work, worker);
    work(0);
    for (auto& thread : others) thread.join();

    std::vector<Entry<K>> all;
    for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
    std::sort(all.begin(), all.end(),
              [](const Entry<K>& a, const Entry<K>& b) { return a.key < b.key; });
    std::vector<Entry<K>> merged;
    for (const auto& entry : all) {
        if (!merged.empty() && merged.back().key == entry.key) merged.back().count += entry.count;
        else merged.push_back(entry);
    }
    return merged;
}

}  // namespace panmatch
