// Where values are equal, and where runs of equal values end: one bit per element, 64 at a time.
//
// Lanes of 16 bytes, which every x86-64 and ARM64 processor has. Those of 32 bytes gained 5 to 7 %
// here and less of the whole count, which waits for memory: not worth a choice at run time.
#pragma once

#include <cstdint>
#include <cstring>

#include "portability.hpp"

namespace panmatch {

constexpr int64_t kWord = 64;

namespace detail {

#if defined(PANMATCH_SSE2)

template <typename T>
__m128i load(const T* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// All ones in every element of a 16-byte lane that equals its counterpart.
inline __m128i same(const uint8_t* x, const uint8_t* y) { return _mm_cmpeq_epi8(load(x), load(y)); }
inline __m128i same(const uint16_t* x, const uint16_t* y) { return _mm_cmpeq_epi16(load(x), load(y)); }
inline __m128i same(const uint32_t* x, const uint32_t* y) { return _mm_cmpeq_epi32(load(x), load(y)); }

// SSE2 has no 64-bit compare: both halves must agree.
inline __m128i same(const uint64_t* x, const uint64_t* y) {
    __m128i halves = _mm_cmpeq_epi32(load(x), load(y));
    return _mm_and_si128(halves, _mm_shuffle_epi32(halves, _MM_SHUFFLE(2, 3, 0, 1)));
}

// One byte per element for 16 elements, 0xFF where both agree.
inline __m128i same_16(const uint8_t* x, const uint8_t* y) { return same(x, y); }

inline __m128i same_16(const uint16_t* x, const uint16_t* y) {
    return _mm_packs_epi16(same(x, y), same(x + 8, y + 8));
}

inline __m128i same_16(const uint32_t* x, const uint32_t* y) {
    return _mm_packs_epi16(_mm_packs_epi32(same(x, y), same(x + 4, y + 4)),
                           _mm_packs_epi32(same(x + 8, y + 8), same(x + 12, y + 12)));
}

inline __m128i same_16(const uint64_t* x, const uint64_t* y) {
    auto four = [&](int at) {
        __m128 low = _mm_castsi128_ps(same(x + at, y + at));
        __m128 high = _mm_castsi128_ps(same(x + at + 2, y + at + 2));
        return _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
    };
    return _mm_packs_epi16(_mm_packs_epi32(four(0), four(4)), _mm_packs_epi32(four(8), four(12)));
}

template <typename T>
uint64_t equal_in_word(const T* x, const T* y) {
    uint64_t equal = 0;
    for (int part = 0; part < 4; ++part) {
        int bits = _mm_movemask_epi8(same_16(x + 16 * part, y + 16 * part));
        equal |= static_cast<uint64_t>(bits) << (16 * part);
    }
    return equal;
}

#elif defined(PANMATCH_NEON)

// All ones in every element of a 16-byte lane that equals its counterpart.
inline uint8x16_t same(const uint8_t* x, const uint8_t* y) { return vceqq_u8(vld1q_u8(x), vld1q_u8(y)); }
inline uint16x8_t same(const uint16_t* x, const uint16_t* y) {
    return vceqq_u16(vld1q_u16(x), vld1q_u16(y));
}
inline uint32x4_t same(const uint32_t* x, const uint32_t* y) {
    return vceqq_u32(vld1q_u32(x), vld1q_u32(y));
}
inline uint64x2_t same(const uint64_t* x, const uint64_t* y) {
    return vceqq_u64(vld1q_u64(x), vld1q_u64(y));
}

// One byte per element for 16 elements, 0xFF where both agree.
inline uint8x16_t same_16(const uint8_t* x, const uint8_t* y) { return same(x, y); }

inline uint8x16_t same_16(const uint16_t* x, const uint16_t* y) {
    return vcombine_u8(vmovn_u16(same(x, y)), vmovn_u16(same(x + 8, y + 8)));
}

inline uint8x16_t same_16(const uint32_t* x, const uint32_t* y) {
    auto eight = [&](int at) {
        return vmovn_u16(vcombine_u16(vmovn_u32(same(x + at, y + at)),
                                      vmovn_u32(same(x + at + 4, y + at + 4))));
    };
    return vcombine_u8(eight(0), eight(8));
}

inline uint8x16_t same_16(const uint64_t* x, const uint64_t* y) {
    auto four = [&](int at) {
        return vmovn_u32(vcombine_u32(vmovn_u64(same(x + at, y + at)),
                                      vmovn_u64(same(x + at + 2, y + at + 2))));
    };
    return vcombine_u8(vmovn_u16(vcombine_u16(four(0), four(4))),
                       vmovn_u16(vcombine_u16(four(8), four(12))));
}

// Every byte keeps the bit of its place among eight; adding neighbours three times joins the eight.
template <typename T>
uint64_t equal_in_word(const T* x, const T* y) {
    const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201u));
    auto bits = [&](int part) { return vandq_u8(same_16(x + 16 * part, y + 16 * part), bit); };
    uint8x16_t sum = vpaddq_u8(vpaddq_u8(bits(0), bits(1)), vpaddq_u8(bits(2), bits(3)));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
}

#else

template <typename T>
uint64_t equal_in_word(const T* x, const T* y) {
    T any = 0;
    for (int i = 0; i < kWord; ++i) any = static_cast<T>(any | (x[i] ^ y[i]));
    if (any == 0) return ~uint64_t{0};
    uint64_t bits = 0;
    for (int i = 0; i < kWord; ++i) bits |= uint64_t{x[i] == y[i]} << i;
    return bits;
}

#endif

template <typename T>
uint64_t changes_in_word(const T* x) {
    return ~equal_in_word(x, x - 1);
}

// A word without a predecessor or that is not full lacks neighbours. Where there are more elements
// than one word, those before or after lend them; a single word is completed in a buffer by
// repeating the border value.
template <typename T>
uint64_t changes_at_border(const T* x, int64_t n, bool has_previous) {
    T padded[kWord + 1];
    padded[0] = has_previous ? x[-1] : x[0];
    std::memcpy(padded + 1, x, n * sizeof(T));
    for (int64_t i = n + 1; i <= kWord; ++i) padded[i] = padded[n];
    return changes_in_word(padded + 1);
}

// Asks for the cache lines of a word some blocks of work ahead: ends of runs interrupt the steady
// stream that the hardware would follow by itself. Addresses past the end are harmless.
template <typename T>
void prefetch_word(const T* x) {
    constexpr size_t kAhead = 2048, kLine = 64;
    const char* at = reinterpret_cast<const char*>(x) + kAhead;
    for (size_t line = 0; line < kWord * sizeof(T); line += kLine) prefetch(at + line);
}

template <typename T>
void mark(const char* data, int64_t n, bool has_previous, uint64_t* bits) {
    const T* x = reinterpret_cast<const T*>(data);
    for (int64_t start = 0; start < n; start += kWord, ++bits) {
        prefetch_word(x + start);
        int64_t count = n - start < kWord ? n - start : kWord;
        bool preceded = start > 0 || has_previous;
        if (preceded && count == kWord) *bits |= changes_in_word(x + start);
        else if (n <= kWord) *bits |= changes_at_border(x + start, count, preceded);
        else if (start == 0) *bits |= changes_in_word(x + 1) << 1;
        else *bits |= changes_in_word(x + n - kWord) >> (kWord - count);
    }
}

}  // namespace detail

// Sets bit i of `bits` where element i differs from the one before it. Without a predecessor
// (`has_previous` false) the first element counts as unchanged.
inline void mark_changes(const char* data, int width, int64_t n, bool has_previous, uint64_t* bits) {
    switch (width) {
        case 1: return detail::mark<uint8_t>(data, n, has_previous, bits);
        case 2: return detail::mark<uint16_t>(data, n, has_previous, bits);
        case 4: return detail::mark<uint32_t>(data, n, has_previous, bits);
        default: return detail::mark<uint64_t>(data, n, has_previous, bits);
    }
}

// Calls visit(x) wherever one of n elements differs from the one before it.
template <typename Visit>
void each_change(const char* data, int width, int64_t n, Visit&& visit) {
    constexpr int64_t kBlock = 4 * kWord;
    for (int64_t start = 0; start < n; start += kBlock) {
        uint64_t bits[kBlock / kWord] = {};
        mark_changes(data + start * width, width, n - start < kBlock ? n - start : kBlock, start > 0, bits);
        for (int64_t word = 0; word < kBlock / kWord; ++word)
            for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1)
                visit(start + word * kWord + lowest_bit(rest));
    }
}

}  // namespace panmatch
