// Rows of a PNG file: undo the filters, and write one number per pixel.
//
// Every row is stored as its filter and the differences from what that filter expects. Filters work
// byte by byte, so they work on the numbers as well, whatever the order of their bytes. In label
// images most differences are 0: whole stretches are then copies of a neighbour.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "inflate.hpp"

namespace panmatch {

// Pixels of B bytes: grey values, or those of 16 bits with the higher byte first, or colours as
// red + 256 green + 65536 blue.
template <size_t B, typename T>
class RowFilter {
public:
    // Writes a row of n pixels. The pixel before a row is 0. Returns false for unknown filters.
    static bool undo(int filter, const uint8_t* differences, const T* above, T* row, size_t n) {
        switch (filter) {
            case 0: none(differences, row, n); return true;
            case 1: left(differences, row, n); return true;
            case 2: up(differences, above, row, n); return true;
            case 3: average(differences, above, row, n); return true;
            case 4: paeth(differences, above, row, n); return true;
            default: return false;
        }
    }

private:
    static constexpr size_t kPixels = 24 / B;  // of a stretch: whole words

    static bool all_zero(const uint8_t* at) {
        uint64_t words[3];
        std::memcpy(words, at, sizeof(words));
        return (words[0] | words[1] | words[2]) == 0;
    }

    static T load(const uint8_t* at) {
        if constexpr (B == 1) return at[0];
        else if constexpr (B == 2) return static_cast<T>(at[0] << 8 | at[1]);
        else return at[0] | uint32_t{at[1]} << 8 | uint32_t{at[2]} << 16;
    }

    // The sum of every byte, without carrying into the next.
    static T add(T a, T b) {
        constexpr T kHigh = static_cast<T>(0x80808080u);
        return static_cast<T>(((a & ~kHigh) + (b & ~kHigh)) ^ ((a ^ b) & kHigh));
    }

    template <typename OfBytes>
    static T by_byte(T left, T above, T corner, OfBytes&& of_bytes) {
        uint32_t value = 0;
        for (size_t shift = 0; shift < 8 * B; shift += 8)
            value |= static_cast<uint32_t>(of_bytes(left >> shift & 255, above >> shift & 255,
                                                    corner >> shift & 255)) << shift;
        return static_cast<T>(value);
    }

    // Fills a row stretch by stretch. Where all differences are 0, copy(i) may fill a stretch and
    // say so; elsewhere expected(i, left) is added to the difference.
    template <typename Copy, typename Expected>
    static void fill(const uint8_t* differences, T* row, size_t n, Copy&& copy, Expected&& expected) {
        T left = 0;
        for (size_t i = 0; i < n;) {
            if (i + kPixels <= n && all_zero(differences + i * B) && copy(i, left)) {
                i += kPixels;
                left = row[i - 1];
                continue;
            }
            for (size_t stop = std::min(n, i + kPixels); i < stop; ++i)
                row[i] = left = add(load(differences + i * B), expected(i, left));
        }
    }

    static void none(const uint8_t* differences, T* row, size_t n) {
        for (size_t i = 0; i < n; ++i) row[i] = load(differences + i * B);
    }

    static void left(const uint8_t* differences, T* row, size_t n) {
        fill(differences, row, n,
             [&](size_t i, T left) {
                 std::fill_n(row + i, kPixels, left);
                 return true;
             },
             [](size_t, T left) { return left; });
    }

    static void up(const uint8_t* differences, const T* above, T* row, size_t n) {
        fill(differences, row, n,
             [&](size_t i, T) {
                 std::memcpy(row + i, above + i, kPixels * sizeof(T));
                 return true;
             },
             [&](size_t i, T) { return above[i]; });
    }

    static void average(const uint8_t* differences, const T* above, T* row, size_t n) {
        fill(differences, row, n, [](size_t, T) { return false; },
             [&](size_t i, T left) {
                 return by_byte(left, above[i], 0, [](int a, int b, int) { return (a + b) / 2; });
             });
    }

    // Where the pixel above equals the one before it, this filter expects the pixel to the left, and
    // where left and above left are equal, the pixel above.
    static void paeth(const uint8_t* differences, const T* above, T* row, size_t n) {
        auto corner = [&](size_t i) { return i == 0 ? T{0} : above[i - 1]; };
        fill(differences, row, n,
             [&](size_t i, T left) {
                 if (corner(i) != above[i] || !is_constant(above + i)) return false;
                 std::fill_n(row + i, kPixels, left);
                 return true;
             },
             [&](size_t i, T left) {
                 if (above[i] == corner(i)) return left;
                 if (left == corner(i)) return above[i];
                 return by_byte(left, above[i], corner(i), nearest);
             });
    }

    static bool is_constant(const T* stretch) {
        T difference = 0;
        for (size_t i = 1; i < kPixels; ++i) difference |= static_cast<T>(stretch[i] ^ stretch[0]);
        return difference == 0;
    }

    // Which of left, above and above left is nearest to left + above − above left, in that order.
    static int nearest(int left, int above, int corner) {
        int from_left = std::abs(above - corner), from_above = std::abs(left - corner);
        int from_corner = std::abs(left + above - 2 * corner);
        if (from_left <= from_above && from_left <= from_corner) return left;
        return from_above <= from_corner ? above : corner;
    }
};

// Decodes pixels of B bytes. Returns false if the data is damaged, or not of this size.
template <size_t B, typename T>
bool read_png_pixels(const uint8_t* data, size_t size, size_t width, size_t height, T* out) {
    size_t line = 1 + width * B;
    std::unique_ptr<uint8_t[]> lines(new uint8_t[line * height]);
    Inflated found = inflate(data, size, lines.get(), line * height);
    if (!found.valid || found.written != line * height) return false;
    std::vector<T> nothing(width);
    const T* above = nothing.data();
    for (size_t y = 0; y < height; ++y, out += width) {
        const uint8_t* stored = lines.get() + y * line;
        if (!RowFilter<B, T>::undo(stored[0], stored + 1, above, out, width)) return false;
        above = out;
    }
    return true;
}

}  // namespace panmatch
