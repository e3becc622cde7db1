// Work shared among threads: errors of any thread reach the caller.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#if !defined(PANMATCH_WASM)
#include <exception>
#include <mutex>
#include <thread>
#endif

namespace panmatch {

#if defined(PANMATCH_WASM)
// Without threads: work(0) … work(threads − 1), one after the other.
template <typename Work>
void on_threads(int threads, Work&& work) {
    for (int worker = 0; worker < threads; ++worker) work(worker);
}
#else
// Runs work(0) … work(threads − 1) at the same time, the first on the calling thread.
template <typename Work>
void on_threads(int threads, Work&& work) {
    std::exception_ptr error;
    std::mutex lock;
    auto guarded = [&](int worker) {
        try {
            work(worker);
        } catch (...) {
            std::lock_guard<std::mutex> held(lock);
            if (!error) error = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    for (int worker = 1; worker < threads; ++worker) others.emplace_back(guarded, worker);
    guarded(0);
    for (auto& thread : others) thread.join();
    if (error) std::rethrow_exception(error);
}
#endif

// Hands out the numbers 0 … count − 1 to `threads` workers, each with its own state:
// body(state, i), with state = make().
template <typename Make, typename Body>
void share_out(int64_t count, int threads, Make&& make, Body&& body) {
    std::atomic<int64_t> next{0};
    if (threads > count) threads = static_cast<int>(count > 0 ? count : 1);
    on_threads(threads, [&](int) {
        auto state = make();
        for (int64_t i = next++; i < count; i = next++) body(state, i);
    });
}

// The same, where body is the first to touch memory that lies in the order of the numbers: threads work
// far from each other. Two of them that reach for one new page would both clear it, and a page may
// have megabytes.
template <typename Make, typename Body>
void share_apart(int64_t count, int threads, Make&& make, Body&& body) {
    int64_t stretch = (count + threads - 1) / threads;
    share_out(stretch * threads, threads, make, [&](auto& state, int64_t i) {
        int64_t number = i % threads * stretch + i / threads;
        if (number < count) body(state, number);
    });
}

// Shares out the numbers 0 … count − 1 in stretches: body(first, one past the last).
template <typename Body>
void share_stretches(int64_t count, int threads, Body&& body) {
    constexpr int64_t kStretch = 1 << 16;
    share_out((count + kStretch - 1) / kStretch, threads, [] { return 0; }, [&](int, int64_t i) {
        body(i * kStretch, std::min(count, (i + 1) * kStretch));
    });
}

}  // namespace panmatch
