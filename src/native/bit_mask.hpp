// The voxels of a few labels within a box, one bit each, and the boundary of what they form.
//
// Rows along the last axis are whole words of 64 voxels, with an empty word between them. Around
// the rows lie empty ones, so that whoever looks a few rows away need not ask where the box ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "boundaries.hpp"
#include "strided.hpp"
#include "unfilled.hpp"

namespace panmatch {

inline int64_t count_bits(uint64_t bits) {
    bits -= (bits >> 1) & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return static_cast<int64_t>((bits * 0x0101010101010101u) >> 56);
}

// Where the bits of a box lie: `margin` empty rows on both sides of every axis but the last.
class BitLayout {
public:
    BitLayout(const std::vector<int64_t>& shape, int64_t margin)
        : shape(shape), words((shape.back() + kWord - 1) / kWord), step(shape.size() - 1) {
        int64_t next = words + 1;
        origin_ = 1;
        for (size_t axis = step.size(); axis-- > 0;) {
            rows *= shape[axis];
            step[axis] = next;
            origin_ += margin * next;
            next *= shape[axis] + 2 * margin;
        }
        size = next + 1;
    }

    // Where a row begins, the rows being counted in C order; `place` receives its position.
    int64_t row(int64_t number, int64_t* place) const {
        int64_t at = origin_;
        for (size_t axis = step.size(); axis-- > 0;) {
            place[axis] = number % shape[axis];
            number /= shape[axis];
            at += place[axis] * step[axis];
        }
        return at;
    }

    std::vector<int64_t> shape;
    int64_t words, rows = 1, size = 0;
    std::vector<int64_t> step;  // words from one row to the next along every axis but the last

private:
    int64_t origin_ = 0;
};

class BitMask {
public:
    // Makes room, which is not empty before `clear` has seen all of it.
    void make_room(const BitLayout& layout) { bits.resize(layout.size); }

    // Empties one of so many parts.
    void clear(int64_t part, int64_t parts) {
        int64_t n = static_cast<int64_t>(bits.size());
        std::fill(bits.begin() + n * part / parts, bits.begin() + n * (part + 1) / parts, uint64_t{0});
    }

    // Marks the voxels of some labels in the rows [first, last) of a box that begins at `start`.
    void cut(const BitLayout& layout, const Operand& image, const int64_t* start,
             const int64_t* labels, int64_t label_count, int64_t first, int64_t last) {
        switch (image.width) {
            case 1: return fill<uint8_t>(layout, image, start, labels, label_count, first, last);
            case 2: return fill<uint16_t>(layout, image, start, labels, label_count, first, last);
            case 4: return fill<uint32_t>(layout, image, start, labels, label_count, first, last);
            default: return fill<uint64_t>(layout, image, start, labels, label_count, first, last);
        }
    }

    // Marks, in the rows [first, last), the voxels of `object` with a face neighbour outside it.
    void mark_boundary(const BitLayout& layout, const BitMask& object, int64_t first, int64_t last) {
        std::vector<int64_t> place(layout.shape.size());
        for (int64_t row = first; row < last; ++row) {
            int64_t from = layout.row(row, place.data());
            for (int64_t at = from; at < from + layout.words; ++at) {
                const uint64_t* word = object.bits.data() + at;
                if (*word == 0) continue;
                uint64_t inside = (*word << 1 | word[-1] >> 63) & (*word >> 1 | word[1] << 63);
                for (int64_t step : layout.step) inside &= word[-step] & word[step];
                bits[at] = *word & ~inside;
            }
        }
    }

    UnfilledVector<uint64_t> bits;

private:
    static constexpr int64_t kFew = 8;  // labels that are looked for one by one

    template <typename T>
    void fill(const BitLayout& layout, const Operand& image, const int64_t* start,
              const int64_t* labels, int64_t label_count, int64_t first, int64_t last) {
        size_t inner = layout.shape.size() - 1;
        int64_t n = layout.shape.back(), step = image.stride.back();
        std::vector<int64_t> place(inner + 1);
        std::vector<T> wanted = copies<T>(labels, label_count);
        T buffer[kWord];
        for (int64_t row = first; row < last; ++row) {
            uint64_t* out = bits.data() + layout.row(row, place.data());
            const char* from = image.data + start[inner] * step;
            for (size_t axis = 0; axis < inner; ++axis)
                from += (start[axis] + place[axis]) * image.stride[axis];
            for (int64_t x = 0; x < n; x += kWord) {
                int64_t count = std::min(kWord, n - x);
                const T* values = reinterpret_cast<const T*>(from + x * step);
                if (count < kWord || step != static_cast<int64_t>(sizeof(T))) {
                    copy(from + x * step, step, count, buffer);
                    values = buffer;
                }
                uint64_t word = label_count > kFew ? any_of(values, count, labels, label_count)
                                                   : equal_to(values, wanted);
                *out++ = count < kWord ? word & ((uint64_t{1} << count) - 1) : word;
            }
        }
    }

    template <typename T>
    static void copy(const char* from, int64_t step, int64_t count, T* to) {
        for (int64_t i = 0; i < count; ++i) to[i] = *reinterpret_cast<const T*>(from + i * step);
        std::fill(to + count, to + kWord, T{0});
    }

    // A word full of each label that the type can hold.
    template <typename T>
    static std::vector<T> copies(const int64_t* labels, int64_t label_count) {
        std::vector<T> wanted;
        for (int64_t i = 0; i < std::min(label_count, kFew); ++i) {
            T label = static_cast<T>(labels[i]);
            if (static_cast<int64_t>(label) == labels[i]) wanted.insert(wanted.end(), kWord, label);
        }
        return wanted;
    }

    template <typename T>
    static uint64_t equal_to(const T* values, const std::vector<T>& wanted) {
        uint64_t word = 0;
        for (size_t i = 0; i < wanted.size(); i += kWord)
            word |= detail::equal_in_word(values, wanted.data() + i);
        return word;
    }

    template <typename T>
    static uint64_t any_of(const T* values, int64_t count, const int64_t* labels, int64_t label_count) {
        uint64_t word = 0;
        for (int64_t from = 0, to; from < count; from = to) {
            to = from + 1;
            while (to < count && values[to] == values[from]) ++to;
            if (!std::binary_search(labels, labels + label_count, static_cast<int64_t>(values[from])))
                continue;
            uint64_t run = ~uint64_t{0} >> (kWord - (to - from));
            word |= run << from;
        }
        return word;
    }
};

}  // namespace panmatch
