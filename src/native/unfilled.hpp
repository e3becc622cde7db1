// Memory that is not set to 0 first: threads are the first to touch their own parts of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace panmatch {

// Leaves new elements as they are in memory: they are written to at once.
template <typename T>
struct Unfilled : std::allocator<T> {
    template <typename U>
    struct rebind {
        using other = Unfilled<U>;
    };
    template <typename U>
    void construct(U* at) noexcept {
        ::new (static_cast<void*>(at)) U;
    }
    template <typename U, typename... Values>
    void construct(U* at, Values&&... values) {
        ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
    }
};

template <typename T>
using UnfilledVector = std::vector<T, Unfilled<T>>;

// All parts, one after the other.
template <typename T>
UnfilledVector<T> joined(const std::vector<std::vector<T>>& parts, int threads) {
    std::vector<int64_t> first{0};
    for (const auto& part : parts) first.push_back(first.back() + static_cast<int64_t>(part.size()));
    UnfilledVector<T> all(first.back());
    constexpr int64_t kFew = 1 << 18;  // elements that are not worth a thread
    threads = static_cast<int>(std::min<int64_t>(threads, 1 + first.back() / kFew));
    share_out(static_cast<int64_t>(parts.size()), threads, [] { return 0; }, [&](int, int64_t i) {
        std::copy(parts[i].begin(), parts[i].end(), all.begin() + first[i]);
    });
    return all;
}

}  // namespace panmatch
