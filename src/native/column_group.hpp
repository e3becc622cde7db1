// The nearest sites in a few neighbouring columns at once, without a branch per voxel.
//
// A site at position u with height h costs h + w (x − u)² at point x, as in envelope.hpp. From left
// to right the sites that win never go back, so the winner at a point lies between the winners at
// points on its left and right: first come points far apart, then those halfway between, and each
// looks only at the sites between its neighbours' winners. Neighbouring columns mostly agree on
// these, and are looked at together, one column per lane of a vector.
//
// A cost and the number of its site are kept in one whole number, a key, with the cost in front: the
// smallest key has the smallest cost, and of the sites with that cost the first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "lanes.hpp"

namespace panmatch {

// Copies one point of `count` columns; the last of them stands in for those that are missing.
template <typename From, typename To>
void copy_lanes(const From* from, int64_t count, To* to) {
    if (count == kLanes)
        for (int64_t c = 0; c < kLanes; ++c) to[c] = static_cast<To>(from[c]);
    else
        for (int64_t c = 0; c < kLanes; ++c) to[c] = static_cast<To>(from[std::min(c, count - 1)]);
}

template <typename From, typename To>
void store_lanes(const From* from, int64_t count, To* to) {
    if (count == kLanes)
        for (int64_t c = 0; c < kLanes; ++c) to[c] = static_cast<To>(from[c]);
    else
        for (int64_t c = 0; c < count; ++c) to[c] = static_cast<To>(from[c]);
}

// True if `count` numbers of at least 0 are all 0.
template <typename D>
bool all_zero(const D* value, int64_t count) {
    if (count < kLanes) return std::all_of(value, value + count, [](D one) { return one == 0; });
    uint64_t word[kLanes * sizeof(D) / sizeof(uint64_t)], any = 0;
    std::memcpy(word, value, sizeof(word));
    for (uint64_t one : word) any |= one;
    return any == 0;
}

// How many bits the number of a site takes in a column with that many points.
inline int bits_of_site(int64_t length) { return 1 + highest_bit(static_cast<uint64_t>(length + 1)); }

// True if keys of type K hold all costs up to `most` beside the numbers of sites.
template <typename K>
bool keys_hold(double most, int64_t length) {
    return std::ldexp(most + 1, bits_of_site(length)) < static_cast<double>(Limits<K>::kMost - Limits<K>::kLeast);
}

// Calls body(key) with a key of the shortest type that suits columns of that length.
template <typename Body>
void with_keys(double most, int64_t length, Body&& body) {
    if (keys_hold<uint32_t>(most, length)) body(uint32_t{});
    else body(uint64_t{});
}

// K: type of the keys.
template <typename K>
class ColumnGroup {
public:
    static constexpr int64_t kAtOnce = 4, kPadding = kAtOnce - 1;  // sites looked at in one step

    // `most`: an upper bound on all costs. If keys do not hold the numbers of sites beside it, there
    // are only costs in them.
    ColumnGroup(double weight, int64_t length, double most)
        : length_(length), per_weight_(1 / weight), bits_(keys_hold<K>(most, length) ? bits_of_site(length) : 0),
          mask_(static_cast<K>((K{1} << bits_) - 1)), square_(2 * length + 3),
          site_((length + 1 + kAtOnce) * kLanes), key_(length * kLanes), place_(length + 1 + kAtOnce), before_(length + 3),
          low_(length), high_(length) {
        for (int64_t d = -length - 1; d <= length + 1; ++d)
            square_[length + 1 + d] = key_of(weight * static_cast<double>(d * d));
    }

    void clear() { sites_ = counted_ = 0; }
    int64_t sites() const { return sites_; }
    int64_t place(int64_t site) const { return place_[site]; }

