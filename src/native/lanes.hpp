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

// equal(a, b) has all bits where two numbers are equal, and none elsewhere.
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
    friend Lanes equal(const Lanes& a, const Lanes& b) {
        return each([&](int64_t i) { return static_cast<K>(a.value[i] == b.value[i] ? ~K{0} : K{0}); });
    }
    friend Lanes smaller(const Lanes& a, const Lanes& b) {
        return each([&](int64_t i) { return std::min(a.value[i], b.value[i]); });
    }
};

#if defined(PANMATCH_SSE2)

template <>
struct Lanes<uint32_t> {
    __m128 part[2];

    template <typename F>
    static Lanes each(F&& f) {
        return {{f(0), f(1)}};
    }
    static Lanes load(const uint32_t* from) {
        return each([&](int i) { return _mm_loadu_ps(reinterpret_cast<const float*>(from + 4 * i)); });
    }
    static Lanes all(uint32_t one) {
        return each([&](int) { return _mm_castsi128_ps(_mm_set1_epi32(static_cast<int>(one))); });
    }
    void store(uint32_t* to) const {
        for (int i = 0; i < 2; ++i) _mm_storeu_ps(reinterpret_cast<float*>(to + 4 * i), part[i]);
    }
    static uint32_t first(__m128 four) { return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_castps_si128(four))); }
    uint32_t lowest() const {
        __m128 four = _mm_min_ps(part[0], part[1]), two = _mm_min_ps(four, _mm_movehl_ps(four, four));
        return first(_mm_min_ss(two, _mm_shuffle_ps(two, two, 1)));
    }
    uint32_t highest() const {
        __m128 four = _mm_max_ps(part[0], part[1]), two = _mm_max_ps(four, _mm_movehl_ps(four, four));
        return first(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
    }

    friend Lanes operator+(const Lanes& a, const Lanes& b) {
        return each([&](int i) {
            return _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(a.part[i]), _mm_castps_si128(b.part[i])));
        });
    }
    friend Lanes operator&(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return _mm_and_ps(a.part[i], b.part[i]); });
    }
    friend Lanes operator|(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return _mm_or_ps(a.part[i], b.part[i]); });
    }
    friend Lanes operator^(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return _mm_xor_ps(a.part[i], b.part[i]); });
    }
    friend Lanes equal(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return _mm_cmpeq_ps(a.part[i], b.part[i]); });
    }
    friend Lanes smaller(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return _mm_min_ps(a.part[i], b.part[i]); });
    }
};

template <>
struct Lanes<uint64_t> {
    __m128d part[4];

    template <typename F>
    static Lanes each(F&& f) {
        return {{f(0), f(1), f(2), f(3)}};
    }
    static Lanes load(const uint64_t* from) {
        return each([&](int i) { return _mm_loadu_pd(reinterpret_cast<const double*>(from + 2 * i)); });
    }
    static Lanes all(uint64_t one) {
        return each([&](int) { return _mm_castsi128_pd(_mm_set1_epi64x(static_cast<int64_t>(one))); });
    }
    void store(uint64_t* to) const {
        for (int i = 0; i < 4; ++i) _mm_storeu_pd(reinterpret_cast<double*>(to + 2 * i), part[i]);
    }
    static uint64_t first(__m128d two) {
        uint64_t found;
        _mm_storel_epi64(reinterpret_cast<__m128i*>(&found), _mm_castpd_si128(two));
        return found;
    }
    uint64_t lowest() const {
        __m128d two = _mm_min_pd(_mm_min_pd(part[0], part[1]), _mm_min_pd(part[2], part[3]));
        return first(_mm_min_sd(two, _mm_unpackhi_pd(two, two)));
    }
    uint64_t highest() const {
        __m128d two = _mm_max_pd(_mm_max_pd(part[0], part[1]), _mm_max_pd(part[2], part[3]));
        return first(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
    }

    friend Lanes operator+(const Lanes& a, const Lanes& b) {
        return each([&](int i) {
            return _mm_castsi128_pd(_mm_add_epi64(_mm_castpd_si128(a.part[i]), _mm_castpd_si128(b.part[i])));
        });
    }
    friend Lanes operator&(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return _mm_and_pd(a.part[i], b.part[i]); });
    }
    friend Lanes operator|(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return _mm_or_pd(a.part[i], b.part[i]); });
    }
    friend Lanes operator^(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return _mm_xor_pd(a.part[i], b.part[i]); });
    }
    friend Lanes equal(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return _mm_cmpeq_pd(a.part[i], b.part[i]); });
    }
    friend Lanes smaller(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return _mm_min_pd(a.part[i], b.part[i]); });
    }
};

#elif defined(PANMATCH_NEON)

template <>
struct Lanes<uint32_t> {
    uint32x4_t part[2];

    template <typename F>
    static Lanes each(F&& f) {
        return {{f(0), f(1)}};
    }
    static Lanes load(const uint32_t* from) {
        return each([&](int i) { return vld1q_u32(from + 4 * i); });
    }
    static Lanes all(uint32_t one) {
        return each([&](int) { return vdupq_n_u32(one); });
    }
    void store(uint32_t* to) const {
        for (int i = 0; i < 2; ++i) vst1q_u32(to + 4 * i, part[i]);
    }
    uint32_t lowest() const { return vminvq_u32(vminq_u32(part[0], part[1])); }
    uint32_t highest() const { return vmaxvq_u32(vmaxq_u32(part[0], part[1])); }

    friend Lanes operator+(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return vaddq_u32(a.part[i], b.part[i]); });
    }
    friend Lanes operator&(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return vandq_u32(a.part[i], b.part[i]); });
    }
    friend Lanes operator|(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return vorrq_u32(a.part[i], b.part[i]); });
    }
    friend Lanes operator^(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return veorq_u32(a.part[i], b.part[i]); });
    }
    friend Lanes equal(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return vceqq_u32(a.part[i], b.part[i]); });
    }
    friend Lanes smaller(const Lanes& a, const Lanes& b) {
        return each([&](int i) { return vminq_u32(a.part[i], b.part[i]); });
    }
};

#endif

}  // namespace panmatch
