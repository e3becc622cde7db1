// Runs CUDA kernels on the host, one thread after the other: enough for kernels whose threads share
// nothing but whole numbers that they add up. Those with barriers run with one thread per block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))

struct Index {
    unsigned x = 0, y = 0, z = 0;
};
static Index blockIdx, threadIdx, blockDim, gridDim;

using std::max;
using std::min;

inline int __clz(unsigned bits) { return bits ? __builtin_clz(bits) : 32; }
inline int __ffs(unsigned bits) { return __builtin_ffs(static_cast<int>(bits)); }

inline void __syncthreads() {}
inline int __syncthreads_or(int one) { return one; }

template <class T, class V>
T atomicAdd(T* at, V number) {
    return std::exchange(*at, static_cast<T>(*at + number));
}
template <class T, class V>
T atomicOr(T* at, V bits) {
    return std::exchange(*at, static_cast<T>(*at | bits));
}
template <class T>
T atomicMin(T* at, T number) {
    return std::exchange(*at, std::min(*at, number));
}
template <class T>
T atomicMax(T* at, T number) {
    return std::exchange(*at, std::max(*at, number));
}
template <class T>
T atomicCAS(T* at, T compare, T number) {
    return std::exchange(*at, *at == compare ? number : *at);
}

namespace emulation {

// What a parameter is: bytes of a number, or of what a pointer points to; times ten, plus 1 for
// signed and 2 for floating point; negative for a pointer.
template <class A>
constexpr int kind() {
    using Value = std::remove_const_t<std::remove_pointer_t<A>>;
    constexpr int sort = std::is_floating_point_v<Value> ? 2 : std::is_signed_v<Value> ? 1 : 0;
    constexpr int size = 10 * static_cast<int>(sizeof(Value)) + sort;
    return std::is_pointer_v<A> ? -size : size;
}

template <class... A>
int describe(void (*)(A...), int* kinds) {
    int count = 0;
    ((kinds[count++] = kind<A>()), ...);
    return count;
}

template <class... A, std::size_t... I>
void call(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
    kernel(*static_cast<A*>(arguments[I])...);
}

// All threads of the grid, in rising or falling order: the result must be the same.
template <class... A>
void launch(void (*kernel)(A...), unsigned blocks, unsigned threads, bool backwards, void** arguments) {
    gridDim = {blocks, 1, 1};
    blockDim = {threads, 1, 1};
    const std::size_t all = static_cast<std::size_t>(blocks) * threads;
    for (std::size_t i = 0; i < all; ++i) {
        const std::size_t now = backwards ? all - 1 - i : i;
        blockIdx.x = static_cast<unsigned>(now / threads);
        threadIdx.x = static_cast<unsigned>(now % threads);
        call(kernel, arguments, std::index_sequence_for<A...>{});
    }
}

}  // namespace emulation