    // Adds a site with the heights that it has in `count` columns; the last of these stands in for
    // those that are missing. Sites come from left to right, at places from −1 to the length, one
    // more than there are points on either side.
    template <typename D>
    void add(int64_t place, const D* height, int64_t count) {
        K *key = &site_[sites_ * kLanes], first = first_key();
        if (count == kLanes)
            for (int64_t c = 0; c < kLanes; ++c) key[c] = first + key_of(height[c]);
        else
            for (int64_t c = 0; c < kLanes; ++c) key[c] = first + key_of(height[std::min(c, count - 1)]);
        count_at(place);
    }

    // Adds a site that has no height.
    void add(int64_t place) {
        std::fill_n(&site_[sites_ * kLanes], kLanes, first_key());
        count_at(place);
    }

    // After the last site: repeats it, so that a few sites can be looked at from any of them.
    void close() {
        for (int64_t i = sites_; i < sites_ + kPadding; ++i) {
            std::copy_n(&site_[(sites_ - 1) * kLanes], kLanes, &site_[i * kLanes]);
            place_[i] = place_[sites_ - 1];
        }
        while (counted_ < length_ + 3) before_[counted_++] = static_cast<int32_t>(sites_);
    }

    double height(int64_t site, int64_t lane) const { return cost_in(site_[site * kLanes + lane]); }

    void set_cost(int64_t point, int64_t lane, double cost) {
        key_[point * kLanes + lane] = Limits<K>::kLeast + key_of(cost);
    }
    int64_t winner(int64_t point, int64_t lane) const {
        return static_cast<int64_t>(key_[point * kLanes + lane] & mask_);
    }

    template <typename D>
    void store_costs(int64_t point, int64_t count, D* to) const {
        const K* key = &key_[point * kLanes];
        if (count == kLanes)
            for (int64_t c = 0; c < kLanes; ++c) to[c] = cost_in<D>(key[c]);
        else
            for (int64_t c = 0; c < count; ++c) to[c] = cost_in<D>(key[c]);
    }

    // Says to which object a site belongs in each lane; objects are numbered from kLeast on.
    void set_objects(int64_t site, const K* object) {
        object_.resize(site_.size());
        bare_.resize(site_.size());
        for (int64_t i = site * kLanes; i < (site + 1) * kLanes; ++i) {
            object_[i] = object[i - site * kLanes];
            bare_[i] = static_cast<K>(site_[i] - Limits<K>::kLeast) & static_cast<K>(~mask_);
        }
    }

    // Finds the winners at the points begin … end − 1 among the sites first … last. False if the
    // columns disagree so much that each is better looked at alone.
    //
    // With kObjects all points are sites, and those of another object have no height. From left to
    // right, winners then go back by one site at most: where a point and the one before are sites of
    // different objects, each of the two may win at the other.
    template <bool kObjects>
    bool settle(int64_t begin, int64_t end, int64_t first, int64_t last) {
        if (bits_ == 0) return false;
        int64_t stride = 1, patience = kPatience * length_;
        while (stride < end - begin) stride *= 2;
        for (; stride >= 1 && patience >= 0; stride /= 2)
            for (int64_t x = begin + stride - 1; x < end; x += 2 * stride) {
                int64_t from = x - begin >= stride ? std::max<int64_t>(first, low_[x - stride] - kObjects) : first;
                int64_t to = x + stride < end ? std::min<int64_t>(last, high_[x + stride] + kObjects) : last;
                if (to - from > kNear) keep_near(x, from, to);
                patience -= to - from;
                look<kObjects>(x, from, to);
            }
        return patience >= 0;
    }

    // Between which sites all lanes have their winners.
    int64_t lowest_winner(int64_t point) const { return low_[point]; }
    int64_t highest_winner(int64_t point) const { return high_[point]; }

    // Finds the last of the sites from … to that cost the least at a point, in each lane.
    void find_last(int64_t x, int64_t from, int64_t to, K* last) const {
        const Pack mask = Pack::all(mask_);
        Pack best = key_at(x, from) ^ mask;
        for (int64_t u = from + 1; u <= to; ++u) best = smaller(best, key_at(x, u) ^ mask);
        ((best ^ mask) & mask).store(last);
    }

