// The nearest of some segments, seen from the points of a box that they need not lie in (D8).
//
// One axis after the other, from the last to the first, an axis of sites becomes an axis of points:
// a lower envelope whose sites and points lie in different ranges. Squared distances are exact, as
// in voronoi.hpp, if the weights are those of the whole image.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "envelope.hpp"
#include "parallel.hpp"

namespace panmatch {

// One axis to replace: [outer, sites, inner] becomes [outer, points, inner]. Site u lies at the
// place of point u + offset.
struct SiteAxis {
    int64_t outer, sites, points, inner, offset;
    double weight;
};

// Not set to 0 first: each thread touches its own part.
template <typename T>
struct NearestSites {
    std::unique_ptr<double[]> square;
    std::unique_ptr<T[]> label;

    explicit NearestSites(int64_t size) : square(new double[size]), label(new T[size]) {}
};

// Neighbouring columns of an axis, each in one piece.
template <typename T>
struct SiteColumns {
    static constexpr int64_t kCount = 16;
    Envelope<true> envelope;
    NearestSites<T> sites, points;

    explicit SiteColumns(const SiteAxis& axis)
        : envelope(axis.weight, axis.sites),
          sites(kCount * axis.sites), points(kCount * axis.points) {}

    void settle(const SiteAxis& axis, int64_t column) {
        const double* height = &sites.square[column * axis.sites];
        const T* label = &sites.label[column * axis.sites];
        double* square = &points.square[column * axis.points];
        T* nearest = &points.label[column * axis.points];
        envelope.begin(0, axis.points - 1);
        for (int64_t u = 0; u < axis.sites; ++u)
            if (label[u] != 0)
                envelope.add(u + axis.offset, height[u], static_cast<int64_t>(label[u]));
        if (envelope.empty()) {
            std::fill_n(square, axis.points, kInfinity);
            std::fill_n(nearest, axis.points, T{0});
            return;
        }
        envelope.read([&](int64_t x, double cost, int64_t winner) {
            square[x] = cost;
            nearest[x] = static_cast<T>(winner);
        });
    }
};

// Without `square`, every voxel with a label is a site.
template <typename T>
NearestSites<T> replace_axis(const SiteAxis& axis, const T* label, const double* square, int threads) {
    constexpr int64_t kCount = SiteColumns<T>::kCount;
    NearestSites<T> found(axis.outer * axis.points * axis.inner);
    int64_t blocks = (axis.inner + kCount - 1) / kCount;
    auto make = [&] { return SiteColumns<T>(axis); };
    share_out(axis.outer * blocks, threads, make, [&](SiteColumns<T>& columns, int64_t unit) {
        int64_t first = unit % blocks * kCount, count = std::min(kCount, axis.inner - first);
        int64_t from = unit / blocks * axis.sites * axis.inner + first;
        int64_t to = unit / blocks * axis.points * axis.inner + first;
        for (int64_t u = 0; u < axis.sites; ++u)
            for (int64_t c = 0; c < count; ++c) {
                columns.sites.label[c * axis.sites + u] = label[from + u * axis.inner + c];
                columns.sites.square[c * axis.sites + u] =
                    square == nullptr ? 0 : square[from + u * axis.inner + c];
            }
        for (int64_t c = 0; c < count; ++c) columns.settle(axis, c);
        for (int64_t x = 0; x < axis.points; ++x)
            for (int64_t c = 0; c < count; ++c) {
                found.label[to + x * axis.inner + c] = columns.points.label[c * axis.points + x];
                found.square[to + x * axis.inner + c] = columns.points.square[c * axis.points + x];
            }
    });
    return found;
}

// Brings `label` and `square` of the points up to date with the segments among the sites: of two at
// the same distance the one with the smaller label wins.
template <typename T>
void see_sites(const T* sites, const std::vector<int64_t>& site_shape,
               const std::vector<int64_t>& point_shape, const std::vector<int64_t>& offset,
               const std::vector<double>& weight, T* label, double* square, int threads) {
    size_t axes = site_shape.size();
    int64_t points = 1, outer = 1, inner = 1;
    for (size_t axis = 0; axis < axes; ++axis) {
        points *= point_shape[axis];
        outer *= site_shape[axis];
    }
    if (points == 0 || outer == 0) return;
    NearestSites<T> found(0);
    for (size_t axis = axes; axis-- > 0; inner *= point_shape[axis]) {
        outer /= site_shape[axis];
        SiteAxis here{outer, site_shape[axis], point_shape[axis], inner, offset[axis], weight[axis]};
        bool first = axis + 1 == axes;
        found = replace_axis(here, first ? sites : found.label.get(),
                             first ? nullptr : found.square.get(), threads);
    }
    for (int64_t at = 0; at < points; ++at) {
        double here = found.square[at];
        bool nearer = here < square[at] || (here == square[at] && found.label[at] < label[at]);
        if (here == kInfinity || !nearer) continue;
        square[at] = here;
        label[at] = found.label[at];
    }
}

}  // namespace panmatch
