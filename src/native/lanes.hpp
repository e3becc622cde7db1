// Eight whole numbers at a time: what vector instructions of every processor can do with them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "portability.hpp"

namespace panmatch {

constexpr int64_t kLanes = 8;

// Whole numbers have the order of the floating-point numbers with the same bits, of which every
// processor finds the smaller one in one step. So that none of these is subnormal, infinite or not a
// number, all numbers lie between kLeast and kMost.
template <typename K>
struct Limits;

template <>
struct Limits<uint32_t> {
    static constexpr uint32_t kLeast = 1u << 23, kMost = (255u << 23) - 1;
};

template <>
struct Limits<uint64_t> {
    static constexpr uint64_t kLeast = uint64_t{1} << 52, kMost = (uint64_t{2047} << 52) - 1;
};

template <typename K>
struct Lanes {
    K value[kLanes];

    template <typename F>
    static Lanes each(F&& f) {
        Lanes made;
        for (int64_t i = 0; i < kLanes; ++i) made.value[i] = f(i);
        return made;
    }
    static Lanes load(const K* from) {
        return each([&](int64_t i) { return from[i]; });
    }
    static Lanes all(K one) {
        return each([&](int64_t) { return one; });
    }
    void store(K* to) const { std::copy(value, value + kLanes, to); }
    K lowest() const { return *std::min_element(value, value + kLanes); }
    K highest() const { return *std::max_element(value, value + kLanes); }

    friend Lanes operator+(const Lanes& a, const Lanes& b) {
        return each([&](int64_t i) { return a.value[i] + b.value[i]; });
    }
    friend Lanes operator&(const Lanes& a, const Lanes& b) {
        return each([&](int64_t i) { return a.value[i] & b.value[i]; });
    }
    friend Lanes operator|(const Lanes& a, const Lanes& b) {
        return each([&](int64_t i) { return a.value[i] | b.value[i]; });
    }
    friend Lanes operator^(const Lanes& a, const Lanes& b) {
        return each([&](int64_t i) { return a.value[i] ^ b.value[i]; });
    }
    friend Lanes smaller(const Lanes& a, const Lanes& b) {
        return each([&](int64_t i) { return std::min(a.value[i], b.value[i]); });
    }
};

#if defined(PANMATCH_SSE2)

inline __m128i smaller_of_four(__m128i a, __m128i b) {
    return _mm_castps_si128(_mm_min_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b)));
}

inline __m128i larger_of_four(__m128i a, __m128i b) {
    return _mm_castps_si128(_mm_max_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b)));
}

template <>
struct Lanes<uint32_t> {
    __m128i low, high;

    static Lanes load(const uint32_t* from) {
        const __m128i* at = reinterpret_cast<const __m128i*>(from);
        return {_mm_loadu_si128(at), _mm_loadu_si128(at + 1)};
    }
    static Lanes all(uint32_t one) {
        __m128i four = _mm_set1_epi32(static_cast<int>(one));
        return {four, four};
    }
    void store(uint32_t* to) const {
        __m128i* at = reinterpret_cast<__m128i*>(to);
        _mm_storeu_si128(at, low);
        _mm_storeu_si128(at + 1, high);
    }
    uint32_t lowest() const {
        __m128i least = smaller_of_four(low, high);
        least = smaller_of_four(least, _mm_shuffle_epi32(least, 0x4e));
        return static_cast<uint32_t>(_mm_cvtsi128_si32(smaller_of_four(least, _mm_shuffle_epi32(least, 0xb1))));
    }
    uint32_t highest() const {
        __m128i most = larger_of_four(low, high);
        most = larger_of_four(most, _mm_shuffle_epi32(most, 0x4e));
        return static_cast<uint32_t>(_mm_cvtsi128_si32(larger_of_four(most, _mm_shuffle_epi32(most, 0xb1))));
    }

    friend Lanes operator+(Lanes a, Lanes b) {
        return {_mm_add_epi32(a.low, b.low), _mm_add_epi32(a.high, b.high)};
    }
    friend Lanes operator&(Lanes a, Lanes b) {
        return {_mm_and_si128(a.low, b.low), _mm_and_si128(a.high, b.high)};
    }
    friend Lanes operator|(Lanes a, Lanes b) {
        return {_mm_or_si128(a.low, b.low), _mm_or_si128(a.high, b.high)};
    }
    friend Lanes operator^(Lanes a, Lanes b) {
        return {_mm_xor_si128(a.low, b.low), _mm_xor_si128(a.high, b.high)};
    }
    friend Lanes smaller(Lanes a, Lanes b) {
        return {smaller_of_four(a.low, b.low), smaller_of_four(a.high, b.high)};
    }
};

#endif

}  // namespace panmatch
