// Polygons to runs, with the rounding of the COCO programs: the outline is drawn on a grid that is
// five times finer, and a pixel belongs to the polygon if its centre does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "runs.hpp"

namespace panmatch {

// One side of an outline, on the fine grid, from left to right.
struct Side {
    int64_t x0, y0, x1, y1;

    int64_t across() const { return x1 - x0; }
    int64_t down() const { return y1 - y0; }
    bool is_steep() const { return std::llabs(down()) > across(); }

    // Whether sums and products of coordinates are small: whole numbers then hold them, and rounding
    // can change a row only where a side meets the edge between two rows exactly.
    bool is_near() const {
        constexpr int64_t kNear = 1 << 20;
        return std::max({std::llabs(x0), std::llabs(y0), std::llabs(x1), std::llabs(y1)}) < kNear;
    }

    // The row above which it crosses a column. Its points are those of the COCO programs: the longer
    // axis advances in steps of one, counted from its lower end. Only the step between fine columns
    // 5c + 2 and 5c + 3 matters: there it crosses the centres of the pixels of column c.
    int64_t row_at(int64_t column) const {
        int64_t y = is_steep() ? steep_at(5 * column + 3) : flat_at(5 * column + 2);
        return y <= 2 ? 0 : (y + 2) / 5;
    }

private:
    static int64_t rounded(int64_t from, double along) {
        return static_cast<int64_t>(static_cast<double>(from) + along + 0.5);
    }

    // The smaller row of the two ends of the step from x to x + 1.
    int64_t flat_at(int64_t x) const {
        double slope = static_cast<double>(down()) / static_cast<double>(across());
        return rounded(y0, slope * static_cast<double>(x + (slope < 0) - x0));
    }

    // The last row before the step to x, or from it.
    int64_t steep_at(int64_t x) const {
        int64_t steps = std::llabs(down()), from = down() < 0 ? x1 : x0;
        double slope = static_cast<double>(across()) / static_cast<double>(down());
        auto is_beyond = [&](int64_t t) {
            return (rounded(from, slope * static_cast<double>(t)) >= x) == (slope > 0);
        };
        double guess = (static_cast<double>(x - from) - 0.5) / slope;
        int64_t t = std::min(std::max(static_cast<int64_t>(guess), int64_t{1}), steps);
        while (t > 1 && is_beyond(t - 1)) --t;
        while (t < steps && !is_beyond(t)) ++t;
        return std::min(y0, y1) + t - 1;
    }
};

// The rows where a side that is near crosses one column after the other: from column to column they
// change by as much as the side falls. Rows have 40 binary places, and each step adds an error below
// the last of them, so that only a row close to an edge is in doubt.
class SideSteps {
public:
    SideSteps(const Side& side, int64_t column) {
        int64_t across = side.across(), down = side.down(), steep = side.is_steep();
        int64_t middle = steep ? 5 : 4 + 2 * (down < 0);
        int64_t sum = (10 * column + middle - 2 * side.x0) * down + (2 * side.y0 + 5 - steep) * across;
        double inverse = kOne / static_cast<double>(across);
        at_ = static_cast<int64_t>(static_cast<double>(sum) * inverse / 10);
        fall_ = static_cast<int64_t>(static_cast<double>(down) * inverse);
    }

    int64_t row() const { return at_ >> kPlaces; }
    // Whether it may meet the edge between two rows exactly: rounding then decides which one it is.
    bool is_doubtful() const {
        constexpr int64_t kDoubt = int64_t{1} << (kPlaces - 19);
        return ((at_ + kDoubt) & ((int64_t{1} << kPlaces) - 1)) < 2 * kDoubt;
    }
    void advance() { at_ += fall_; }

private:
    static constexpr int kPlaces = 40;
    static constexpr double kOne = static_cast<double>(int64_t{1} << kPlaces);
    int64_t at_, fall_;
};

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
            std::sort(pieces_.begin(), pieces_.begin() + n_,
                      [](const Piece& one, const Piece& other) { return one.start < other.start; });
        typename Runs<V>::Mask mask(runs, static_cast<size_t>(n_));
        for (int64_t i = 0; i < n_;) {
            int64_t start = pieces_[i].start, stop = pieces_[i].stop;
            for (++i; i < n_ && pieces_[i].start <= stop; ++i) stop = std::max(stop, pieces_[i].stop);
            mask.add(start, stop);
        }
        mask.finish();
        n_ = polygons_ = 0;
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
    std::vector<Piece> pieces_;  // of which the first n_ are in use
    int64_t n_ = 0;

