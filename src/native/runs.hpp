// Masks as runs of voxels, in one order of all voxels: decoding, intersections, shared voxels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "unfilled.hpp"

namespace panmatch {

// Runs that rise.
template <typename V>
struct RunSpan {
    const V *start, *stop;
    int64_t n;

    int64_t voxels() const {
        V sum = 0;  // no mask has more voxels than fit
        for (int64_t i = 0; i < n; ++i) sum += stop[i] - start[i];
        return sum;
    }

    // Voxels that these runs share with others. The others go in two halves, at the same time: each
    // step of a half has to wait for the one before it.
    int64_t shared_with(const RunSpan& others) const {
        Place low = begin(others, 0, others.n / 2), high = begin(others, others.n / 2, others.n);
        for (int64_t steps = 1; steps > 0;) {
            steps = std::min(left(low), left(high));
            for (int64_t step = 0; step < steps; ++step) {
                advance(others, low);
                advance(others, high);
            }
        }
        while (left(low) > 0) advance(others, low);
        while (left(high) > 0) advance(others, high);
        return low.shared + high.shared;
    }

private:
    struct Place {
        int64_t at, other, end;  // runs of ours and of the others, and where those end
        int64_t shared;
    };

    // How many steps can be taken without looking.
    int64_t left(const Place& place) const { return std::min(n - place.at, place.end - place.other); }

    Place begin(const RunSpan& others, int64_t from, int64_t to) const {
        if (from == to || n == 0) return {n, to, to, 0};
        int64_t at = std::upper_bound(stop, stop + n, others.start[from]) - stop;
        if (at == n) return {n, to, to, 0};
        int64_t other = std::upper_bound(others.stop + from, others.stop + to, start[at]) - others.stop;
        return {at, other, to, 0};
    }

    // Without a branch, which nobody could predict.
    void advance(const RunSpan& others, Place& place) const {
        V ends = stop[place.at], other_ends = others.stop[place.other];
        V from = std::max(start[place.at], others.start[place.other]);
        place.shared += std::max<V>(std::min(ends, other_ends) - from, 0);
        bool first_ends = ends < other_ends;
        place.at += first_ends;
        place.other += !first_ends;
    }
};

// The masks of one side, as arrays of the caller.
template <typename V>
struct RunView {
    const int64_t* first;
    const V *start, *stop;

    int64_t count(int64_t mask) const { return first[mask + 1] - first[mask]; }
    RunSpan<V> span(int64_t mask) const {
        return {start + first[mask], stop + first[mask], count(mask)};
    }
    int64_t voxels(int64_t mask) const { return span(mask).voxels(); }
};

// Several masks: those of mask i are first[i] … first[i + 1] − 1. The runs [start, stop) of a mask
// rise, and are neither empty nor adjacent. Voxels are numbered by type V.
template <typename V>
struct Runs {
    std::vector<int64_t> first{0};
    UnfilledVector<V> start, stop;

    // The runs of one more mask, at most `most` of them, each at or after the end of the one before.
    class Mask {
    public:
        Mask(Runs& runs, size_t most) : runs_(runs), begin_(runs.start.size()) {
            runs.start.resize(begin_ + most);
            runs.stop.resize(begin_ + most);
            start_ = runs.start.data() + begin_;
            stop_ = runs.stop.data() + begin_;
        }
        void add(int64_t from, int64_t to) {
            if (from == to) return;
            bool adjacent = n_ > 0 && stop_[n_ - 1] == from;
            if (!adjacent) start_[n_++] = static_cast<V>(from);
            stop_[n_ - 1] = static_cast<V>(to);
        }
        void finish() {
            runs_.start.resize(begin_ + n_);
            runs_.stop.resize(begin_ + n_);
            runs_.first.push_back(static_cast<int64_t>(begin_ + n_));
        }

    private:
        Runs& runs_;
        size_t begin_, n_ = 0;
        V *start_, *stop_;
    };

    RunView<V> view() const { return {first.data(), start.data(), stop.data()}; }

    void clear() {
        first.assign(1, 0);
        start.clear();
        stop.clear();
    }

