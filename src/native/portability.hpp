// What differs between compilers, processors and systems: vector instructions, bit scans, prefetching
// and pages of memory. Nothing else in this folder asks what it is built for.
//
// PANMATCH_PLAIN leaves out all vector instructions, so that the plain loops are tested as well.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(_MSC_VER)
#include <intrin.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#if defined(PANMATCH_PLAIN)
#elif defined(__SSE2__) || defined(_M_X64)
#define PANMATCH_SSE2 1
#include <emmintrin.h>
#elif (defined(__aarch64__) || defined(_M_ARM64)) && !defined(__AARCH64EB__)
#define PANMATCH_NEON 1
#include <arm_neon.h>
#endif

namespace panmatch {

// The position of the lowest bit that is set; `bits` must not be 0.
inline int lowest_bit(uint64_t bits) {
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#elif defined(_M_X64) || defined(_M_ARM64)
    unsigned long at;
    _BitScanForward64(&at, bits);
    return static_cast<int>(at);
#else
    int at = 0;
    for (; (bits & 1) == 0; bits >>= 1) ++at;
    return at;
#endif
}

// Eight bytes as a number, the first byte lowest.
inline uint64_t little_endian_word(const uint8_t* at) {
    uint64_t word = 0;
#if defined(_MSC_VER) || (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
    std::memcpy(&word, at, sizeof(word));
#else
    for (int i = 0; i < 8; ++i) word |= uint64_t{at[i]} << (8 * i);
#endif
    return word;
}

// The position of the highest bit that is set; `bits` must not be 0.
inline int highest_bit(uint64_t bits) {
#if defined(__GNUC__)
    return 63 - __builtin_clzll(bits);
#elif defined(_M_X64) || defined(_M_ARM64)
    unsigned long at;
    _BitScanReverse64(&at, bits);
    return static_cast<int>(at);
#else
    int at = 63;
    for (; (bits >> 63) == 0; bits <<= 1) --at;
    return at;
#endif
}

// Asks for the cache line of an address, which need not exist.
inline void prefetch(const char* at) {
#if defined(__GNUC__)
    __builtin_prefetch(at);
#elif defined(_M_X64)
    _mm_prefetch(at, _MM_HINT_T0);
#elif defined(_M_ARM64)
    __prefetch(at);
#else
    (void)at;
#endif
}

// Gives the memory of [from, to) back to the system before it is freed, where that can be done by
// several threads at a time. What it held is lost.
template <typename T>
void drop_pages(T* from, T* to) {
#if defined(__linux__)
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    auto first = (reinterpret_cast<uintptr_t>(from) + page - 1) / page * page;
    auto last = reinterpret_cast<uintptr_t>(to) / page * page;
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
#else
    (void)from;
    (void)to;
#endif
}

}  // namespace panmatch
