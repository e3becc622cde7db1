// The moment at which a search has to end.
#pragma once

#include <algorithm>
#include <chrono>

namespace panmatch {

class Deadline {
public:
    explicit Deadline(double seconds) : end_(Clock::now() + to_duration(seconds)) {}

    bool passed() const { return Clock::now() >= end_; }

    // An earlier one, after that share of what is left.
    Deadline after(double share) const {
        std::chrono::duration<double> left = end_ - Clock::now();
        return Deadline(share * std::max(0.0, left.count()));
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point end_;

    static Clock::duration to_duration(double seconds) {
        std::chrono::duration<double> wait(std::min(seconds, 1e6));  // infinity does not fit
        return std::chrono::duration_cast<Clock::duration>(wait);
    }
};

// Looks at the clock now and then: for loops whose steps take less time than that.
class Watch {
public:
    explicit Watch(const Deadline& deadline) : deadline_(deadline) {}

    bool passed() {
        if (++calls_ % 64 == 0) passed_ = deadline_.passed();
        return passed_;
    }

private:
    const Deadline& deadline_;
    unsigned calls_ = 0;
    bool passed_ = false;
};

}  // namespace panmatch