    static int64_t grid(double coordinate) {
        return static_cast<int64_t>(kFiner * coordinate + 0.5);
    }

    void draw(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
        bool turned = x0 > x1;
        Side side{turned ? x1 : x0, turned ? y1 : y0, turned ? x0 : x1, turned ? y0 : y1};
        int64_t low = side.x0 <= 2 ? 0 : (side.x0 + 2) / 5;
        int64_t high = side.x1 < 3 ? -1 : std::min((side.x1 - 3) / 5, width_ - 1);
        if (low > high) return;
        low_ = high_ < low_ ? low : std::min(low_, low);
        high_ = std::max(high_, high);
        if (side.is_near()) return draw_near(side, low, high);
        for (int64_t column = low; column <= high; ++column) cross(column, side.row_at(column));
    }

    void draw_near(const Side& side, int64_t low, int64_t high) {
        SideSteps steps(side, low);
        uint8_t* met = met_.data();  // a copy, which no write to a byte can change
        int32_t* rows = rows_.data();
        int64_t height = height_, own = static_cast<int64_t>(met_.size());
        for (int64_t column = low; column <= high; ++column, steps.advance()) {
            int64_t row = steps.is_doubtful() ? side.row_at(column) : steps.row();
            row = std::min(std::max(row, int64_t{0}), height);
            if (column < own && met[column] < kPlaces)
                rows[kPlaces * column + met[column]++] = static_cast<int32_t>(row);
            else crossings_.push_back(column * height_ + row);
        }
    }

    // The outline crosses a column above this row, which may be outside the image.
    void cross(int64_t column, int64_t row) {
        row = std::min(std::max(row, int64_t{0}), height_);
        if (column < static_cast<int64_t>(met_.size()) && met_[column] < kPlaces)
            rows_[kPlaces * column + met_[column]++] = static_cast<int32_t>(row);
        else crossings_.push_back(column * height_ + row);
    }

    // Every column is crossed an even number of times: inside is between the first and the second
    // crossing, the third and the fourth, and so on.
    void collect() {
        bool simple = crossings_.empty();
        int64_t last = std::min(high_, static_cast<int64_t>(met_.size()) - 1);
        make_room(kPlaces / 2 * (last + 1 - low_));
        uint8_t* met = met_.data();
        int64_t height = height_;
        Piece* piece = pieces_.data() + n_;
        for (int64_t column = low_; column <= last; ++column) {
            int32_t* row = rows_.data() + kPlaces * column;
            int64_t pixel = column * height, count = met[column];
            met[column] = 0;
            if (!simple) for (int64_t i = 0; i < count; ++i) crossings_.push_back(pixel + row[i]);
            else piece = add_column(row, count, pixel, piece);
        }
        n_ = piece - pieces_.data();
        if (!simple) add_crossings();
        low_ = 0;
        high_ = -1;
    }

    void add_crossings() {
        std::sort(crossings_.begin(), crossings_.end());
        make_room(static_cast<int64_t>(crossings_.size()) / 2);
        Piece* piece = pieces_.data() + n_;
        for (size_t i = 1; i < crossings_.size(); i += 2)
            piece = add_piece(crossings_[i - 1], crossings_[i], piece);
        n_ = piece - pieces_.data();
        crossings_.clear();
    }

    static Piece* add_column(int32_t* row, int64_t count, int64_t pixel, Piece* piece) {
        if (count == 2) {
            auto [top, bottom] = std::minmax(row[0], row[1]);
            return add_piece(pixel + top, pixel + bottom, piece);
        }
        std::sort(row, row + count);
        for (int64_t i = 1; i < count; i += 2)
            piece = add_piece(pixel + row[i - 1], pixel + row[i], piece);
        return piece;
    }

    void make_room(int64_t more) {
        if (static_cast<int64_t>(pieces_.size()) < n_ + more) pieces_.resize(2 * (n_ + more));
    }

    // Without a branch: an empty piece is overwritten by the next. Returns the place of that.
    static Piece* add_piece(int64_t start, int64_t stop, Piece* piece) {
        piece->start = start;
        piece->stop = stop;
        return piece + (start < stop);
    }
};

}  // namespace panmatch
