// Work shared among threads: errors of any thread reach the caller.
#pragma once

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

}  // namespace panmatch
