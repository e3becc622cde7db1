// Where an image is not background.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "parallel.hpp"
#include "strided.hpp"

namespace panmatch {

// Marks one row, and returns whether it has a negative label.
template <typename T>
bool mark_row(const char* from, int64_t n, uint8_t* out) {
    const T* label = reinterpret_cast<const T*>(from);
    T any = 0;
    for (int64_t i = 0; i < n; ++i) {
        any = static_cast<T>(any | label[i]);
        out[i] = label[i] != 0;
    }
    return std::is_signed_v<T> && any < 0;
}

inline bool mark_row(const Operand& labels, const char* from, int64_t n, uint8_t* out) {
    switch (labels.width) {
        case 1: return labels.is_signed ? mark_row<int8_t>(from, n, out) : mark_row<uint8_t>(from, n, out);
        case 2: return labels.is_signed ? mark_row<int16_t>(from, n, out) : mark_row<uint16_t>(from, n, out);
        case 4: return labels.is_signed ? mark_row<int32_t>(from, n, out) : mark_row<uint32_t>(from, n, out);
        default: return labels.is_signed ? mark_row<int64_t>(from, n, out) : mark_row<uint64_t>(from, n, out);
    }
}

// Writes a mask, in C order, of the labels of an image, and returns whether some are negative.
inline bool fill_mask(const std::vector<int64_t>& shape, const Operand& mask, const Operand& labels, int threads) {
    RowReader reader(shape, {mask, labels});
    std::atomic<bool> negative{false};
    share_apart(reader.units(), threads, [] { return std::vector<char>(); },
                [&](std::vector<char>& buffer, int64_t unit) {
                    reader.read<2>(unit, buffer, [&](const auto& data, int64_t n) {
                        uint8_t* out = reinterpret_cast<uint8_t*>(const_cast<char*>(data[0]));
                        if (mark_row(labels, data[1], n, out)) negative = true;
                    });
                });
    return negative;
}

}  // namespace panmatch
