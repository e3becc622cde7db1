// Polygons to runs, with the rounding of the COCO programs: the outline is drawn on a grid that is
// five times finer, and a pixel belongs to the polygon if its centre does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "runs.hpp"

namespace panmatch {

class PolygonPainter {
public:
    void start(int64_t height, int64_t width) {
        height_ = height;
        width_ = width;
        size_t columns = static_cast<size_t>(std::min<int64_t>(width, kMostColumns));
        if (met_.size() == columns) return;
        met_.resize(columns);
        rows_.resize(kPlaces * columns);
    }

    // `xy` holds n corners. Pixels are numbered down the columns, as in the COCO formats.
    void add(const double* xy, int64_t n) {
        int64_t x = grid(xy[2 * n - 2]), y = grid(xy[2 * n - 1]);
        for (int64_t i = 0; i < n; ++i) {
            int64_t next_x = grid(xy[2 * i]), next_y = grid(xy[2 * i + 1]);
            draw(x, y, next_x, next_y);
            x = next_x;
            y = next_y;
        }
        collect();
        ++polygons_;
    }

    // Adds the union of the polygons as one mask.
    template <typename V>
    void finish(Runs<V>& runs) {
        if (polygons_ > 1)
            std::sort(pieces_.begin(), pieces_.end(),
                      [](const Piece& one, const Piece& other) { return one.start < other.start; });
        typename Runs<V>::Mask mask(runs, pieces_.size());
        for (size_t i = 0; i < pieces_.size();) {
            int64_t start = pieces_[i].start, stop = pieces_[i].stop;
            for (++i; i < pieces_.size() && pieces_[i].start <= stop; ++i)
                stop = std::max(stop, pieces_[i].stop);
            mask.add(start, stop);
        }
        mask.finish();
        pieces_.clear();
        polygons_ = 0;
    }

private:
    static constexpr double kFiner = 5.0;
    static constexpr int64_t kPlaces = 8;
    static constexpr int64_t kMostColumns = 1 << 16;  // that have a place of their own

    struct Piece {
        int64_t start, stop;
    };

    int64_t height_ = 0, width_ = 0, polygons_ = 0;
    int64_t low_ = 0, high_ = -1;  // columns that the outline crosses
    // Rows where it crosses a column: the first few, which are mostly all, and how many these are.
    std::vector<int32_t> rows_;
    std::vector<uint8_t> met_;
    std::vector<int64_t> crossings_;  // all others, as pixels
    std::vector<Piece> pieces_;

    static int64_t grid(double coordinate) {
        return static_cast<int64_t>(kFiner * coordinate + 0.5);
    }

    static int64_t rounded(int64_t from, double along) {
        return static_cast<int64_t>(static_cast<double>(from) + along + 0.5);
    }

    // One side of the outline. Its points are those of the COCO programs: the longer axis advances
    // in steps of one, always counted from its lower end. Only the steps from fine column 5c + 2 to
    // the next one, or back, matter: there it crosses the centres of the pixels of column c.
    void draw(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
        auto [left, right] = std::minmax(x0, x1);
        int64_t low = left <= 2 ? 0 : (left + 2) / 5;
        int64_t high = right < 3 ? -1 : std::min((right - 3) / 5, width_ - 1);
        if (low > high) return;
        low_ = high_ < low_ ? low : std::min(low_, low);
        high_ = std::max(high_, high);
        if (std::llabs(y1 - y0) > right - left) {
            if (y0 > y1) draw_steep(x1, y1, x0, y0, low, high);
            else draw_steep(x0, y0, x1, y1, low, high);
        } else {
            if (x0 > x1) draw_flat(x1, y1, x0, y0, low, high);
            else draw_flat(x0, y0, x1, y1, low, high);
        }
    }

    void draw_flat(int64_t x0, int64_t y0, int64_t x1, int64_t y1, int64_t low, int64_t high) {
        double slope = static_cast<double>(y1 - y0) / static_cast<double>(x1 - x0);
        int64_t upper = x0 - (slope < 0 ? 3 : 2);  // the end of the step with the smaller row
        for (int64_t column = low; column <= high; ++column)
            cross(column, rounded(y0, slope * static_cast<double>(5 * column - upper)));
    }

    void draw_steep(int64_t x0, int64_t y0, int64_t x1, int64_t y1, int64_t low, int64_t high) {
        int64_t steps = y1 - y0;
        double slope = static_cast<double>(x1 - x0) / static_cast<double>(steps);
        double inverse = static_cast<double>(steps) / static_cast<double>(x1 - x0);
        for (int64_t column = low; column <= high; ++column) {
            int64_t x = 5 * column + 3;
            auto is_beyond = [&](int64_t t) {
                return (rounded(x0, slope * static_cast<double>(t)) >= x) == (slope > 0);
            };
            double guess = (static_cast<double>(x - x0) - 0.5) * inverse;
            int64_t t = std::min(std::max(static_cast<int64_t>(guess), int64_t{1}), steps);
            while (t > 1 && is_beyond(t - 1)) --t;
            while (t < steps && !is_beyond(t)) ++t;
            cross(column, y0 + t - 1);
        }
    }

    // The outline crosses a column at fine row `y`.
    void cross(int64_t column, int64_t y) {
        int64_t row = y <= 2 ? 0 : std::min((y + 2) / 5, height_);
        if (column < static_cast<int64_t>(met_.size()) && met_[column] < kPlaces)
            rows_[kPlaces * column + met_[column]++] = static_cast<int32_t>(row);
        else crossings_.push_back(column * height_ + row);
    }

    // Every column is crossed an even number of times: inside is between the first and the second
    // crossing, the third and the fourth, and so on.
    void collect() {
        bool simple = crossings_.empty();
        int64_t last = std::min(high_, static_cast<int64_t>(met_.size()) - 1);
        for (int64_t column = low_; column <= last; ++column) {
            int32_t *row = rows_.data() + kPlaces * column, *end = row + met_[column];
            int64_t pixel = column * height_;
            met_[column] = 0;
            if (simple) add_column(row, end, pixel);
            else for (; row < end; ++row) crossings_.push_back(pixel + *row);
        }
        std::sort(crossings_.begin(), crossings_.end());
        for (size_t i = 1; i < crossings_.size(); i += 2)
            add_piece(crossings_[i - 1], crossings_[i]);
        crossings_.clear();
        low_ = 0;
        high_ = -1;
    }

    void add_column(int32_t* row, int32_t* end, int64_t pixel) {
        if (end - row == 2)
            return add_piece(pixel + std::min(row[0], row[1]), pixel + std::max(row[0], row[1]));
        for (int32_t* one = row + 1; one < end; ++one)
            for (int32_t* at = one; at > row && at[-1] > at[0]; --at) std::swap(at[-1], at[0]);
        for (; row + 1 < end; row += 2) add_piece(pixel + row[0], pixel + row[1]);
    }

    void add_piece(int64_t start, int64_t stop) {
        if (start < stop) pieces_.push_back({start, stop});
    }
};

}  // namespace panmatch
