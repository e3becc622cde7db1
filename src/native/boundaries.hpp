// Where runs of equal values end: one bit per element, 64 elements at a time.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#define PANMATCH_SSE2 1
#include <emmintrin.h>
#endif
#if defined(_MSC_VER)
#include <intrin.h>
#endif

// Packing bytes into bits below relies on the order of bytes in a word.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "panmatch needs a little-endian machine"
#endif

namespace panmatch {

constexpr int64_t kWord = 64;

namespace detail {

#if PANMATCH_SSE2

template <typename T>
__m128i load(const T* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// All ones in every element of a 16-byte lane that equals its predecessor.
inline __m128i same(const uint8_t* x) { return _mm_cmpeq_epi8(load(x), load(x - 1)); }
inline __m128i same(const uint16_t* x) { return _mm_cmpeq_epi16(load(x), load(x - 1)); }
inline __m128i same(const uint32_t* x) { return _mm_cmpeq_epi32(load(x), load(x - 1)); }

// SSE2 has no 64-bit compare: both halves must agree.
inline __m128i same(const uint64_t* x) {
    __m128i halves = _mm_cmpeq_epi32(load(x), load(x - 1));
    return _mm_and_si128(halves, _mm_shuffle_epi32(halves, _MM_SHUFFLE(2, 3, 0, 1)));
}

// One byte per element for 16 elements, 0xFF where element and predecessor agree.
inline __m128i same_16(const uint8_t* x) { return same(x); }

inline __m128i same_16(const uint16_t* x) { return _mm_packs_epi16(same(x), same(x + 8)); }

inline __m128i same_16(const uint32_t* x) {
    return _mm_packs_epi16(_mm_packs_epi32(same(x), same(x + 4)),
                           _mm_packs_epi32(same(x + 8), same(x + 12)));
}

inline __m128i same_16(const uint64_t* x) {
    auto four = [](const uint64_t* at) {
        __m128 low = _mm_castsi128_ps(same(at)), high = _mm_castsi128_ps(same(at + 2));
        return _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
    };
    return _mm_packs_epi16(_mm_packs_epi32(four(x), four(x + 4)),
                           _mm_packs_epi32(four(x + 8), four(x + 12)));
}

template <typename T>
uint64_t changes_in_word(const T* x) {
    uint64_t equal = 0;
    for (int part = 0; part < 4; ++part) {
        int bits = _mm_movemask_epi8(same_16(x + 16 * part));
        equal |= static_cast<uint64_t>(bits) << (16 * part);
    }
    return ~equal;
}

#else

template <typename T>
uint64_t changes_in_word(const T* x) {
    T any = 0;
    for (int i = 0; i < kWord; ++i) any |= static_cast<T>(x[i] ^ x[i - 1]);
    if (any == 0) return 0;
    uint8_t differs[kWord];
    for (int i = 0; i < kWord; ++i) differs[i] = x[i] != x[i - 1];
    uint64_t bits = 0;
    for (int byte = 0; byte < 8; ++byte) {
        uint64_t eight;
        std::memcpy(&eight, differs + 8 * byte, 8);
        bits |= (eight * 0x0102040810204080u >> 56) << (8 * byte);
    }
    return bits;
}

#endif

// The first word without a predecessor and a last word that is not full lack neighbours: they
// are completed in a buffer by repeating the border value.
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
#if defined(__GNUC__)
    constexpr int64_t kAhead = 2048, kLine = 64;
    const char* at = reinterpret_cast<const char*>(x) + kAhead;
    for (size_t line = 0; line < kWord * sizeof(T); line += kLine) __builtin_prefetch(at + line);
#else
    (void)x;
#endif
}

template <typename T>
void mark(const char* data, int64_t n, bool has_previous, uint64_t* bits) {
    const T* x = reinterpret_cast<const T*>(data);
    for (int64_t start = 0; start < n; start += kWord, ++bits) {
        prefetch_word(x + start);
        int64_t count = n - start < kWord ? n - start : kWord;
        bool preceded = start > 0 || has_previous;
        if (preceded && count == kWord) *bits |= changes_in_word(x + start);
        else *bits |= changes_at_border(x + start, count, preceded);
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

inline int lowest_bit(uint64_t bits) {
#if defined(_MSC_VER)
    unsigned long at;
    _BitScanForward64(&at, bits);
    return static_cast<int>(at);
#else
    return __builtin_ctzll(bits);
#endif
}

}  // namespace panmatch
