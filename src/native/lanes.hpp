// Four numbers at a time: what vector instructions of every processor can do with them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "portability.hpp"

namespace panmatch {

// Of a comparison the result is a mask, which choose(mask, a, b) takes: a where it holds, else b.
// bits(mask) has one bit per number.
template <typename S>
struct Four {
    S value[4];

    static Four load(const S* from) { return {{from[0], from[1], from[2], from[3]}}; }
    static Four all(S one) { return {{one, one, one, one}}; }
    void store(S* to) const { std::copy(value, value + 4, to); }

    template <typename F>
    static Four each(F&& f) {
        return {{f(0), f(1), f(2), f(3)}};
    }
    friend Four operator+(const Four& a, const Four& b) {
        return each([&](int i) { return a.value[i] + b.value[i]; });
    }
    friend Four operator<(const Four& a, const Four& b) {
        return each([&](int i) { return static_cast<S>(a.value[i] < b.value[i]); });
    }
    friend Four operator==(const Four& a, const Four& b) {
        return each([&](int i) { return static_cast<S>(a.value[i] == b.value[i]); });
    }
    friend Four operator|(const Four& a, const Four& b) {
        return each([&](int i) { return std::max(a.value[i], b.value[i]); });
    }
    friend Four choose(const Four& mask, const Four& a, const Four& b) {
        return each([&](int i) { return mask.value[i] != 0 ? a.value[i] : b.value[i]; });
    }
    friend Four without(const Four& mask, const Four& other) {
        return each([&](int i) { return other.value[i] != 0 ? S(0) : mask.value[i]; });
    }
    friend Four smaller(const Four& a, const Four& b) {
        return each([&](int i) { return std::min(a.value[i], b.value[i]); });
    }
    friend Four larger(const Four& a, const Four& b) {
        return each([&](int i) { return std::max(a.value[i], b.value[i]); });
    }
    friend int bits(const Four& mask) {
        int found = 0;
        for (int i = 0; i < 4; ++i) found |= static_cast<int>(mask.value[i] != 0) << i;
        return found;
    }
};

#if defined(PANMATCH_SSE2)

template <>
struct Four<float> {
    __m128 value;

    static Four load(const float* from) { return {_mm_loadu_ps(from)}; }
    static Four all(float one) { return {_mm_set1_ps(one)}; }
    void store(float* to) const { _mm_storeu_ps(to, value); }

    friend Four operator+(Four a, Four b) { return {_mm_add_ps(a.value, b.value)}; }
    friend Four operator<(Four a, Four b) { return {_mm_cmplt_ps(a.value, b.value)}; }
    friend Four operator==(Four a, Four b) { return {_mm_cmpeq_ps(a.value, b.value)}; }
    friend Four operator|(Four a, Four b) { return {_mm_or_ps(a.value, b.value)}; }
    friend Four choose(Four mask, Four a, Four b) {
        return {_mm_or_ps(_mm_and_ps(mask.value, a.value), _mm_andnot_ps(mask.value, b.value))};
    }
    friend Four without(Four mask, Four other) { return {_mm_andnot_ps(other.value, mask.value)}; }
    friend Four smaller(Four a, Four b) { return {_mm_min_ps(a.value, b.value)}; }
    friend Four larger(Four a, Four b) { return {_mm_max_ps(a.value, b.value)}; }
    friend int bits(Four mask) { return _mm_movemask_ps(mask.value); }
};

template <>
struct Four<double> {
    __m128d low, high;

    static Four load(const double* from) { return {_mm_loadu_pd(from), _mm_loadu_pd(from + 2)}; }
    static Four all(double one) { return {_mm_set1_pd(one), _mm_set1_pd(one)}; }
    void store(double* to) const {
        _mm_storeu_pd(to, low);
        _mm_storeu_pd(to + 2, high);
    }

    friend Four operator+(Four a, Four b) { return {_mm_add_pd(a.low, b.low), _mm_add_pd(a.high, b.high)}; }
    friend Four operator<(Four a, Four b) {
        return {_mm_cmplt_pd(a.low, b.low), _mm_cmplt_pd(a.high, b.high)};
    }
    friend Four operator==(Four a, Four b) {
        return {_mm_cmpeq_pd(a.low, b.low), _mm_cmpeq_pd(a.high, b.high)};
    }
    friend Four operator|(Four a, Four b) { return {_mm_or_pd(a.low, b.low), _mm_or_pd(a.high, b.high)}; }
    friend Four choose(Four mask, Four a, Four b) {
        return {_mm_or_pd(_mm_and_pd(mask.low, a.low), _mm_andnot_pd(mask.low, b.low)),
                _mm_or_pd(_mm_and_pd(mask.high, a.high), _mm_andnot_pd(mask.high, b.high))};
    }
    friend Four without(Four mask, Four other) {
        return {_mm_andnot_pd(other.low, mask.low), _mm_andnot_pd(other.high, mask.high)};
    }
    friend Four smaller(Four a, Four b) { return {_mm_min_pd(a.low, b.low), _mm_min_pd(a.high, b.high)}; }
    friend Four larger(Four a, Four b) { return {_mm_max_pd(a.low, b.low), _mm_max_pd(a.high, b.high)}; }
    friend int bits(Four mask) { return _mm_movemask_pd(mask.low) | _mm_movemask_pd(mask.high) << 2; }
};

#elif defined(PANMATCH_NEON)

template <>
struct Four<float> {
    float32x4_t value;

    static Four load(const float* from) { return {vld1q_f32(from)}; }
    static Four all(float one) { return {vdupq_n_f32(one)}; }
    void store(float* to) const { vst1q_f32(to, value); }
    uint32x4_t raw() const { return vreinterpretq_u32_f32(value); }
    static Four of(uint32x4_t raw) { return {vreinterpretq_f32_u32(raw)}; }

    friend Four operator+(Four a, Four b) { return {vaddq_f32(a.value, b.value)}; }
    friend Four operator<(Four a, Four b) { return of(vcltq_f32(a.value, b.value)); }
    friend Four operator==(Four a, Four b) { return of(vceqq_f32(a.value, b.value)); }
    friend Four operator|(Four a, Four b) { return of(vorrq_u32(a.raw(), b.raw())); }
    friend Four choose(Four mask, Four a, Four b) { return {vbslq_f32(mask.raw(), a.value, b.value)}; }
    friend Four without(Four mask, Four other) { return of(vbicq_u32(mask.raw(), other.raw())); }
    friend Four smaller(Four a, Four b) { return {vminq_f32(a.value, b.value)}; }
    friend Four larger(Four a, Four b) { return {vmaxq_f32(a.value, b.value)}; }
    friend int bits(Four mask) {
        const uint32_t one[4] = {1, 2, 4, 8};
        return static_cast<int>(vaddvq_u32(vandq_u32(mask.raw(), vld1q_u32(one))));
    }
};

#endif

}  // namespace panmatch