    bool ties(int64_t x, int64_t site, int64_t lane) const {
        K key = site_[site * kLanes + lane] + square_[length_ + 1 + place_[site] - x];
        return (key ^ key_[x * kLanes + lane]) <= mask_;
    }

private:
    using Pack = Lanes<K>;
    static constexpr int64_t kPatience = 48;  // sites per point
    static constexpr int64_t kNear = 64;      // sites that are not worth narrowing down
    int64_t length_, sites_ = 0, counted_ = 0;
    double per_weight_;
    int bits_;
    K mask_;  // of the number of a site
    std::vector<K> square_, site_, key_;
    std::vector<K> object_, bare_;  // of sites: their objects, and their heights alone
    std::vector<int32_t> place_, before_;  // of sites; how many of them lie before a place, from −1 on
    std::vector<int32_t> low_, high_;

    template <typename D>
    K key_of(D cost) const {
        return static_cast<K>(static_cast<K>(static_cast<std::make_signed_t<K>>(cost)) << bits_);
    }
    template <typename D = double>
    D cost_in(K key) const {
        return static_cast<D>(static_cast<std::make_signed_t<K>>((key - Limits<K>::kLeast) >> bits_));
    }
    // The key of the next site, with height 0.
    K first_key() const { return Limits<K>::kLeast + (static_cast<K>(sites_) & mask_); }

    Pack key_at(int64_t x, int64_t site) const {
        return Pack::load(&site_[site * kLanes]) + Pack::all(square_[length_ + 1 + place_[site] - x]);
    }

    // Finds the winners at a point among the sites from … to, a few at a time: the sites after these
    // cost more, and do no harm.
    template <bool kObjects>
    void look(int64_t x, int64_t from, int64_t to) {
        Pack here = Pack::load(kObjects ? &object_[before_[x + 1] * kLanes] : &site_[from * kLanes]);
        Pack best = best_of_four<kObjects>(x, from, here);
        for (int64_t u = from + kAtOnce; u <= to; u += kAtOnce) best = smaller(best, best_of_four<kObjects>(x, u, here));
        keep(x, best);
    }

    template <bool kObjects>
    Pack best_of_four(int64_t x, int64_t site, const Pack& here) const {
        auto key = [&](int64_t u) { return kObjects ? key_between(x, u, here) : key_at(x, u); };
        return smaller(smaller(key(site), key(site + 1)), smaller(key(site + 2), key(site + 3)));
    }

    Pack key_between(int64_t x, int64_t site, const Pack& here) const {
        Pack height = Pack::load(&bare_[site * kLanes]) & equal(Pack::load(&object_[site * kLanes]), here);
        K number = Limits<K>::kLeast + static_cast<K>(site);
        return height + Pack::all(square_[length_ + 1 + place_[site] - x] + number);
    }

    // Keeps the winners at a point, and between which sites all lanes have them.
    void keep(int64_t x, Pack best) {
        best.store(&key_[x * kLanes]);
        Pack least = Pack::all(Limits<K>::kLeast), site = (best & Pack::all(mask_)) | least;
        low_[x] = static_cast<int32_t>(site.lowest() - Limits<K>::kLeast);
        high_[x] = static_cast<int32_t>(site.highest() - Limits<K>::kLeast);
    }

    void count_at(int64_t place) {
        while (counted_ <= place + 1) before_[counted_++] = static_cast<int32_t>(sites_);
        place_[sites_++] = static_cast<int32_t>(place);
    }

    // A site that is further away than another one costs never wins.
    void keep_near(int64_t x, int64_t& from, int64_t& to) {
        int64_t nearby = std::max(from, std::min<int64_t>(to, before_[x + 1]));
        double highest = cost_in(key_at(x, nearby).highest());
        int64_t reach = static_cast<int64_t>(std::sqrt(highest * per_weight_)) + 1;
        from = std::max<int64_t>(from, before_[std::max<int64_t>(x - reach, -1) + 1]);
        to = std::min<int64_t>(to, before_[std::min(x + reach + 1, length_ + 1) + 1] - 1);
    }
};

}  // namespace panmatch