    // Makes room for `masks` masks if they are like those that are there.
    void expect(int64_t masks) {
        double share = static_cast<double>(masks) / static_cast<double>(first.size() - 1);
        size_t room = static_cast<size_t>(static_cast<double>(start.size()) * share * 1.06) + 4096;
        start.reserve(room);
        stop.reserve(room);
        first.reserve(static_cast<size_t>(masks) + 1);
    }
};

// The masks of all parts, one part after the other.
template <typename V>
Runs<V> join(std::vector<Runs<V>>&& parts, int threads) {
    Runs<V> all;
    std::vector<size_t> at{0};
    for (const auto& part : parts) {
        at.push_back(at.back() + part.start.size());
        for (size_t i = 1; i < part.first.size(); ++i)
            all.first.push_back(static_cast<int64_t>(at[at.size() - 2]) + part.first[i]);
    }
    all.start.resize(at.back());
    all.stop.resize(at.back());
    share_out(
        static_cast<int64_t>(parts.size()), threads, [] { return 0; },
        [&](int, int64_t i) {
            std::copy(parts[i].start.begin(), parts[i].start.end(), all.start.begin() + at[i]);
            std::copy(parts[i].stop.begin(), parts[i].stop.end(), all.stop.begin() + at[i]);
            parts[i] = Runs<V>();  // two copies of all would take too much memory
        });
    return all;
}

// That a mask may cover: sums of two stay in range.
template <typename V>
constexpr int64_t kMostVoxels = std::numeric_limits<V>::max() / 4 * 2;

// Whether an image has sides that all sums here can bear.
inline bool is_plane(int64_t height, int64_t width) {
    constexpr int64_t kMostPixels = int64_t{1} << 30;  // along a side
    return height >= 0 && width >= 0 && height <= kMostPixels && width <= kMostPixels;
}

// Adds a mask of run lengths, outside and inside in turn; returns how many voxels they cover, or −1
// if one is negative, or if there are too many.
template <typename V>
int64_t add_lengths(const int64_t* length, int64_t n, Runs<V>& runs) {
    typename Runs<V>::Mask mask(runs, static_cast<size_t>(n / 2));
    int64_t at = 0;
    for (int64_t i = 0; i < n && at >= 0; ++i) {
        bool fits = length[i] >= 0 && length[i] <= kMostVoxels<V> - at;
        if (fits && i % 2 == 1) mask.add(at, at + length[i]);
        at = fits ? at + length[i] : -1;
    }
    mask.finish();
    return at;
}

// The same from the text that COCO files hold: six bits per character, five of them digits, and from
// the fourth number on differences to the last but one. −1 where the text is damaged.
class TextLengths {
public:
    TextLengths(const uint8_t* at, const uint8_t* end) : at_(at), end_(end) {}

    template <typename V>
    int64_t add_to(Runs<V>& runs) {
        typename Runs<V>::Mask mask(runs, static_cast<size_t>(end_ - at_ + 1) / 2);
        int64_t at = 0, before = 0, last = 0;  // lengths
        for (int64_t i = 0; at_ < end_ && at >= 0; ++i) {
            int64_t length = 0;
            bool fits = value(length);
            if (i > 2) length += before;
            fits = fits && length >= 0 && length <= kMostVoxels<V> - at;
            if (fits && i % 2 == 1) mask.add(at, at + length);
            at = fits ? at + length : -1;
            before = last;
            last = length;
        }
        mask.finish();
        return at;
    }

private:
    const uint8_t *at_, *end_;

    bool value(int64_t& found) {
        int64_t bits = *at_++ - 48;
        found = (bits & 15) - (bits & 16);
        if ((bits & ~int64_t{31}) == 0) return true;
        found = bits & 31;
        for (int shift = 5; shift <= 50; shift += 5) {
            if ((bits & ~int64_t{63}) != 0 || at_ == end_) return false;
            bits = *at_++ - 48;
            found |= (bits & 31) << shift;
            if ((bits & ~int64_t{31}) != 0) continue;
            if ((bits & 16) != 0) found -= int64_t{1} << (shift + 5);
            return true;
        }
        return false;
    }
};

// Voxels of every set of two or more predictions that lie on each other: row r holds the voxels in
// exactly the predictions preds[first[r]] … preds[first[r + 1] − 1], all of them where ref is −1,
// else those inside that reference.
struct SharedSets {
    std::vector<int64_t> ref, first{0}, preds, voxels;
};

class SetSweep {
public:
    SetSweep(const RunView<int64_t>& refs, int64_t n_ref, const RunView<int64_t>& preds, int64_t n_pred) {
        add_events(refs, n_ref, kRefSide);
        add_events(preds, n_pred, kPredSide);
        std::sort(events_.begin(), events_.end(),
                  [](const Event& one, const Event& other) { return one.at < other.at; });
    }

    SharedSets run() {
        for (size_t i = 0; i < events_.size(); ++i) {
            if (i > 0 && active_[kPredSide].size() > 1)
                count(events_[i].at - events_[i - 1].at);
            change(events_[i]);
        }
        SharedSets found;
        for (const auto& [key, voxels] : voxels_) {
            found.ref.push_back(key.second);
            found.preds.insert(found.preds.end(), key.first.begin(), key.first.end());
            found.first.push_back(static_cast<int64_t>(found.preds.size()));
            found.voxels.push_back(voxels);
        }
        return found;
    }

private:
    static constexpr int kRefSide = 0, kPredSide = 1;

    struct Event {
        int64_t at, mask;
        int side;
        bool begins;
    };

    std::vector<Event> events_;
    std::vector<int64_t> active_[2];  // sorted
    std::map<std::pair<std::vector<int64_t>, int64_t>, int64_t> voxels_;

    void add_events(const RunView<int64_t>& side, int64_t masks, int which) {
        for (int64_t mask = 0; mask < masks; ++mask) {
            for (int64_t run = side.first[mask]; run < side.first[mask + 1]; ++run) {
                events_.push_back({side.start[run], mask, which, true});
                events_.push_back({side.stop[run], mask, which, false});
            }
        }
    }

    void count(int64_t voxels) {
        if (voxels == 0) return;
        voxels_[{active_[kPredSide], -1}] += voxels;
        for (int64_t ref : active_[kRefSide]) voxels_[{active_[kPredSide], ref}] += voxels;
    }

    void change(const Event& event) {
        auto& active = active_[event.side];
        auto place = std::lower_bound(active.begin(), active.end(), event.mask);
        if (event.begins) active.insert(place, event.mask);
        else active.erase(place);
    }
};

}  // namespace panmatch
